/* Approximate minimum degree in a quotient graph (Amestoy, Davis and Duff, 1996).

   What is eliminated becomes an element, which joins its neighbours; unknowns with the same
   neighbours are merged. */
#include <stdlib.h>
#include <string.h>

#include "ldlt.h"

typedef struct {
    int least, *head, *before, *after, *degree;
} Queue;

typedef struct {
    Arena *memory;
    int **beside, *besides;   /* of an unknown: neighbours that no element joins */
    int **element, *elements; /* of an unknown: elements that it is in */
    int **joined, *joins;     /* of an element: its unknowns */
    int *weight;              /* of an unknown; 0 once it is eliminated or merged */
    int *size;                /* of an element: weight of its unknowns; 0 once it is absorbed */
    int *outside;             /* of an element: weight outside of the newest one, from a base on */
    int *mark, *next, *last;  /* next: unknown that is merged into the same */
    unsigned *hash;
    int *bound;               /* of the unknowns of the newest element */
    int n, left, stamp, base, beyond;
} Quotient;

static void put(Queue *q, int i, int degree) {
    int after = q->head[degree];
    q->degree[i] = degree, q->after[i] = after, q->before[i] = -1;
    if (after >= 0) q->before[after] = i;
    q->head[degree] = i;
    if (degree < q->least) q->least = degree;
}

static void drop(Queue *q, int i) {
    int before = q->before[i], after = q->after[i];
    if (before < 0) q->head[q->degree[i]] = after; else q->after[before] = after;
    if (after >= 0) q->before[after] = before;
}

static int first(Queue *q) {
    while (q->head[q->least] < 0) q->least++;
    int i = q->head[q->least];
    drop(q, i);
    return i;
}

static void begin(Quotient *g, Queue *q, const Graph *graph, const int *weight) {
    size_t n = (size_t)graph->n;
    int **lists[] = {&g->besides, &g->elements, &g->joins, &g->weight, &g->size, &g->outside,
                     &g->mark, &g->next, &g->last, &g->bound, &q->before, &q->after, &q->degree};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = zeros(n, sizeof(int));
    g->memory = new_arena(), g->hash = zeros(n, sizeof(unsigned));
    g->beside = zeros(n, sizeof(int *)), g->element = zeros(n, sizeof(int *));
    g->joined = zeros(n, sizeof(int *));
    g->n = graph->n, g->left = g->stamp = g->base = g->beyond = 0;
    for (int i = 0; i < g->n; i++) {
        size_t count = (size_t)(graph->first[i + 1] - graph->first[i]);
        g->beside[i] = take(g->memory, sizeof(int) * count);
        g->element[i] = take(g->memory, sizeof(int) * count);
        memcpy(g->beside[i], graph->next + graph->first[i], sizeof(int) * count);
        g->besides[i] = (int)count, g->weight[i] = weight[i], g->next[i] = -1, g->last[i] = i;
        g->left += weight[i];
    }
    q->least = g->left, q->head = zeros((size_t)g->left, sizeof(int));
    for (int k = 0; k <= g->left; k++) q->head[k] = -1;
    for (int i = 0; i < g->n; i++) {
        int degree = 0;
        for (int k = 0; k < g->besides[i]; k++) degree += weight[g->beside[i][k]];
        put(q, i, degree);
    }
}

static void end(Quotient *g, Queue *q) {
    void *lists[] = {g->besides, g->elements, g->joins, g->weight, g->size, g->outside, g->mark,
                     g->next, g->last, g->bound, g->hash, g->beside, g->element, g->joined,
                     q->before, q->after, q->degree, q->head};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) free(lists[k]);
    free_arena(g->memory);
}

static void gather(Quotient *g, int p, const int *list, int count) {
    for (int t = 0; t < count; t++) {
        int i = list[t];
        if (!g->weight[i] || g->mark[i] == g->stamp) continue;
        g->mark[i] = g->stamp;
        g->joined[p][g->joins[p]++] = i;
        g->size[p] += g->weight[i];
    }
}

/* Make an element of p, which absorbs those that p is in. */
static void eliminate(Quotient *g, int p) {
    int most = g->besides[p];
    for (int k = 0; k < g->elements[p]; k++) most += g->joins[g->element[p][k]];
    g->left -= g->weight[p], g->weight[p] = 0, g->stamp++;
    g->joined[p] = take(g->memory, sizeof(int) * (size_t)most);
    for (int k = 0; k < g->elements[p]; k++) {
        int e = g->element[p][k];
        if (!g->size[e]) continue;
        gather(g, p, g->joined[e], g->joins[e]);
        g->size[e] = 0;
    }
    gather(g, p, g->beside[p], g->besides[p]);
}

