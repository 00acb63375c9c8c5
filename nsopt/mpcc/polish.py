"""Newton steps on the active set: from a solver's tolerance to round-off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.compiled import Case, Compiled
from nsopt.mpcc.layout import Layout, Vector

ACTIVE = 1e-8  # scaled distance at which a bound or an inequality counts as met with equality
REACH = 1e-3  # a polish that moves further than this has left the solution it was given
STEPS = 8
RANK = 1e-11  # singular values below RANK times the largest count as zero
SMALL = 1e-8  # the step after one of this size changes nothing: Newton's error is its square


def polish(compiled: Compiled, x: Vector, case: Case) -> Vector | None:
    """Return x with c = 0 and the smaller of each pair = 0 to round-off, or None if that fails.

    Parameters
    ----------
    compiled : Compiled
    x : (n,)
        Scaled point near a solution.
    case : Case

    Notes
    -----
    Rows solved: c, the inequalities met with equality, G of a pair where G < H and H elsewhere.
    Variables at a bound are held there. Each step is the least-squares step of least norm, so
    redundant rows are harmless. Dense linear algebra: the cost grows with the cube of n.
    """
    current = np.clip(x, case.lower, case.upper)
    free = snap(current, case)
    rows, jacobian = compiled.linear(current, case)
    active = active_rows(compiled.layout, rows)
    best, error = current, _largest(rows[active])
    for _ in range(STEPS):
        try:
            step = np.linalg.lstsq(jacobian[active[:, None], free], rows[active], RANK)[0]
        except np.linalg.LinAlgError:  # the SVD of a Jacobian with NaN does not converge
            return None
        current = current.copy()
        current[free] -= step
        np.clip(current, case.lower, case.upper, out=current)
        free = snap(current, case)
        rows, jacobian = compiled.linear(current, case)
        previous, error = error, _largest(rows[active])
        if not error < previous:
            break
        best = current
        if _largest(step) < SMALL:
            break
    moved = np.abs(best - x).max()
    return best if moved <= REACH * (1 + np.abs(x).max()) else None


def active_rows(layout: Layout, rows: Vector) -> NDArray[np.intp]:
    """Return the indices of the rows that hold with equality."""
    c, d, m = layout.equations, layout.inequalities, layout.pairs
    G, H = rows[c + d : c + d + m], rows[c + d + m :]
    limits = c + np.flatnonzero(rows[c : c + d] > -ACTIVE)
    pairs = c + d + np.arange(m) + np.where(G < H, 0, m)
    return np.concatenate([np.arange(c), limits, pairs])


def snap(x: Vector, case: Case) -> NDArray[np.intp]:
    """Move x to the bounds it is at, in place, and return the indices of the free unknowns."""
    at_lower = x - case.lower <= ACTIVE
    at_upper = case.upper - x <= ACTIVE
    x[at_lower] = case.lower[at_lower]
    x[at_upper] = case.upper[at_upper]
    return np.flatnonzero(~(at_lower | at_upper))


def _largest(values: Vector) -> float:
    return float(np.abs(values).max(initial=0.0))
