"""Sparse Gaussian elimination on a fixed pattern, in a fixed order, without interchanges."""

from __future__ import annotations

from typing import Any

from nsopt.kernels.kernel import inline
from nsopt.kernels.square import EVENTS, PAIRS, TERMS

TINY = 1e-300
"""Keeps a pivot that is exactly zero from dividing by zero; the step is then refused anyway."""

LEAST = 1e-7
"""Part of the mean size of late pivots that stands for one that is zero for certain."""


@inline
def assemble(s: Any, w: Any) -> None:
    """Add the derivatives of terms, times their weights in the rows, into the matrix."""
    for k in range(len(w.A)):
        w.A[k] = 0.0
    derivatives = s.sizes[TERMS] + s.sizes[PAIRS] + s.sizes[EVENTS]
    for part in range(len(s.part_row)):
        weight = w.weight[part]
        if weight != 0.0:
            begin = s.part_start[part]
            shift = derivatives + s.term_start[s.part_term[part]] - begin
            for k in range(begin, s.part_start[part + 1]):
                w.A[s.part_place[k]] += weight * w.y[shift + k]


@inline
def hold_redundant(s: Any, w: Any) -> None:
    """Add U U^T times the mean pivot for combinations U that have no effect: these stay."""
    place = 0
    of_set = s.sizes[TERMS] + s.sizes[PAIRS] + s.sizes[EVENTS] + len(s.term_column)
    for b in range(len(s.redundant_size)):
        begin, end, count = s.redundant_start[b], s.redundant_start[b + 1], s.redundant_size[b]
        m = end - begin
        mean = 0.0
        for i in range(m):
            mean += abs(w.A[s.redundant_place[place + i * m + i]]) / m
        for i in range(m):
            for j in range(m):
                total = 0.0
                for k in range(count):
                    total += w.y[of_set + i * count + k] * w.y[of_set + j * count + k]
                w.A[s.redundant_place[place + i * m + j]] += total * mean
        place += m * m
        of_set += m * count


@inline
def eliminate(plan: Any, first: int, last: int, A: Any, r: Any) -> None:
    """Eliminate turns ``first`` to ``last`` from the entries A (k,) and the right side r (n,)."""
    for s in range(first, last):
        k = plan.pivot[s]
        inverse = -1.0 / A[plan.diagonal[s]]
        begin, end = plan.row_start[s], plan.row_start[s + 1]
        target = plan.target_start[s]
        for c in range(plan.column_start[s], plan.column_start[s + 1]):
            factor = A[plan.column_place[c]]
            if factor != 0.0:  # contacts that are open take no part
                factor *= inverse
                for b in range(begin, end):
                    A[plan.target[target + b - begin]] += factor * A[plan.row_place[b]]
                r[plan.column_row[c]] += factor * r[k]
            target += end - begin


@inline
def substitute_back(plan: Any, A: Any, r: Any, x: Any) -> None:
    """Return in x (n,) the solution of A x = r, both as `eliminate` leaves them."""
    for s in range(len(plan.pivot) - 1, -1, -1):
        k = plan.pivot[s]
        value = r[k]
        for b in range(plan.row_start[s], plan.row_start[s + 1]):
            value -= A[plan.row_place[b]] * x[plan.row_column[b]]
        x[k] = value / A[plan.diagonal[s]]


@inline
def strengthen(plan: Any, first: int, proximal: float, A: Any) -> None:
    """Add ``proximal`` of its own size to each pivot from turn ``first`` on.

    Dependent rows then solve: their multipliers stay at the least change, and an iteration loses
    only that part of its convergence. A pivot that is zero for certain, of coordinates without
    inertia that joints alone hold, counts as an inertia that small: the next iteration takes back
    by how much it changes the direction.
    """
    total, count = 0.0, 0
    for s in range(first, len(plan.pivot)):
        if not plan.empty[s]:
            total += abs(A[plan.diagonal[s]])
            count += 1
    least = LEAST * total / max(count, 1)
    for s in range(first, len(plan.pivot)):
        pivot = A[plan.diagonal[s]]
        A[plan.diagonal[s]] = pivot + proximal * abs(pivot) + (least * plan.empty[s] + TINY)
