"""Sparse Gaussian elimination of symbolic systems, as straight-line expressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import casadi as ca

Row = dict[int, ca.SX]

TINY = 1e-300
"""Keeps a pivot that is exactly zero from dividing by zero; the step is then refused anyway."""


LEAST = 1e-7
"""Part of the mean size of pivots that stands for one that is zero for certain."""


class Reduced(NamedTuple):
    """What is left of a system J x = r once some unknowns are eliminated.

    Attributes
    ----------
    K, right : SX (k, k), SX (k,)
        Of the unknowns that are left, K y = right.
    late : list of int
        Which these are.
    x : SX (n,)
        All unknowns, in terms of ``y``.
    y : SX (k,)
        Symbols.
    """

    K: ca.SX
    right: ca.SX
    late: list[int]
    x: ca.SX
    y: ca.SX


def solve_symbolic(J: ca.SX, r: ca.SX, deferred: Sequence[int], proximal: float | ca.SX) -> ca.SX:
    """Return x with J x = r, (n,), by elimination along the diagonal without interchanges.

    See `reduced`.
    """
    some = reduced(J, r, deferred, proximal)
    y = solver_of(some.K.sparsity(), range(some.K.nnz()))(_column(some.K.nz), some.right)
    return ca.substitute(some.x, some.y, y)


def reduced(
    J: ca.SX,
    r: ca.SX,
    deferred: Sequence[int],
    proximal: float | ca.SX,
    free: Sequence[tuple[Sequence[int], ca.SX]] = (),
    between: Sequence[int] = (),
) -> Reduced:
    """Eliminate all unknowns but the deferred ones, along the diagonal without interchanges.

    Parameters
    ----------
    J : SX (n, n)
        Row i is solved for unknown i.
    r : SX (n,)
    deferred : indices
        Unknowns whose diagonal may be zero until the others are eliminated: multipliers, whose
        pivots are then those of C A^-1 C^T.
    proximal : float or SX scalar
        Part of its own size that is added to each deferred pivot. Dependent rows then solve, their
        multipliers stay at the least change, and an iteration loses only that part of its
        convergence.
    free : pairs of indices and SX (number of indices, k), optional
        Deferred unknowns, and orthonormal combinations of them that J takes to zero: these stay as
        they are, but for the part of r along them, over the mean size of the pivots.
    between : indices, optional
        Unknowns that are eliminated after the others: intermediate results, so that rows which
        switch are switched once they are in terms of deferred unknowns.
    """
    n = J.shape[0]
    rows = _rows(J)
    right = ca.vertsplit(ca.densify(r)) if n else []
    later, middle = set(deferred), set(between)
    own = [i for i in range(n) if i not in later | middle]
    order = _eliminate(rows, right, own, set(range(n)))
    order += _eliminate(rows, right, sorted(middle), later | middle)
    held = [_held(rows, *combined) for combined in free]
    least = _least_pivot(rows, later)
    for i in later:
        pivot = rows[i].get(i, ca.SX(0))
        rows[i][i] = pivot + proximal * ca.fabs(pivot) + (least if pivot.is_zero() else TINY)
    for more in held:
        for (i, j), value in more.items():
            rows[i][j] = rows[i].get(j, ca.SX(0)) + value
    late = sorted(later)
    y = ca.SX.sym("y", len(late))
    x: list[ca.SX] = [ca.SX(0)] * n
    for k, i in enumerate(late):
        x[i] = y[k]
    _substitute_back(rows, right, order, x)
    K = _matrix([rows[i] for i in late], late)
    return Reduced(K, _column(right[i] for i in late), late, _column(x), y)


def solver_of(pattern: ca.Sparsity, order: Sequence[int]) -> ca.Function:
    """Return the function (entries of K, right) -> y, where K y = right.

    For equal patterns and orders it is the same function.

    Parameters
    ----------
    pattern : Sparsity
        Of K.
    order : sequence of int
        Which entry of the pattern each given one is.
    """
    return _solver(tuple(pattern.compress()), tuple(order))


@cache
def _solver(compressed: tuple[int, ...], order: tuple[int, ...]) -> ca.Function:
    pattern = ca.Sparsity.compressed(list(compressed))
    entries = ca.SX.sym("entries", pattern.nnz())
    right = ca.SX.sym("right", pattern.size1())
    place = {k: i for i, k in enumerate(order)}
    K = ca.SX(pattern, entries[[place[k] for k in range(len(order))]])
    rows, values = _rows(K), ca.vertsplit(right) if right.numel() else []
    n = len(rows)
    eliminated = _eliminate(rows, values, list(range(n)), set(range(n)))
    y: list[ca.SX] = [ca.SX(0)] * n
    _substitute_back(rows, values, eliminated, y)
    return ca.Function("solve", [entries, right], [ca.densify(_column(y))], {"cse": True})


def _column(entries: Iterable[ca.SX]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *entries)


def _matrix(rows: Sequence[Row], columns: Sequence[int]) -> ca.SX:
    """Return rows as a matrix of these columns."""
    place = {j: k for k, j in enumerate(columns)}
    found = [(k, place[j], x) for k, row in enumerate(rows) for j, x in row.items() if j in place]
    n = len(columns)
    pattern = ca.Sparsity.triplet(len(rows), n, [i for i, _, _ in found], [j for _, j, _ in found])
    matrix = ca.SX(pattern)
    for i, j, value in found:
        matrix[i, j] = value
    return matrix


def _substitute_back(
    rows: list[Row], right: list[ca.SX], order: Sequence[int], x: list[ca.SX]
) -> None:
    """Fill in x of unknowns that were eliminated in this order."""
    for i in reversed(order):
        known = sum((a * x[j] for j, a in rows[i].items() if j != i), ca.SX(0))
        x[i] = (known - right[i]) * _negative_inverse(rows[i][i])


def _least_pivot(rows: list[Row], later: Iterable[int]) -> ca.SX:
    """Return what stands for pivots that are zero for certain.

    Those of coordinates without inertia, held by joints alone: their rows give multipliers. As an
    inertia that small it changes the direction by its part, which the next iteration takes back.
    """
    pivots = [rows[i][i] for i in later if i in rows[i] and not rows[i][i].is_zero()]
    sizes = sum((ca.fabs(x) for x in pivots), ca.SX(0)) / max(len(pivots), 1)
    return LEAST * sizes + TINY


def _held(rows: list[Row], unknowns: Sequence[int], U: ca.SX) -> dict[tuple[int, int], ca.SX]:
    """Return what is added to rows so that combinations U of unknowns are determined by them."""
    pivots = [ca.fabs(rows[i].get(i, ca.SX(0))) for i in unknowns]
    weights = U @ U.T * (sum(pivots, ca.SX(0)) / len(pivots))
    return {(i, j): weights[a, b] for a, i in enumerate(unknowns) for b, j in enumerate(unknowns)}


def _rows(J: ca.SX) -> list[Row]:
    rows: list[Row] = [{} for _ in range(J.shape[0])]
    positions = zip(*J.sparsity().get_triplet(), strict=True)
    for k, (i, j) in enumerate(positions):
        value = J.nz[k]
        if not value.is_zero():
            rows[i][j] = value
    return rows


def _eliminate(
    rows: list[Row], right: list[ca.SX], unknowns: list[int], unused: set[int]
) -> list[int]:
    """Eliminate ``unknowns`` from the ``unused`` rows, fewest entries first; return the order.

    A row keeps the entries of unknowns eliminated after it, for back substitution.
    """
    left = set(unknowns)
    order = []
    columns: dict[int, set[int]] = {}
    for i in unused:
        for j in rows[i]:
            columns.setdefault(j, set()).add(i)
    while left:
        k = min(left, key=lambda i: ((len(rows[i]) - 1) * (len(columns.get(i, ())) - 1), i))
        left.remove(k)
        order.append(k)
        for j in rows[k]:
            columns[j].discard(k)
        inverse = _negative_inverse(rows[k][k])
        others = {j: value for j, value in rows[k].items() if j != k}
        entries = ca.vertcat(*others.values(), right[k])
        for i in sorted(columns.pop(k, set()) - {k}):
            factor = rows[i].pop(k) * inverse
            # Of a whole row at once: calls of CasADi take far longer than what they do.
            changed = ca.vertcat(*(rows[i].get(j, 0) for j in others), right[i])
            *values, right[i] = ca.vertsplit(ca.densify(changed + factor * entries))
            rows[i].update(zip(others, values, strict=True))
            for j in others:
                columns.setdefault(j, set()).add(i)
    return order


def _negative_inverse(pivot: ca.SX) -> ca.SX:
    """Return -1 / pivot: a division takes as long as several products.

    Products with 1 / pivot CasADi makes divisions again.
    """
    return ca.SX(-1) / pivot
