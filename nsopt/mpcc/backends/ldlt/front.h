/* A dense front while its pivots are taken, and what is kept of it. */
#ifndef FRONT_H
#define FRONT_H

#include "ldlt.h"

/* A column of unit L below its diagonal. */
typedef struct {
    int count;     /* of entries that are not zero, where they are few; else -1 */
    int *where;    /* (count,) */
    double *entry; /* (count,), or all below the diagonal */
} Column;

/* Pivots of a node. */
typedef struct {
    int pivots, size;
    int *unknowns; /* (size,) pivots first */
    Column *column;
    double *inverse; /* (2, pivots): diagonal of D^-1, and beside it in a pivot of two */
} Columns;

/* Lower triangle, by columns of length size. */
typedef struct {
    double *a;
    int size, whole, pivots; /* whole: columns to which all has been added */
    int *unknowns;           /* (size,) */
    double *height;          /* (size,): the largest that diagonals were */
    double *scaled;          /* (size, whole): L D */
    double *inverse;         /* (2, whole) */
    int *later, laters;      /* pivots that the border has not had yet */
    int *thin;               /* (whole,) whether a column has few entries */
    int *where, *which;      /* (size,) to work with */
} Front;

void eliminate(Front *, const int *mate, double threshold, Report *);
Columns keep(const Front *, Arena *, Report *);

#endif
