"""Sparse Gaussian elimination of symbolic systems, as straight-line expressions."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

Row = dict[int, ca.SX]

TINY = 1e-300
"""Keeps a pivot that is exactly zero from dividing by zero; the step is then refused anyway."""


def solve_symbolic(
    J: ca.SX,
    r: ca.SX,
    deferred: Sequence[int],
    proximal: float | ca.SX,
    free: Sequence[tuple[Sequence[int], ca.SX]] = (),
) -> ca.SX:
    """Return x with J x = r, (n,), by elimination along the diagonal without interchanges.

    Parameters
    ----------
    J : SX (n, n)
        Row i is solved for unknown i.
    r : SX (n,)
    deferred : indices
        Unknowns whose diagonal may be zero until the others are eliminated: multipliers, whose
        pivots are then those of C A^-1 C^T. They come last.
    proximal : float or SX scalar
        Part of its own size that is added to each deferred pivot before the deferred ones are
        eliminated. Dependent rows then solve, their multipliers stay at the least change, and an
        iteration loses only that part of its convergence.
    free : pairs of indices and SX (number of indices, k), optional
        Deferred unknowns, and orthonormal combinations of them that J takes to zero: these stay as
        they are, but for the part of r along them, over the mean size of the pivots.
    """
    n = J.shape[0]
    rows = _rows(J)
    right = ca.vertsplit(ca.densify(r)) if n else []
    late = set(deferred)
    order = _eliminate(rows, right, [i for i in range(n) if i not in late], set(range(n)))
    held = [_held(rows, *combined) for combined in free]
    for i in late:
        pivot = rows[i].get(i, ca.SX(0))
        rows[i][i] = pivot + proximal * ca.fabs(pivot) + TINY
    for more in held:
        for (i, j), value in more.items():
            rows[i][j] = rows[i].get(j, ca.SX(0)) + value
    order += _eliminate(rows, right, sorted(late), late)
    x: list[ca.SX] = [ca.SX(0)] * n
    for i in reversed(order):
        known = sum((a * x[j] for j, a in rows[i].items() if j != i), ca.SX(0))
        x[i] = (known - right[i]) * _negative_inverse(rows[i][i])
    return ca.vertcat(ca.SX(0, 1), *x)


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
