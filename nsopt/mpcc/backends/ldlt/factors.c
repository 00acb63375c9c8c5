/* Multifrontal factors: fronts up the assembly tree, and substitution down and up again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front.h"

/* What a node leaves to its parent, a lower triangle: unknowns that are delayed, then its border. */
typedef struct {
    int delayed, size;
    int *unknowns; /* (delayed,) */
    double *block; /* (size, size) */
    size_t begin;  /* of the stack, where it is */
} Rest;

typedef struct {
    void *at;
    size_t bytes;
} Buffer;

/* A front may have twice the unknowns of the largest one as planned, and a few more. */
enum { MORE = 2, ANYWAY = 16 };

struct Factors {
    const Tree *tree;
    int most; /* unknowns of a front */
    Arena *memory;
    Columns *columns; /* (nodes,) */
    Rest *rest;       /* (nodes,) */
    int *waiting, top; /* nodes whose rest is on the stack */
    double *height;    /* (n,): the largest that diagonals were */
    Buffer front, scaled, inverse, heights, places, stack, x;
};

Factors *new_factors(const Tree *tree) {
    Factors *f = zeros(1, sizeof(Factors));
    size_t n = (size_t)tree->nodes;
    f->tree = tree, f->memory = new_arena();
    f->columns = zeros(n, sizeof(Columns)), f->rest = zeros(n, sizeof(Rest));
    for (int s = 0; s < tree->nodes; s++) {
        int most = MORE * (tree->node[s].own + tree->node[s].border) + ANYWAY;
        if (most > f->most) f->most = most;
    }
    f->waiting = zeros(n, sizeof(int)), f->height = zeros((size_t)tree->n, sizeof(double));
    return f;
}

void free_factors(Factors *f) {
    if (!f) return;
    void *lists[] = {f->columns, f->rest, f->waiting, f->height, f->front.at, f->scaled.at,
                     f->inverse.at, f->heights.at, f->places.at, f->stack.at, f->x.at};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) free(lists[k]);
    free_arena(f->memory);
    free(f);
}

static void *room(Buffer *b, size_t bytes) {
    if (bytes > b->bytes) {
        b->bytes = bytes + bytes / 2;
        b->at = resized(b->at, b->bytes);
    }
    return b->at;
}

static Front new_front(Factors *f, int delayed, const Node *node) {
    Front front = {.size = delayed + node->own + node->border, .whole = delayed + node->own};
    size_t m = (size_t)front.size, n = (size_t)front.whole;
    front.a = room(&f->front, sizeof(double) * m * m);
    front.scaled = room(&f->scaled, sizeof(double) * m * n);
    front.inverse = room(&f->inverse, sizeof(double) * 2 * n);
    front.height = room(&f->heights, sizeof(double) * m);
    int *places = room(&f->places, sizeof(int) * (4 * m + 2 * n + 3));
    front.unknowns = places + m, front.where = places + 2 * m, front.which = places + 3 * m + 1;
    front.later = places + 4 * m + 2, front.thin = places + 4 * m + 2 + n;
    for (size_t j = 0; j < m; j++) memset(front.a + j * m + j, 0, sizeof(double) * (m - j));
    return front;
}

/* Add what a child leaves; its delayed unknowns come to places from `first` on. */
static void add_rest(Factors *f, Front *front, int child, int first, int delayed) {
    const Rest *rest = f->rest + child;
    const int *into = f->tree->node[child].into;
    int *place = f->places.at;
    for (int i = 0; i < rest->delayed; i++) {
        place[i] = first + i;
        front->unknowns[first + i] = rest->unknowns[i];
    }
    for (int i = rest->delayed; i < rest->size; i++) place[i] = into[i - rest->delayed] + delayed;
    for (int j = 0; j < rest->size; j++) { /* places ascend */
        const double *from = rest->block + (size_t)j * (size_t)rest->size;
        double *to = front->a + (size_t)place[j] * (size_t)front->size;
        for (int i = j; i < rest->size; i++) to[place[i]] += from[i];
    }
}

/* How many unknowns the children of a node leave to it, which are on top of those that wait. */
static int delayed_below(const Factors *f, const Node *node) {
    int delayed = 0;
    for (int t = 0; t < node->children; t++) delayed += f->rest[f->waiting[f->top + t]].delayed;
    return delayed;
}

static Front assemble(Factors *f, const Node *node, int delayed, const double *value) {
    const int *child = f->waiting + f->top;
    int first = 0;
    Front front = new_front(f, delayed, node);
    size_t m = (size_t)front.size, d = (size_t)delayed;
    for (int e = 0; e < node->entries; e++)
        front.a[((size_t)node->column[e] + d) * m + (size_t)node->row[e] + d] += value[node->source[e]];
    for (int t = 0; t < node->children; t++) {
        add_rest(f, &front, child[t], first, delayed);
        first += f->rest[child[t]].delayed;
    }
    memcpy(front.unknowns + delayed, node->unknowns, sizeof(int) * (size_t)(node->own + node->border));
    for (int i = 0; i < front.size; i++) front.height[i] = f->height[front.unknowns[i]];
    return front;
}

