"""Sparse Gaussian elimination by fronts, on a fixed pattern in a fixed order; no interchanges.

``s`` is the `Square` program, ``w`` its `Workspace`, a turn the place of a pivot in that order.
"""

from __future__ import annotations

from typing import Any

from nsopt.kernels.kernel import inline
from nsopt.kernels.machine import add_multiple, index
from nsopt.kernels.plan import LANES
from nsopt.kernels.square import EQUATIONS, EVENTS, PAIRS, TERMS

TINY = 1e-300
"""Keeps a pivot that is exactly zero from dividing by zero; the step is then refused anyway."""

LATE_SHIFT = 1e-7
"""Part of its own size that is added to each late pivot once some rows follow from the others. More
leaves less of what redundant rows got alone after it is taken back."""

REDUNDANT_PART = 1e-2
"""Part of a pivot that was added to it, from which on its row counts as redundant."""

ZERO_SHIFT = 1e-7
"""Part of the mean size of late pivots that stands for one that is zero for certain."""


@inline
def assemble(s: Any, w: Any) -> None:
    """Fill the fronts: derivatives of terms times their weights in the rows, and the rows."""
    for k in range(len(w.A)):
        w.A[k] = 0.0
    derivatives, equations = s.sizes[TERMS] + s.sizes[PAIRS] + s.sizes[EVENTS], s.sizes[EQUATIONS]
    for k in range(s.part_start[equations]):  # one term each, whose weight is one
        w.A[index(s.part_place[index(k)])] = w.y[index(derivatives + k)]
    for part in range(equations, len(s.part_row)):
        weight = w.weight[index(part)]
        if weight != 0.0:
            begin = s.part_start[index(part)]
            shift = derivatives + s.term_start[index(s.part_term[index(part)])] - begin
            for k in range(begin, s.part_start[index(part + 1)]):
                w.A[index(s.part_place[index(k)])] += weight * w.y[index(shift + k)]
    for i in range(len(w.r)):
        w.A[index(s.plan.right[index(i)])] = w.r[index(i)]


@inline
def shift_redundant(s: Any, w: Any, part: float) -> None:
    """Add ``part`` of the mean pivot of each set of redundant rows to all pivots of the set.

    It replaces what `shift_late_pivots` added: one size for all, so that it is least change of the
    multipliers which decides among combinations without effect.
    """
    for b in range(len(s.redundant_start) - 1):
        begin, end = s.redundant_start[b], s.redundant_start[b + 1]
        mean = 0.0
        for k in range(begin, end):
            mean += abs(w.A[s.redundant_place[k]]) / (end - begin)
        for k in range(begin, end):
            row = s.redundant_row[k]
            w.A[s.redundant_place[k]] += part * mean - w.shift[row]
            w.shift[row] = part * mean


@inline
def has_redundant_row(s: Any, w: Any, first: int) -> bool:
    """Tell whether, once eliminated, a row from turn ``first`` on turns out to be redundant.

    Of its pivot then little is left but what was added. So it is of contacts that stick where fewer
    would do: four corners on a plane. What only presses opens where it is not needed.
    """
    most = 0.0
    for t in range(first, len(s.plan.pivot)):  # diagonals are minus the inverse of pivots now
        shift = w.shift[index(s.plan.pivot[index(t)])]
        most = max(most, abs(shift * w.A[index(s.plan.diagonal[index(t)])]))
    return most > REDUNDANT_PART


@inline
def correct_redundant(s: Any, w: Any, first: int) -> None:
    """Take back from the direction d of rows from turn ``first`` on what `shift_redundant` did.

    With E for ``w.shift``, d = (A + E)^-1 r gives combinations u without effect, u^T A = 0, the
    multipliers u^T r / u^T E u: what is off in them by terms of second order becomes large. Of
    F = (A + E)^-1 E they are eigenvectors, of 1, and all others have eigenvalues as small as E
    beside A: (I + F - 2 F^2) d has nothing of the former, and is else Newton's direction but for
    terms of second order. The rows r are used up.
    """
    plan = s.plan
    for turn in range(first, len(plan.pivot)):
        i = index(plan.pivot[turn])
        w.r[i] = w.dx[i]
    for weight in (1.0, -2.0):  # of F and of F^2
        for turn in range(first, len(plan.pivot)):
            i = index(plan.pivot[turn])
            w.A[index(plan.right[i])] = w.shift[i] * w.r[i]
        eliminate_right_side(plan, first, w.A)
        substitute_back(plan, first, len(plan.pivot), w.A, w.r)
        for turn in range(first, len(plan.pivot)):
            i = index(plan.pivot[turn])
            w.dx[i] += weight * w.r[i]


