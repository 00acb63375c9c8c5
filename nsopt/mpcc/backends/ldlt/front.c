/* Elimination in a dense front, by pivots of one and two.

   A pivot is taken where the entries beside it are at most 1 / threshold times as large, as by Duff
   and Reid (1983). One unknown of a pair often has few entries in its column: its products are not
   computed where they are zero. */
#include <math.h>
#include <string.h>

#include "front.h"

static const double PREFERRED = 0.01; /* threshold of pivots of one that are taken first */
static const double PAIRED = 1e-5;    /* of those of two that the order was found for */
static const double NOTHING = 1e-300;
static const double CANCELLED = 1e-14; /* what round-off leaves of the largest term in a sum */
enum { THIN = 3 }; /* a column is thin if it has at most this part, 1 / THIN, of its entries */

static double *column(const Front *f, int j) { return f->a + (size_t)j * (size_t)f->size; }

static double at(const Front *f, int i, int j) { return i >= j ? column(f, j)[i] : column(f, i)[j]; }

static void swap(double *a, double *b) {
    double t = *a;
    *a = *b, *b = t;
}

/* Exchange unknowns at places i < j, neither of which is a pivot yet. */
static void exchange(Front *f, int i, int j) {
    if (i == j) return;
    size_t m = (size_t)f->size;
    for (int k = 0; k < i; k++) swap(column(f, k) + i, column(f, k) + j);
    for (int k = 0; k < f->pivots; k++) swap(f->scaled + (size_t)k * m + i, f->scaled + (size_t)k * m + j);
    for (int k = i + 1; k < j; k++) swap(column(f, i) + k, column(f, k) + j);
    for (int k = j + 1; k < f->size; k++) swap(column(f, i) + k, column(f, j) + k);
    swap(column(f, i) + i, column(f, j) + j);
    swap(f->height + i, f->height + j);
    int u = f->unknowns[i];
    f->unknowns[i] = f->unknowns[j], f->unknowns[j] = u;
}

/* The largest magnitude; four at a time, which a compiler does not do by itself. */
static double peak(const double *x, int from, int to) {
    double a = 0, b = 0, c = 0, d = 0;
    int i = from;
    for (; i + 4 <= to; i += 4) {
        double p = fabs(x[i]), q = fabs(x[i + 1]), r = fabs(x[i + 2]), s = fabs(x[i + 3]);
        a = p > a ? p : a, b = q > b ? q : b, c = r > c ? r : c, d = s > d ? s : d;
    }
    for (; i < to; i++) a = fabs(x[i]) > a ? fabs(x[i]) : a;
    a = a > b ? a : b, c = c > d ? c : d;
    return a > c ? a : c;
}

static int entries(const double *x, int from, int to, int *where) {
    int count = 0;
    for (int i = from; i < to; i++) where[count] = i, count += x[i] != 0;
    return count;
}

/* Subtract from[i] * factor[j] in all columns j where the factor is not zero. */
static int subtract(Front *f, const double *from, const double *factor, int begin) {
    int count = entries(from, begin, f->size, f->where), thin = THIN * count < f->size - begin;
    int columns = entries(factor, begin, f->size, f->which);
    for (int t = 0, first = 0; t < columns; t++) {
        int j = f->which[t];
        double *x = column(f, j), s = factor[j];
        if (thin) {
            while (first < count && f->where[first] < j) first++;
            for (int k = first; k < count; k++) x[f->where[k]] -= s * from[f->where[k]];
        } else {
            for (int i = j; i < f->size; i++) x[i] -= s * from[i];
        }
    }
    return thin;
}

/* Note how large diagonals are that are still to be pivots. */
static void note_heights(Front *f) {
    for (int j = f->pivots; j < f->whole; j++) {
        double d = fabs(column(f, j)[j]);
        f->height[j] = d > f->height[j] ? d : f->height[j];
    }
}

