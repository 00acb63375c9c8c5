/* Sparse symmetric indefinite systems by L D L^T: what the parts share. Indices count from 0.

   A matrix is given by its lower triangle, columns one after the other: `first` (n + 1,), `row` and
   `value`. Its rows are called unknowns. */
#ifndef LDLT_H
#define LDLT_H

#include <stddef.h>
#include <stdint.h>

/* Neighbours of each unknown: next[first[i]] to next[first[i + 1] - 1]. */
typedef struct {
    int n;
    int64_t *first;
    int *next;
} Graph;

/* A node of the assembly tree: unknowns that are eliminated in one dense front. */
typedef struct {
    int own, border; /* unknowns that are eliminated here, and others in the front */
    int parent;      /* -1 of a root */
    int children;
    int *unknowns;   /* (own + border,) */
    int *into;       /* (border,) ascending places in the front of the parent */
    int entries;     /* of the matrix that are assembled here */
    int *row, *column, *source;
} Node;

/* The order of elimination. */
typedef struct {
    int n, nodes;
    Node *node; /* children before parents, each subtree in a row */
    int *mate;  /* (n,) the other one of a pivot of two, or -1 */
    struct Arena *memory;
} Tree;

typedef struct {
    int negative; /* eigenvalues */
    int missing;  /* pivots: the matrix is singular */
    int overgrown; /* whether a front grew too large by delayed unknowns */
    int delayed, pairs, largest;
    int64_t stored;
} Report;

typedef struct Arena Arena;
Arena *new_arena(void);
void *take(Arena *, size_t bytes); /* not cleared */
void clear(Arena *);
void free_arena(Arena *);

void *zeros(size_t count, size_t bytes); /* of malloc */
void *resized(void *, size_t bytes);

int *minimum_degree(const Graph *, const int *weight);

Tree *new_tree(int n, const int *first, const int *row, const double *value);
void free_tree(Tree *);

typedef struct Factors Factors;
Factors *new_factors(const Tree *);
Report factorize(Factors *, const double *value, double threshold);
void substitute(Factors *, double *x);
void free_factors(Factors *);

#endif