/* Find what elements beside the new one weigh outside of it. */
static void weigh(Quotient *g, int p) {
    if (g->beyond > INT32_MAX / 2) {
        memset(g->outside, 0, sizeof(int) * (size_t)g->n);
        g->beyond = 0;
    }
    g->base = g->beyond + 1, g->beyond = g->base + g->left;
    for (int t = 0; t < g->joins[p]; t++) {
        int i = g->joined[p][t];
        for (int k = 0; k < g->elements[i]; k++) {
            int e = g->element[i][k];
            if (!g->size[e]) continue;
            if (g->outside[e] < g->base) g->outside[e] = g->base + g->size[e];
            g->outside[e] -= g->weight[i];
        }
    }
}

/* Shorten the lists of an unknown of the new element and bound the weight beside that element. */
static void shorten(Quotient *g, int p, int i) {
    int kept = 0, others = 0, degree = 0, base = g->base;
    unsigned sum = (unsigned)p;
    for (int k = 0; k < g->elements[i]; k++) {
        int e = g->element[i][k];
        if (!g->size[e] || g->outside[e] == base) continue; /* the new element has all of it */
        degree += g->outside[e] - base;
        sum += (unsigned)e;
        g->element[i][kept++] = e;
    }
    for (int k = 0; k < g->besides[i]; k++) {
        int j = g->beside[i][k];
        if (!g->weight[j] || g->mark[j] == g->stamp) continue;
        degree += g->weight[j];
        sum += (unsigned)j;
        g->beside[i][others++] = j;
    }
    g->element[i][kept++] = p; /* there is room: an element or p itself was dropped */
    g->elements[i] = kept, g->besides[i] = others;
    g->hash[i] = sum, g->bound[i] = degree;
}

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int alike(const Quotient *g, int i, int j) {
    if (g->elements[i] != g->elements[j] || g->besides[i] != g->besides[j]) return 0;
    for (int k = 0; k < g->elements[j]; k++)
        if (g->outside[g->element[j][k]] != -g->stamp) return 0;
    for (int k = 0; k < g->besides[j]; k++)
        if (g->mark[g->beside[j][k]] != -g->stamp) return 0;
    return 1;
}

/* Merge unknowns of the new element that have the same neighbours as the one at `t`. */
static void merge_into(Quotient *g, const uint64_t *sorted, int t, int count) {
    int i = (int)(uint32_t)sorted[t];
    g->stamp++;
    for (int k = 0; k < g->elements[i]; k++) g->outside[g->element[i][k]] = -g->stamp;
    for (int k = 0; k < g->besides[i]; k++) g->mark[g->beside[i][k]] = -g->stamp;
    for (int s = t + 1; s < count && sorted[s] >> 32 == sorted[t] >> 32; s++) {
        int j = (int)(uint32_t)sorted[s];
        if (!g->weight[j] || !alike(g, i, j)) continue;
        g->weight[i] += g->weight[j], g->weight[j] = 0;
        g->next[g->last[i]] = j, g->last[i] = g->last[j];
    }
}

static void merge(Quotient *g, int p) {
    int count = g->joins[p];
    uint64_t *sorted = zeros((size_t)count, sizeof(uint64_t));
    for (int t = 0; t < count; t++) {
        int i = g->joined[p][t];
        sorted[t] = (uint64_t)g->hash[i] << 32 | (uint32_t)i;
    }
    qsort(sorted, (size_t)count, sizeof(uint64_t), compare);
    for (int t = 0; t + 1 < count; t++)
        if (g->weight[(uint32_t)sorted[t]] && sorted[t] >> 32 == sorted[t + 1] >> 32)
            merge_into(g, sorted, t, count);
    free(sorted);
}

static void rank(Quotient *g, Queue *q, int p) {
    for (int t = 0; t < g->joins[p]; t++) {
        int i = g->joined[p][t];
        if (!g->weight[i]) continue;
        int around = g->size[p] - g->weight[i], bound = g->bound[i] + around;
        int before = q->degree[i] + around, most = g->left - g->weight[i];
        bound = bound < before ? bound : before;
        put(q, i, bound < most ? bound : most);
    }
}

/* Return unknowns in an order of elimination with little fill, (n,). */
int *minimum_degree(const Graph *graph, const int *weight) {
    Quotient g;
    Queue q;
    int *order = zeros((size_t)graph->n, sizeof(int));
    begin(&g, &q, graph, weight);
    for (int done = 0; done < g.n;) {
        int p = first(&q);
        for (int i = p; i >= 0; i = g.next[i]) order[done++] = i;
        eliminate(&g, p);
        weigh(&g, p);
        for (int t = 0; t < g.joins[p]; t++) {
            drop(&q, g.joined[p][t]);
            shorten(&g, p, g.joined[p][t]);
        }
        merge(&g, p);
        rank(&g, &q, p);
    }
    end(&g, &q);
    return order;
}
