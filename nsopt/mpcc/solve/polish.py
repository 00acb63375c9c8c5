"""Newton steps on the active set: from a solver's tolerance to round-off."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.solve.functions import Case, Functions
from nsopt.mpcc.statement.layout import ACTIVE, Layout, Vector

NEGATIVE = 1e-10  # scaled; below, a half of a pair counts as negative
ROUND_OFF = 1e-13  # scaled; less than this below a bound counts as at the bound
REACH = 1e-3  # a polish that moves further than this has left the solution it was given
STEPS = 8
RANK = 1e-11  # singular values below RANK times the largest count as zero
SMALL = 1e-8  # the step after one of this size changes nothing: Newton's error is its square


def polish(functions: Functions, x: Vector, rows: Vector, case: Case) -> Vector | None:
    """Return x with c = 0 and the smaller of each pair = 0 to round-off, or None if that fails.

    x (n,) is scaled and near a solution, rows (r,) are c, d, G, H there. Solved are c, the
    inequalities met with equality, G of a pair where G < H and H elsewhere. A pair whose other half
    turns negative is taken the other way round, once. Variables at a bound are held there. Each
    step is the least-squares step of least norm, so redundant rows are harmless. Dense linear
    algebra: the cost grows with the cube of n.
    """
    G, H = _halves(functions.layout, rows)
    closed = G < H
    for _ in range(2):
        solution = _newton(functions, x, case, active_rows(functions.layout, rows, closed))
        if solution is None:
            return None
        point, end = solution
        G, H = _halves(functions.layout, end)
        wrong = np.minimum(G, H) < -NEGATIVE
        if not wrong.any():
            return point
        closed ^= wrong
    return None


def lift(x: Vector, case: Case) -> Vector:
    """Return x (n,) with what is below a bound by round-off only at the bound."""
    return np.where((x < case.lower) & (x > case.lower - ROUND_OFF), case.lower, x)


def active_rows(layout: Layout, rows: Vector, closed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the indices of the rows that hold with equality: G of ``closed`` pairs, else H."""
    c, d, m = layout.equations, layout.inequalities, layout.pairs
    limits = c + np.flatnonzero(rows[c : c + d] > -ACTIVE)
    return np.concatenate([np.arange(c), limits, c + d + np.arange(m) + np.where(closed, 0, m)])


def _newton(
    functions: Functions, x: Vector, case: Case, active: NDArray[np.intp]
) -> tuple[Vector, Vector] | None:
    """Return where the ``active`` rows vanish and all rows there; None if no step came nearer."""
    start = current = _snap(x, case)
    rows, jacobian = functions.linear(current, case)
    best, error = (current, rows), _largest(rows[active])
    for _ in range(STEPS):
        free = np.flatnonzero((current > case.solver_lower) & (current < case.upper))
        if not np.isfinite(jacobian).all():
            return None
        try:
            step = np.linalg.lstsq(jacobian[active[:, None], free], rows[active], RANK)[0]
        except np.linalg.LinAlgError:  # the SVD of a Jacobian with NaN does not converge
            return None
        current = current.copy()
        current[free] -= step
        current = np.minimum(np.maximum(current, case.solver_lower), case.upper)
        rows, jacobian = functions.linear(current, case)
        previous, error = error, _largest(rows[active])
        if not error < previous:
            break
        best = (current, rows)
        if _largest(step) < SMALL:
            break
    if best[0] is start or _largest(best[0] - x) > REACH * (1 + _largest(x)):
        return None
    return best


def _halves(layout: Layout, rows: Vector) -> tuple[Vector, Vector]:
    """Return scaled G and H."""
    m = layout.pairs
    return rows[rows.size - 2 * m : rows.size - m], rows[rows.size - m :]


def _snap(x: Vector, case: Case) -> Vector:
    """Return x (n,) with what is near a bound, or outside, at the bound."""
    x = np.where(x - case.solver_lower <= ACTIVE, case.solver_lower, x)
    return np.where(case.upper - x <= ACTIVE, case.upper, x)


def _largest(values: NDArray[np.floating[Any]]) -> float:
    return float(np.abs(values).max(initial=0.0))
