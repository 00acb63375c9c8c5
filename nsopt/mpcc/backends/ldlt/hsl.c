/* The solver by the names and structures of HSL_MA97, under which IPOPT loads one. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ldlt.h"

#define EXPORT __attribute__((visibility("default")))

struct ma97_control_d {
    int f_arrays, action, nemin;
    double multiplier;
    int ordering, print_level, scaling;
    double small, u;
    int unit_diagnostics, unit_error, unit_warning;
    long factor_min;
    int solve_blas3;
    long solve_min;
    int solve_mf;
    double consist_tol;
    int ispare[5];
    double rspare[10];
};

struct ma97_info_d {
    int flag, flag68, flag77, matrix_dup, matrix_rank, matrix_outrange, matrix_missing_diag;
    int maxdepth, maxfront, num_delay;
    long num_factor, num_flops;
    int num_neg, num_sup, num_two, ordering, stat;
    int ispare[5];
    double rspare[10];
};

enum { SINGULAR = -7, FAILED = -1, MINIMUM_DEGREE = 1 };

/* A pattern, and its tree once there are values. The last ones are kept for programs like them. */
typedef struct {
    int n, *first, *row, users;
    Tree *tree;
} Pattern;

enum { KEPT = 4 };
static Pattern *kept[KEPT]; /* the latest first */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void release(Pattern *p) {
    if (!p || --p->users) return;
    free_tree(p->tree);
    free(p->first), free(p->row), free(p);
}

static int same(const Pattern *p, int n, const int *ptr, const int *row, int base) {
    if (!p || p->n != n || p->first[n] != ptr[n] - base) return 0;
    for (int j = 0; j <= n; j++) if (p->first[j] != ptr[j] - base) return 0;
    for (int k = 0; k < p->first[n]; k++) if (p->row[k] != row[k] - base) return 0;
    return 1;
}

static Pattern *new_pattern(int n, const int *ptr, const int *row, int base) {
    Pattern *p = zeros(1, sizeof(Pattern));
    int entries = ptr[n] - base;
    p->n = n, p->first = zeros((size_t)n + 1, sizeof(int)), p->row = zeros((size_t)entries, sizeof(int));
    for (int j = 0; j <= n; j++) p->first[j] = ptr[j] - base;
    for (int k = 0; k < entries; k++) p->row[k] = row[k] - base;
    release(kept[KEPT - 1]);
    memmove(kept + 1, kept, sizeof *kept * (KEPT - 1));
    kept[0] = p, p->users = 1;
    return p;
}

static Pattern *pattern(int n, const int *ptr, const int *row, int base) {
    pthread_mutex_lock(&lock);
    Pattern *p = NULL;
    for (int k = 0; k < KEPT && !p; k++) if (same(kept[k], n, ptr, row, base)) p = kept[k];
    if (!p) p = new_pattern(n, ptr, row, base);
    p->users++;
    pthread_mutex_unlock(&lock);
    return p;
}

static void plan(Pattern *p, const double *value) {
    pthread_mutex_lock(&lock);
    if (!p->tree) p->tree = new_tree(p->n, p->first, p->row, value);
    pthread_mutex_unlock(&lock);
}

EXPORT void ma97_default_control_d(struct ma97_control_d *control) {
    memset(control, 0, sizeof *control);
    control->u = 0.01;
}

EXPORT void ma97_analyse_d(int check, int n, const int ptr[], const int row[], double val[], void **akeep,
                    const struct ma97_control_d *control, struct ma97_info_d *info, int order[]) {
    (void)check, (void)val, (void)order;
    *akeep = pattern(n, ptr, row, control->f_arrays != 0);
    memset(info, 0, sizeof *info);
    info->ordering = MINIMUM_DEGREE, info->matrix_rank = n;
}

EXPORT void ma97_factor_d(int matrix_type, const int ptr[], const int row[], const double val[], void **akeep,
                   void **fkeep, const struct ma97_control_d *control, struct ma97_info_d *info,
                   double scale[]) {
    (void)matrix_type, (void)ptr, (void)row, (void)scale;
    Pattern *p = *akeep;
    plan(p, val);
    if (!*fkeep) *fkeep = new_factors(p->tree);
    Report report = factorize(*fkeep, val, control->u);
    memset(info, 0, sizeof *info);
    info->flag = report.missing ? SINGULAR : report.overgrown ? FAILED : 0;
    info->matrix_rank = p->n - report.missing;
    info->num_neg = report.negative, info->num_delay = report.delayed;
    info->num_two = report.pairs, info->maxfront = report.largest;
    info->num_factor = (long)report.stored, info->num_sup = p->tree->nodes;
}

EXPORT void ma97_solve_d(int job, int nrhs, double x[], int ldx, void **akeep, void **fkeep,
                  const struct ma97_control_d *control, struct ma97_info_d *info) {
    (void)job, (void)akeep, (void)control;
    for (int k = 0; k < nrhs; k++) substitute(*fkeep, x + (size_t)k * (size_t)ldx);
    info->flag = 0; /* the rest of it IPOPT still reads, as of the factorization */
}

EXPORT void ma97_factor_solve_d(int matrix_type, const int ptr[], const int row[], const double val[], int nrhs,
                         double x[], int ldx, void **akeep, void **fkeep,
                         const struct ma97_control_d *control, struct ma97_info_d *info, double scale[]) {
    ma97_factor_d(matrix_type, ptr, row, val, akeep, fkeep, control, info, scale);
    if (info->flag >= 0) ma97_solve_d(0, nrhs, x, ldx, akeep, fkeep, control, info);
}

EXPORT void ma97_free_akeep_d(void **akeep) {
    pthread_mutex_lock(&lock);
    release(*akeep);
    pthread_mutex_unlock(&lock);
    *akeep = NULL;
}

EXPORT void ma97_finalise_d(void **akeep, void **fkeep) {
    free_factors(*fkeep);
    *fkeep = NULL;
    ma97_free_akeep_d(akeep);
}
