/* The assembly tree: partners of small diagonals, an order, and what each front holds.

   The last rows of a system of first order conditions have no diagonal. Each is put together with
   an unknown in a pivot of two, so that the order that is found can be kept (Duff and Pralet, 2005). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ldlt.h"

static const double SMALL = 1e-6; /* diagonal beside its column, which asks for a partner */
static const double LARGE = 0.1;  /* entry beside its column, which makes a partner */
static const double ZEROS = 0.3; /* share of zeros that columns of merged nodes may have */

typedef struct {
    int parent, merged; /* into which, counted from 1 */
    int own, weight;    /* pairs, and unknowns of them */
    int border;
    int *pairs;         /* (own,) by their places */
    int *unknowns;      /* (border,) */
    double zeros;       /* in columns of its unknowns, by merging */
    unsigned hash;      /* of the border */
} Draft;

typedef struct {
    Graph graph;
    int64_t *at; /* which value each neighbour is */
    int *mate;   /* (n,) */
    Graph pairs;
    int (*members)[2], *weight, *of; /* of a pair, and of which pair an unknown is */
    int *order, *place;
    Draft *draft;
    Arena *memory;
} Plan;

/* Both triangles of a pattern. */
static void connect(Plan *p, int n, const int *first, const int *row) {
    int64_t *end = zeros((size_t)n + 1, sizeof(int64_t)), *of = zeros((size_t)n + 1, sizeof(int64_t));
    for (int j = 0; j < n; j++)
        for (int k = first[j]; k < first[j + 1]; k++)
            if (row[k] != j) of[j + 1]++, of[row[k] + 1]++;
    for (int j = 0; j < n; j++) of[j + 1] += of[j];
    memcpy(end, of, sizeof(int64_t) * (size_t)n);
    int *next = zeros((size_t)of[n], sizeof(int));
    p->at = zeros((size_t)of[n], sizeof(int64_t));
    for (int j = 0; j < n; j++)
        for (int k = first[j]; k < first[j + 1]; k++) {
            int i = row[k];
            if (i == j) continue;
            p->at[end[j]] = k, next[end[j]++] = i;
            p->at[end[i]] = k, next[end[i]++] = j;
        }
    free(end);
    p->graph = (Graph){n, of, next};
}

static int partner(const Plan *p, int i, const double *value, double largest) {
    const Graph *g = &p->graph;
    int64_t fewest = INT64_MAX;
    int best = -1;
    for (int64_t k = g->first[i]; k < g->first[i + 1]; k++) {
        int j = g->next[k];
        int64_t neighbours = g->first[j + 1] - g->first[j];
        int slack = neighbours == 1; /* of no use to others, and a pivot by itself if need be */
        if (p->mate[j] >= 0 || (!slack && fabs(value[p->at[k]]) < LARGE * largest)) continue;
        if (neighbours > fewest || (neighbours == fewest && j < best)) continue;
        best = j, fewest = neighbours;
    }
    return best;
}

static void find_partners(Plan *p, const int *first, const int *row, const double *value) {
    const Graph *g = &p->graph;
    double *diagonal = zeros((size_t)g->n, sizeof(double));
    p->mate = zeros((size_t)g->n, sizeof(int));
    for (int j = 0; j < g->n; j++) {
        p->mate[j] = -1;
        for (int k = first[j]; k < first[j + 1]; k++)
            if (row[k] == j) diagonal[j] += value[k];
    }
    for (int i = 0; i < g->n; i++) {
        double largest = 0;
        for (int64_t k = g->first[i]; k < g->first[i + 1]; k++)
            largest = fmax(largest, fabs(value[p->at[k]]));
        if (p->mate[i] >= 0 || fabs(diagonal[i]) > SMALL * largest) continue;
        int j = partner(p, i, value, largest);
        if (j >= 0) p->mate[i] = j, p->mate[j] = i;
    }
    free(diagonal);
}

