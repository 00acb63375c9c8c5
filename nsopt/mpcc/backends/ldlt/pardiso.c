/* The solver by the names of PARDISO, under which IPOPT loads one.

   Its interface to that notes how many eigenvalues are negative before it compares. Those to HSL_MA86
   and HSL_MA97 note it after a first solution and compare what they never set until then: equal runs
   took different steps. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ldlt.h"

#define EXPORT __attribute__((visibility("default")))

static const double THRESHOLD = 1e-6; /* least pivot beside its column; what IPOPT asks of MUMPS */

enum { RELEASE = -1, ANALYSE = 11, FACTORIZE = 22, SOLVE = 33 };
enum { NO_MEMORY = -2, SINGULAR = -7 };
enum { PERTURBED = 13, STORED = 17, POSITIVE = 21, NEGATIVE = 22, DELAYED = 63 }; /* in iparm */

/* A pattern and its tree. */
typedef struct {
    int n, *first, *row, users;
    Tree *tree;
} Pattern;

/* What IPOPT holds by a handle. */
typedef struct {
    Pattern *pattern;
    Factors *factors;
} Solver;

/* The last patterns of one program. A tree is made from the first matrix of its pattern: with one of
   another program a solve would hang on what was solved before. */
enum { KEPT = 4 };
typedef struct {
    Pattern *pattern[KEPT]; /* the latest first */
} Trees;

static _Thread_local Trees *kept; /* of the program that this thread solves; NULL: none are kept */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void release(Pattern *p) {
    if (!p || --p->users) return;
    free_tree(p->tree);
    free(p->first), free(p->row), free(p);
}

/* Indices of IPOPT count from 1. */
static int same(const Pattern *p, int n, const int *ptr, const int *row) {
    if (!p || p->n != n || p->first[n] != ptr[n] - 1) return 0;
    for (int j = 0; j <= n; j++) if (p->first[j] != ptr[j] - 1) return 0;
    for (int k = 0; k < p->first[n]; k++) if (p->row[k] != row[k] - 1) return 0;
    return 1;
}

static Pattern *new_pattern(int n, const int *ptr, const int *row, const double *value) {
    Pattern *p = zeros(1, sizeof(Pattern));
    int entries = ptr[n] - 1;
    p->n = n, p->first = zeros((size_t)n + 1, sizeof(int)), p->row = zeros((size_t)entries, sizeof(int));
    for (int j = 0; j <= n; j++) p->first[j] = ptr[j] - 1;
    for (int k = 0; k < entries; k++) p->row[k] = row[k] - 1;
    p->tree = new_tree(n, p->first, p->row, value);
    return p;
}

static void keep(Pattern *p) {
    release(kept->pattern[KEPT - 1]);
    memmove(kept->pattern + 1, kept->pattern, sizeof *kept->pattern * (KEPT - 1));
    kept->pattern[0] = p, p->users++;
}

static Pattern *find_pattern(int n, const int *ptr, const int *row, const double *value) {
    for (int k = 0; kept && k < KEPT; k++)
        if (same(kept->pattern[k], n, ptr, row)) return kept->pattern[k];
    Pattern *p = new_pattern(n, ptr, row, value);
    if (kept) keep(p);
    return p;
}

static Solver *new_solver(int n, const int *ptr, const int *row, const double *value) {
    Solver *solver = zeros(1, sizeof(Solver));
    pthread_mutex_lock(&lock);
    solver->pattern = find_pattern(n, ptr, row, value);
    solver->pattern->users++;
    pthread_mutex_unlock(&lock);
    solver->factors = new_factors(solver->pattern->tree);
    return solver;
}

static void free_solver(Solver *solver) {
    if (!solver) return;
    free_factors(solver->factors);
    pthread_mutex_lock(&lock);
    release(solver->pattern);
    pthread_mutex_unlock(&lock);
    free(solver);
}

EXPORT Trees *new_trees(void) { return zeros(1, sizeof(Trees)); }

/* For what this thread solves from here on. */
EXPORT void use_trees(Trees *trees) { kept = trees; }

EXPORT void free_trees(Trees *trees) {
    pthread_mutex_lock(&lock);
    for (int k = 0; k < KEPT; k++) release(trees->pattern[k]);
    pthread_mutex_unlock(&lock);
    free(trees);
}

/* Their rows are the last, with nothing beside each other, and have diagonals of zero or less. */
static int constraints(const Pattern *p, const double *value) {
    int j = p->n;
    for (; j > 0; j--) {
        int at = p->first[j - 1], count = p->first[j] - at;
        if (count > 1 || (count == 1 && (p->row[at] != j - 1 || value[at] > 0))) break;
    }
    return p->n - j;
}

/* Independent constraints have a negative eigenvalue each; IPOPT would take fewer for right. */
static int factorize_by(Solver *solver, const double *value, int *iparm) {
    Report report = factorize(solver->factors, value, THRESHOLD);
    iparm[PERTURBED] = 0, iparm[STORED] = (int)report.stored, iparm[DELAYED] = report.delayed;
    iparm[NEGATIVE] = report.negative, iparm[POSITIVE] = solver->pattern->n - report.negative;
    if (report.overgrown) return NO_MEMORY;
    return report.missing || report.negative < constraints(solver->pattern, value) ? SINGULAR : 0;
}

EXPORT void pardisoinit(void **handle, const int *type, const int *method, int *iparm, double *dparm,
                        int *error) {
    (void)type, (void)method, (void)iparm, (void)dparm;
    *handle = NULL, *error = 0;
}

EXPORT void pardiso(void **handle, const int *factors, const int *which, const int *type, const int *phase,
                    const int *n, const double *value, const int *ptr, const int *row, const int *order,
                    const int *sides, int *iparm, const int *printing, double *right, double *x, int *error,
                    double *dparm) {
    (void)factors, (void)which, (void)type, (void)order, (void)printing, (void)x, (void)dparm;
    *error = 0;
    switch (*phase) {
    case ANALYSE:
        free_solver(*handle);
        *handle = new_solver(*n, ptr, row, value);
        break;
    case FACTORIZE:
        *error = factorize_by(*handle, value, iparm);
        break;
    case SOLVE: /* in place, as IPOPT asks */
        for (int k = 0; k < *sides; k++)
            substitute(((Solver *)*handle)->factors, right + (size_t)k * (size_t)*n);
        break;
    case RELEASE:
        free_solver(*handle);
        *handle = NULL;
        break;
    }
}

/* IPOPT asks whether this is there, by which it knows a late version of PARDISO. */
EXPORT void pardiso_ipopt_newinterface(void) {}