static void take_one(Front *f, Report *report) {
    int k = f->pivots;
    double *c = column(f, k), *w = f->scaled + (size_t)k * (size_t)f->size, d = 1 / c[k];
    report->negative += c[k] < 0;
    f->inverse[2 * k] = d, f->inverse[2 * k + 1] = 0;
    for (int i = k + 1; i < f->size; i++) w[i] = c[i], c[i] *= d;
    for (int j = k + 1; j < f->whole; j++) {
        double *x = column(f, j), s = w[j];
        if (s == 0) continue;
        for (int i = j; i < f->size; i++) x[i] -= s * c[i];
    }
    f->thin[k] = 0;
    f->later[f->laters++] = k;
    f->pivots++;
    note_heights(f);
}

static void take_two(Front *f, Report *report) {
    int k = f->pivots;
    double *c = column(f, k), *e = column(f, k + 1), *w = f->scaled + (size_t)k * (size_t)f->size;
    double *v = w + f->size, p = c[k], q = c[k + 1], r = e[k + 1], det = p * r - q * q;
    double a = r / det, b = -q / det, d = p / det;
    report->negative += det < 0 ? 1 : 2 * (p < 0);
    report->pairs++;
    f->inverse[2 * k] = a, f->inverse[2 * k + 1] = b;
    f->inverse[2 * k + 2] = d, f->inverse[2 * k + 3] = 0;
    c[k + 1] = 0;
    for (int i = k + 2; i < f->size; i++) {
        double x = c[i], y = e[i];
        w[i] = x, v[i] = y;
        c[i] = a * x + b * y, e[i] = b * x + d * y;
    }
    f->thin[k] = subtract(f, c, w, k + 2);
    f->thin[k + 1] = subtract(f, e, v, k + 2);
    f->pivots += 2;
    note_heights(f);
}

/* Whether a diagonal is more than what round-off leaves of larger terms. */
static int meant(const Front *f, int j) {
    double d = fabs(column(f, j)[j]);
    return d >= NOTHING && d > CANCELLED * f->height[j];
}

/* Whether j and r are a pivot of two, beside entries x and y of their columns at most. */
static int large(const Front *f, int j, int r, double x, double y, double threshold) {
    double p = column(f, j)[j], q = fabs(at(f, j, r)), s = column(f, r)[r], det = fabs(p * s - q * q);
    if (q <= CANCELLED * sqrt(f->height[j] * f->height[r]) || det <= CANCELLED * q * q) return 0;
    return (fabs(s) * x + q * y) * threshold <= det && (fabs(p) * y + q * x) * threshold <= det;
}

static int place_of(const Front *f, int unknown) {
    for (int i = f->pivots + 1; i < f->whole; i++)
        if (f->unknowns[i] == unknown) return i;
    return -1;
}

/* Take the next unknown, with its partner if it has one here; returns whether that was a pivot. */
static int take_next(Front *f, const int *mate, double threshold, Report *report) {
    int k = f->pivots, other = mate[f->unknowns[k]], r = other < 0 ? -1 : place_of(f, other);
    const double *c = column(f, k);
    if (r < 0) {
        if (!meant(f, k) || fabs(c[k]) < PREFERRED * peak(c, k + 1, f->size)) return 0;
        take_one(f, report);
        return 1;
    }
    exchange(f, k + 1, r);
    const double *e = column(f, k + 1);
    double x = peak(c, k + 2, f->size), y = peak(e, k + 2, f->size);
    if (!large(f, k, k + 1, x, y, threshold > PAIRED ? threshold : PAIRED)) return 0;
    take_two(f, report);
    return 1;
}

/* Take all unknowns in their order, those last that are no pivots; returns whether any was one. */
static int take_all(Front *f, const int *mate, double threshold, Report *report) {
    int begin = f->pivots, last = f->whole;
    while (f->pivots < last)
        if (!take_next(f, mate, threshold, report)) exchange(f, f->pivots, --last);
    return f->pivots > begin;
}

/* The largest entry of a column beside its diagonal, and where among columns that are whole. */
static double largest(const Front *f, int j, int except, int *where) {
    double inside = 0, outside = peak(column(f, j), f->whole, f->size);
    *where = -1;
    for (int i = f->pivots; i < f->whole; i++) {
        double x = i == j || i == except ? 0 : fabs(at(f, i, j));
        if (x > inside) inside = x, *where = i;
    }
    return inside > outside ? inside : outside;
}