static void pair_up(Plan *p) {
    int n = p->graph.n, count = 0;
    p->of = zeros((size_t)n, sizeof(int)), p->weight = zeros((size_t)n, sizeof(int));
    p->members = zeros((size_t)n, sizeof *p->members);
    for (int i = 0; i < n; i++) {
        int j = p->mate[i];
        if (j >= 0 && j < i) continue;
        p->members[count][0] = i, p->members[count][1] = j;
        p->weight[count] = j < 0 ? 1 : 2;
        p->of[i] = count;
        if (j >= 0) p->of[j] = count;
        count++;
    }
    p->pairs.n = count;
}

/* Neighbours of pairs. */
static void connect_pairs(Plan *p) {
    const Graph *g = &p->graph;
    int count = p->pairs.n, *mark = zeros((size_t)count, sizeof(int));
    int64_t end = 0;
    p->pairs.first = zeros((size_t)count + 1, sizeof(int64_t));
    p->pairs.next = zeros((size_t)g->first[g->n], sizeof(int));
    for (int c = 0; c < count; c++) {
        mark[c] = c + 1;
        for (int m = 0; m < p->weight[c]; m++) {
            int i = p->members[c][m];
            for (int64_t k = g->first[i]; k < g->first[i + 1]; k++) {
                int other = p->of[g->next[k]];
                if (mark[other] == c + 1) continue;
                mark[other] = c + 1;
                p->pairs.next[end++] = other;
            }
        }
        p->pairs.first[c + 1] = end;
    }
    free(mark);
}

