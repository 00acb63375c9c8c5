"""Sparse Gaussian elimination on a fixed pattern, in a fixed order, without interchanges."""

from __future__ import annotations

from typing import Any

from nsopt.kernels.kernel import copy, inline
from nsopt.kernels.square import EVENTS, PAIRS, TERMS

TINY = 1e-300
"""Keeps a pivot that is exactly zero from dividing by zero; the step is then refused anyway."""

HELD = 1e-6
"""Part of the mean pivot of redundant rows that is added to theirs."""

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
def hold_redundant(s: Any, w: Any, proximal: float) -> None:
    """Add a little of the mean pivot to those of rows some of which hold by the others.

    ``held`` counts what `strengthen` has added to them before.
    """
    for b in range(len(s.redundant_start) - 1):
        begin, end = s.redundant_start[b], s.redundant_start[b + 1]
        mean = 0.0
        for k in range(begin, end):
            mean += abs(w.A[s.redundant_place[k]]) / (end - begin)
        for k in range(begin, end):
            pivot = w.A[s.redundant_place[k]]
            w.A[s.redundant_place[k]] = pivot + HELD * mean
            w.held[k] = HELD * mean + abs(pivot) * proximal / (1.0 + proximal)


@inline
def release_redundant(s: Any, w: Any, late: int) -> None:
    """Take back from the direction what redundant rows got alone; the rows r are used up.

    With E for ``held``, d = (A + E)^-1 r gives combinations u without effect,
    u^T A = 0, the multipliers u^T r / u^T E u: what is off in them by terms of second order becomes
    large. Of F = (A + E)^-1 E they are eigenvectors, of 1, and all others have eigenvalues as small
    as E beside A: (I + F - 2 F^2) d has nothing of the former, and is else Newton's direction but
    for terms of second order.
    """
    copy(w.dx, w.r)
    for weight in (1.0, -2.0):
        for k in range(len(s.redundant_row)):
            w.off[k] = w.held[k] * w.r[s.redundant_row[k]]
        for i in range(len(w.r)):
            w.r[i] = 0.0
        for k in range(len(s.redundant_row)):
            w.r[s.redundant_row[k]] = w.off[k]
        eliminate_right_side(s.plan, late, len(s.plan.pivot), w.A, w.r)
        substitute_back(s.plan, w.A, w.r, w.r)
        for i in range(len(w.r)):
            w.dx[i] += weight * w.r[i]


@inline
def eliminate_right_side(plan: Any, first: int, last: int, A: Any, r: Any) -> None:
    """Do to another right side r what `eliminate` did, which has left A."""
    for s in range(first, last):
        value = r[plan.pivot[s]]
        if value != 0.0:
            value *= -1.0 / A[plan.diagonal[s]]
            for c in range(plan.column_start[s], plan.column_start[s + 1]):
                r[plan.column_row[c]] += A[plan.column_place[c]] * value


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