/* Take any pivot; returns whether there was one. */
static int take_any(Front *f, double threshold, Report *report) {
    for (int j = f->pivots; j < f->whole; j++) {
        int r, other;
        double beside = largest(f, j, -1, &r), own = fabs(at(f, j, j));
        if (meant(f, j) && own >= threshold * beside) {
            exchange(f, f->pivots, j);
            take_one(f, report);
            return 1;
        }
        if (r < 0) continue;
        double x = largest(f, j, r, &other), y = largest(f, r, j, &other);
        if (!large(f, j, r, x, y, threshold)) continue;
        exchange(f, f->pivots, r < j ? r : j);
        exchange(f, f->pivots + 1, r < j ? j : r);
        take_two(f, report);
        return 1;
    }
    return 0;
}

/* Subtract from the border what it has not had of pivots of one; four columns at a time. */
static void complete(Front *f) {
    int m = f->size, j = f->whole;
    for (; j + 4 <= m; j += 4) {
        double *x = column(f, j), *y = x + m, *z = y + m, *u = z + m;
        for (int t = 0; t < f->laters; t++) {
            const double *c = column(f, f->later[t]);
            const double *w = f->scaled + (size_t)f->later[t] * (size_t)m + j;
            double a = w[0], b = w[1], d = w[2], e = w[3];
            for (int i = j; i < m; i++) {
                double l = c[i];
                x[i] -= a * l, y[i] -= b * l, z[i] -= d * l, u[i] -= e * l;
            }
        }
    }
    for (; j < m; j++)
        for (int t = 0; t < f->laters; t++) {
            const double *c = column(f, f->later[t]);
            double *x = column(f, j), s = f->scaled[(size_t)f->later[t] * (size_t)m + (size_t)j];
            for (int i = j; i < m; i++) x[i] -= s * c[i];
        }
}

/* Whether no later elimination can give column j an entry: all that is left of it is round-off. */
static int vanished(const Front *f, int j) {
    if (meant(f, j)) return 0;
    for (int i = f->pivots; i < f->size; i++)
        if (i != j && fabs(at(f, i, j)) > CANCELLED * sqrt(f->height[i] * f->height[j])) return 0;
    return 1;
}

void eliminate(Front *f, const int *mate, double threshold, Report *report) {
    double first = threshold > PREFERRED ? threshold : PREFERRED;
    note_heights(f);
    while (take_all(f, mate, threshold, report)) {}
    while (f->pivots < f->whole && take_any(f, first, report)) {}
    while (f->pivots < f->whole && take_any(f, threshold, report)) {}
    for (int j = f->pivots; j < f->whole; j++) report->missing += vanished(f, j);
    complete(f);
}

Columns keep(const Front *f, Arena *memory, Report *report) {
    size_t count = (size_t)f->pivots;
    Columns kept = {.pivots = f->pivots, .size = f->size};
    kept.unknowns = take(memory, sizeof(int) * (size_t)f->size);
    kept.column = take(memory, sizeof(Column) * count);
    kept.inverse = take(memory, sizeof(double) * 2 * count);
    memcpy(kept.unknowns, f->unknowns, sizeof(int) * (size_t)f->size);
    memcpy(kept.inverse, f->inverse, sizeof(double) * 2 * count);
    for (int k = 0; k < f->pivots; k++) {
        const double *from = column(f, k);
        Column *c = kept.column + k;
        int n = f->thin[k] ? entries(from, k + 1, f->size, f->where) : f->size - k - 1;
        c->count = f->thin[k] ? n : -1;
        c->entry = take(memory, sizeof(double) * (size_t)n);
        report->stored += n;
        if (!f->thin[k]) {
            memcpy(c->entry, from + k + 1, sizeof(double) * (size_t)n);
            continue;
        }
        c->where = take(memory, sizeof(int) * (size_t)n);
        memcpy(c->where, f->where, sizeof(int) * (size_t)n);
        for (int t = 0; t < n; t++) c->entry[t] = from[f->where[t]];
    }
    return kept;
}