static int compare(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Unknowns in the order of elimination. */
static int rank(const Plan *p, int i) {
    int c = p->of[i];
    return 2 * p->place[c] + (p->members[c][1] == i);
}

static int unknown(const Plan *p, int rank) { return p->members[p->order[rank / 2]][rank % 2]; }

/* Unknowns of later pairs, of those that are in a list and not found yet. */
static int note(const Plan *p, int j, const int *list, int64_t count, int *mark, int *found) {
    int more = 0;
    for (int64_t k = 0; k < count; k++) {
        int r = rank(p, list[k]);
        if (r / 2 > j && mark[r] != j + 1) mark[r] = j + 1, found[more++] = r;
    }
    return more;
}

/* A draft for each pair in the order, with the border of its front. */
static void draft(Plan *p) {
    const Graph *g = &p->graph;
    size_t pairs = (size_t)p->pairs.n, n = 2 * pairs;
    int *mark = zeros(n, sizeof(int)), *found = zeros(n, sizeof(int));
    int *child = zeros(pairs, sizeof(int)), *sibling = zeros(pairs, sizeof(int)); /* from 1 */
    p->draft = zeros(pairs, sizeof(Draft));
    for (int j = 0; j < p->pairs.n; j++) {
        Draft *d = p->draft + j;
        int c = p->order[j], count = 0;
        for (int m = 0; m < p->weight[c]; m++) {
            int64_t from = g->first[p->members[c][m]], to = g->first[p->members[c][m] + 1];
            count += note(p, j, g->next + from, to - from, mark, found + count);
        }
        for (int s = child[j]; s; s = sibling[s - 1]) {
            const Draft *below = p->draft + s - 1;
            count += note(p, j, below->unknowns, below->border, mark, found + count);
        }
        qsort(found, (size_t)count, sizeof(int), compare);
        d->parent = count ? found[0] / 2 : -1;
        d->own = 1, d->weight = p->weight[c], d->border = count;
        d->pairs = take(p->memory, sizeof(int)), d->pairs[0] = j;
        d->unknowns = take(p->memory, sizeof(int) * (size_t)count);
        for (int t = 0; t < count; t++) {
            d->unknowns[t] = unknown(p, found[t]);
            d->hash = d->hash * 31 + (unsigned)found[t];
        }
        if (d->parent >= 0) sibling[j] = child[d->parent], child[d->parent] = j + 1;
    }
    free(mark), free(found), free(child), free(sibling);
}

static void join(Plan *p, int into, int node) {
    Draft *a = p->draft + into, *b = p->draft + node;
    int *pairs = take(p->memory, sizeof(int) * (size_t)(a->own + b->own));
    memcpy(pairs, b->pairs, sizeof(int) * (size_t)b->own);
    memcpy(pairs + b->own, a->pairs, sizeof(int) * (size_t)a->own);
    a->pairs = pairs, a->own += b->own, a->weight += b->weight;
    b->merged = into + 1;
}

static int same_border(const Draft *a, const Draft *b) {
    return a->hash == b->hash && a->border == b->border &&
           !memcmp(a->unknowns, b->unknowns, sizeof(int) * (size_t)a->border);
}

/* Zeros that come into the columns of a child in the front of its parent. */
static double brought(const Draft *child, const Draft *parent) {
    return (double)child->weight * (parent->weight + parent->border - child->border);
}

static int few_zeros(const Draft *child, const Draft *parent) {
    double own = (double)child->weight + parent->weight;
    double all = own * (own + 1) / 2 + own * parent->border;
    return child->zeros + parent->zeros + brought(child, parent) <= ZEROS * all;
}

/* Merge siblings with the same border, and children into parents. */
static void merge(Plan *p) {
    size_t n = (size_t)p->pairs.n;
    int *child = zeros(n, sizeof(int)), *sibling = zeros(n, sizeof(int)); /* from 1 */
    for (int j = p->pairs.n - 1; j >= 0; j--) {
        int up = p->draft[j].parent;
        if (up >= 0) sibling[j] = child[up], child[up] = j + 1;
    }
    for (int j = 0; j < p->pairs.n; j++) {
        for (int s = child[j]; s; s = sibling[s - 1])
            for (int t = p->draft[s - 1].merged ? 0 : sibling[s - 1]; t; t = sibling[t - 1])
                if (!p->draft[t - 1].merged && same_border(p->draft + s - 1, p->draft + t - 1)) {
                    p->draft[s - 1].zeros += p->draft[t - 1].zeros;
                    join(p, s - 1, t - 1);
                }
        for (int s = child[j]; s; s = sibling[s - 1])
            if (!p->draft[s - 1].merged && few_zeros(p->draft + s - 1, p->draft + j)) {
                p->draft[j].zeros += p->draft[s - 1].zeros + brought(p->draft + s - 1, p->draft + j);
                join(p, j, s - 1);
            }
    }
    free(child), free(sibling);
}

static int standing(const Plan *p, int j) {
    while (j >= 0 && p->draft[j].merged) j = p->draft[j].merged - 1;
    return j;
}

/* Drafts that are left, children before parents and each subtree in a row. */
static int *postorder(const Plan *p, int *count) {
    size_t n = (size_t)p->pairs.n;
    int *child = zeros(n + 1, sizeof(int)), *sibling = zeros(n, sizeof(int)); /* from 1 */
    int *stack = zeros(n, sizeof(int)), *out = zeros(n, sizeof(int)), top = 0, begin = p->pairs.n;
    for (int j = 0; j < p->pairs.n; j++) {
        if (p->draft[j].merged) continue;
        int up = standing(p, p->draft[j].parent);
        if (up < 0) up = p->pairs.n;
        sibling[j] = child[up], child[up] = j + 1;
    }
    for (int s = child[n]; s; s = sibling[s - 1]) stack[top++] = s - 1;
    while (top) { /* from the end: parents first */
        out[--begin] = stack[--top];
        for (int s = child[out[begin]]; s; s = sibling[s - 1]) stack[top++] = s - 1;
    }
    *count = p->pairs.n - begin;
    memmove(out, out + begin, sizeof(int) * (size_t)*count);
    free(child), free(sibling), free(stack);
    return out;
}

static void place_border(Tree *tree, int n) {
    int *place = zeros((size_t)n, sizeof(int));
    for (int s = 0; s < tree->nodes; s++) {
        Node *node = tree->node + s;
        if (node->parent < 0) continue;
        const Node *above = tree->node + node->parent;
        for (int t = 0; t < above->own + above->border; t++) place[above->unknowns[t]] = t;
        for (int t = 0; t < node->border; t++) node->into[t] = place[node->unknowns[node->own + t]];
    }
    free(place);
}

static void number(Tree *tree, Plan *p) {
    int count, *kept = postorder(p, &count), *now = zeros((size_t)p->pairs.n, sizeof(int));
    tree->nodes = count, tree->node = zeros((size_t)count, sizeof(Node));
    for (int s = 0; s < count; s++) now[kept[s]] = s;
    for (int s = 0; s < count; s++) {
        const Draft *d = p->draft + kept[s];
        Node *node = tree->node + s;
        int up = standing(p, d->parent), at = 0;
        node->parent = up < 0 ? -1 : now[up];
        if (up >= 0) tree->node[now[up]].children++;
        node->own = d->weight, node->border = d->border;
        node->unknowns = take(tree->memory, sizeof(int) * (size_t)(d->weight + d->border));
        node->into = take(tree->memory, sizeof(int) * (size_t)d->border);
        qsort(d->pairs, (size_t)d->own, sizeof(int), compare);
        for (int t = 0; t < d->own; t++)
            for (int m = 0; m < p->weight[p->order[d->pairs[t]]]; m++)
                node->unknowns[at++] = p->members[p->order[d->pairs[t]]][m];
        memcpy(node->unknowns + at, d->unknowns, sizeof(int) * (size_t)d->border);
    }
    free(kept), free(now);
    place_border(tree, p->graph.n);
}

static int earlier(int a, int b) { return a < b ? a : b; }

/* Where entries of the matrix are assembled: where the first of their two unknowns is eliminated. */
static void distribute(Tree *tree, const int *first, const int *row) {
    int n = tree->n, *home = zeros((size_t)n, sizeof(int)), *place = zeros((size_t)n, sizeof(int));
    int *column = zeros((size_t)first[n], sizeof(int));
    for (int s = 0; s < tree->nodes; s++)
        for (int t = 0; t < tree->node[s].own; t++) home[tree->node[s].unknowns[t]] = s;
    for (int j = 0; j < n; j++)
        for (int k = first[j]; k < first[j + 1]; k++)
            column[k] = j, tree->node[earlier(home[j], home[row[k]])].entries++;
    for (int s = 0; s < tree->nodes; s++) {
        Node *node = tree->node + s;
        size_t bytes = sizeof(int) * (size_t)node->entries;
        node->row = take(tree->memory, bytes), node->column = take(tree->memory, bytes);
        node->source = take(tree->memory, bytes), node->entries = 0;
    }
    for (int k = 0; k < first[n]; k++) {
        Node *node = tree->node + earlier(home[column[k]], home[row[k]]);
        node->source[node->entries++] = k;
    }
    for (int s = 0; s < tree->nodes; s++) {
        Node *node = tree->node + s;
        for (int t = 0; t < node->own + node->border; t++) place[node->unknowns[t]] = t;
        for (int e = 0; e < node->entries; e++) {
            int a = place[row[node->source[e]]], b = place[column[node->source[e]]];
            node->row[e] = a > b ? a : b, node->column[e] = a > b ? b : a;
        }
    }
    free(home), free(place), free(column);
}

Tree *new_tree(int n, const int *first, const int *row, const double *value) {
    Plan p = {.memory = new_arena()};
    Tree *tree = zeros(1, sizeof(Tree));
    connect(&p, n, first, row);
    find_partners(&p, first, row, value);
    pair_up(&p);
    connect_pairs(&p);
    p.order = minimum_degree(&p.pairs, p.weight), p.place = zeros((size_t)p.pairs.n, sizeof(int));
    for (int k = 0; k < p.pairs.n; k++) p.place[p.order[k]] = k;
    draft(&p);
    merge(&p);
    tree->n = n, tree->mate = p.mate, tree->memory = new_arena();
    number(tree, &p);
    distribute(tree, first, row);
    void *lists[] = {p.graph.first, p.graph.next, p.at, p.pairs.first, p.pairs.next, p.members,
                     p.weight, p.of, p.order, p.place, p.draft};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) free(lists[k]);
    free_arena(p.memory);
    return tree;
}

void free_tree(Tree *tree) {
    if (!tree) return;
    free_arena(tree->memory);
    free(tree->node), free(tree->mate), free(tree);
}