/* Room on the stack, from `begin` on; rests that are on it may move. */
static double *on_stack(Factors *f, size_t begin, size_t count) {
    double *stack = room(&f->stack, sizeof(double) * (begin + count));
    for (int t = 0; t < f->top; t++) {
        Rest *r = f->rest + f->waiting[t];
        r->block = stack + r->begin;
        r->unknowns = (int *)(void *)(r->block + (size_t)r->size * (size_t)r->size);
    }
    return stack + begin;
}

static void leave(Factors *f, int s, size_t begin, const Front *front) {
    Rest *rest = f->rest + s;
    rest->delayed = front->whole - front->pivots, rest->size = front->size - front->pivots;
    rest->begin = begin;
    size_t n = (size_t)rest->size, p = (size_t)front->pivots, m = (size_t)front->size;
    size_t count = n * n + (n + 1) / 2;
    int moves = sizeof(double) * (begin + count) > f->stack.bytes;
    rest->block = moves ? on_stack(f, begin, count) : (double *)f->stack.at + begin;
    rest->unknowns = (int *)(void *)(rest->block + n * n);
    for (size_t j = 0; j < n; j++)
        memcpy(rest->block + j * n + j, front->a + (p + j) * m + p + j, sizeof(double) * (n - j));
    memcpy(rest->unknowns, front->unknowns + p, sizeof(int) * (size_t)rest->delayed);
    for (size_t j = p; j < m; j++) {
        double *height = f->height + front->unknowns[j], d = fabs(front->a[j * m + j]);
        if (j < (size_t)front->whole) d = front->height[j];
        *height = d > *height ? d : *height;
    }
    f->waiting[f->top++] = s;
}

static size_t end_of(const Rest *r) {
    size_t n = (size_t)r->size;
    return r->begin + n * n + (n + 1) / 2;
}

Report factorize(Factors *f, const double *value, double threshold) {
    const Tree *tree = f->tree;
    Report report = {0};
    clear(f->memory);
    memset(f->height, 0, sizeof(double) * (size_t)tree->n);
    f->top = 0;
    for (int s = 0; s < tree->nodes; s++) {
        const Node *node = tree->node + s;
        f->top -= node->children;
        int delayed = delayed_below(f, node);
        report.overgrown = delayed + node->own + node->border > f->most;
        if (report.overgrown) break; /* before its front takes memory */
        Front front = assemble(f, node, delayed, value);
        eliminate(&front, tree->mate, node->parent < 0 ? 0 : threshold, &report);
        if (report.missing) break;
        f->columns[s] = keep(&front, f->memory, &report);
        if (front.size > report.largest) report.largest = front.size;
        if (node->parent < 0) {
            report.missing += front.whole - front.pivots;
            continue;
        }
        report.delayed += front.whole - front.pivots;
        leave(f, s, f->top ? end_of(f->rest + f->waiting[f->top - 1]) : 0, &front);
    }
    return report;
}

static void forward(const Columns *c, double *y, double *x) {
    int m = c->size, count = c->pivots;
    for (int i = 0; i < m; i++) y[i] = i < count ? x[c->unknowns[i]] : 0;
    for (int k = 0; k < count; k++) {
        const Column *l = c->column + k;
        double v = y[k], *below = y + k + 1;
        if (l->count < 0)
            for (int i = 0; i < m - k - 1; i++) below[i] -= l->entry[i] * v;
        else
            for (int t = 0; t < l->count; t++) y[l->where[t]] -= l->entry[t] * v;
    }
    for (int i = count; i < m; i++) x[c->unknowns[i]] += y[i];
}

static void divide(const Columns *c, const double *y, double *x) {
    for (int k = 0; k < c->pivots; k++) {
        double a = c->inverse[2 * k], b = c->inverse[2 * k + 1];
        if (b == 0) {
            x[c->unknowns[k]] = a * y[k];
            continue;
        }
        double d = c->inverse[2 * k + 2];
        x[c->unknowns[k]] = a * y[k] + b * y[k + 1];
        x[c->unknowns[k + 1]] = b * y[k] + d * y[k + 1];
        k++;
    }
}

/* Four sums at a time, which a compiler does not do by itself. */
static double product(const double *l, const double *y, int n) {
    double a = 0, b = 0, c = 0, d = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4)
        a += l[i] * y[i], b += l[i + 1] * y[i + 1], c += l[i + 2] * y[i + 2], d += l[i + 3] * y[i + 3];
    for (; i < n; i++) a += l[i] * y[i];
    return a + b + (c + d);
}

static void backward(const Columns *c, double *y, double *x) {
    for (int i = 0; i < c->size; i++) y[i] = x[c->unknowns[i]];
    for (int k = c->pivots - 1; k >= 0; k--) {
        const Column *l = c->column + k;
        if (l->count < 0)
            y[k] -= product(l->entry, y + k + 1, c->size - k - 1);
        else
            for (int t = 0; t < l->count; t++) y[k] -= l->entry[t] * y[l->where[t]];
        x[c->unknowns[k]] = y[k];
    }
}

/* Solve for a right side x, which is replaced. */
void substitute(Factors *f, double *x) {
    const Tree *tree = f->tree;
    double *y = room(&f->x, sizeof(double) * (size_t)tree->n);
    for (int s = 0; s < tree->nodes; s++) {
        forward(f->columns + s, y, x);
        divide(f->columns + s, y, x);
    }
    for (int s = tree->nodes - 1; s >= 0; s--) backward(f->columns + s, y, x);
}