@inline
def eliminate_right_side(plan: Any, begin: int, A: Any) -> None:
    """Do from turn ``begin`` on to another right side in A (k,) what `eliminate` did."""
    for t in range(begin, len(plan.pivot)):
        value = A[index(plan.right[index(plan.pivot[index(t)])])]
        for k in range(plan.row_start[index(t)], plan.row_start[index(t + 1)]):
            A[index(plan.row_right[index(k)])] += A[index(plan.row_place[index(k)])] * value


@inline
def eliminate(plan: Any, begin: int, end: int, A: Any) -> None:
    """Eliminate the pivots of fronts ``begin`` to ``end`` from the entries A (k,).

    The diagonal of each pivot becomes minus its inverse. The multiples of pivots' rows that were
    added to others take the places of what they removed.
    """
    for f in range(begin, end):
        for t in range(plan.first[f], plan.first[f + 1]):
            eliminate_pivot(plan, t, A)
        row, columns, pivots = plan.border[f], plan.columns[f], plan.pivots[f]
        target = plan.target_start[f]
        while target < plan.target_start[f + 1]:
            if is_changed(A, row, pivots):
                for k in range(columns):
                    A[index(plan.target[index(target + k)])] += A[index(row + pivots + k)]
            target += columns
            row += plan.width[f]


@inline
def eliminate_pivot(plan: Any, t: int, A: Any) -> None:
    """Eliminate the pivot of a turn from the rows that have entries in its column."""
    diagonal, rest = plan.diagonal[index(t)], plan.rest[index(t)]
    inverse = -1.0 / A[index(diagonal)]
    A[index(diagonal)] = inverse
    # One row does not wait for another.
    for k in range(plan.row_start[index(t)], plan.row_start[index(t + 1)]):
        place = plan.row_place[index(k)]
        multiple = A[index(place)]
        if multiple != 0.0:  # contacts that are open take no part
            multiple *= inverse
            A[index(place)] = multiple
            for j in range(1, rest + 1, LANES):
                add_multiple(A, place + j, multiple, diagonal + j)


@inline
def is_changed(A: Any, row: int, pivots: int) -> bool:
    """Tell whether a multiple of any pivot's row was added to one."""
    changed = False
    for s in range(pivots):
        changed |= A[index(row + s)] != 0.0
    return changed


@inline
def substitute_back(plan: Any, begin: int, end: int, A: Any, x: Any) -> None:
    """Return in x (n,) the part of the solution that turns ``begin`` to ``end`` give.

    `eliminate` has left the system in A; x holds what later turns give.
    """
    for t in range(end - 1, begin - 1, -1):
        pivot = plan.pivot[index(t)]
        value = A[index(plan.right[index(pivot)])]
        for k in range(plan.column_start[index(t)], plan.column_start[index(t + 1)]):
            value -= A[index(plan.column_place[index(k)])] * x[index(plan.column[index(k)])]
        x[index(pivot)] = -value * A[index(plan.diagonal[index(t)])]


@inline
def shift_late_pivots(s: Any, w: Any, first: int, part: float) -> None:
    """Add ``part`` of its own size to each pivot from turn ``first`` on, and note it as its shift.

    Dependent rows then solve: their multipliers stay at the least change, and an iteration loses
    only that part of its convergence. A pivot that is zero for certain, of coordinates without
    inertia that joints alone hold, counts as a small inertia: the next iteration takes back by how
    much it changes the direction.
    """
    plan, A = s.plan, w.A
    total, count = 0.0, 0
    for t in range(first, len(plan.pivot)):
        if not plan.empty[index(t)]:
            total += abs(A[index(plan.diagonal[index(t)])])
            count += 1
    least = ZERO_SHIFT * total / max(count, 1)
    for t in range(first, len(plan.pivot)):
        place = index(plan.diagonal[index(t)])
        pivot = A[place]
        w.shift[index(plan.pivot[index(t)])] = part * abs(pivot)
        A[place] = pivot + part * abs(pivot) + (least * plan.empty[index(t)] + TINY)
