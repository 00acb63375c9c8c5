"""The ends of single programs: to round-off (`polish`), to least norm (`take_least_norm`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from nsopt.mpcc.solve.functions import Case, Functions
from nsopt.mpcc.statement.layout import ACTIVE, Layout, Vector

NEGATIVE = 1e-10  # scaled; a half of a pair below minus this counts as negative
ROUND_OFF = 1e-13  # scaled; less than this below a bound counts as at the bound
REACH = 1e-3  # relative; a polish that moves further has left the solution it was given
STEPS = 8  # of Newton at most
RANK = 1e-11  # singular values below RANK times the largest count as zero
SMALL = 1e-8  # the step after one of this size changes nothing: Newton's error is its square


def polish(functions: Functions, x: Vector, rows: Vector, case: Case) -> Vector | None:
    """Return x with c = 0 and the smaller of each pair = 0 to round-off, or None if that fails.

    x (n,) is scaled and near a solution, rows (r,) are c, d, G, H there. Newton's method makes c,
    the inequalities met with equality, G of pairs where G < H, and H of others zero. A pair whose
    other half turns negative is taken the other way round, once. Variables at a bound stay there.
    Each step is the least-squares step of least norm, so redundant rows are harmless. Dense linear
    algebra: the cost grows with the cube of n.
    """
    G, H = _split_halves(functions.layout, rows)
    closed = G < H
    for _ in range(2):
        solution = _newton(functions, x, case, find_active_rows(functions.layout, rows, closed))
        if solution is None:
            return None
        point, end = solution
        G, H = _split_halves(functions.layout, end)
        wrong = np.minimum(G, H) < -NEGATIVE
        if not wrong.any():
            return point
        closed ^= wrong
    return None


def clip_round_off(x: Vector, case: Case) -> Vector:
    """Return x (n,) with entries that are below a bound by round-off alone at the bound."""
    return np.where((x < case.lower) & (x > case.lower - ROUND_OFF), case.lower, x)


def find_active_rows(layout: Layout, rows: Vector, closed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the indices of the rows that hold with equality: G of ``closed`` pairs, else H."""
    c, d, m = layout.equations, layout.inequalities, layout.pairs
    limits = c + np.flatnonzero(rows[c : c + d] > -ACTIVE)
    return np.concatenate([np.arange(c), limits, c + d + np.arange(m) + np.where(closed, 0, m)])


def _newton(
    functions: Functions, x: Vector, case: Case, active: NDArray[np.intp]
) -> tuple[Vector, Vector] | None:
    """Return x where ``active`` rows vanish, and all rows there; None if no step came nearer."""
    start = current = _snap(x, case)
    rows, jacobian = functions.linearise(current, case)
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
        rows, jacobian = functions.linearise(current, case)
        previous, error = error, _largest(rows[active])
        if not error < previous:
            break
        best = (current, rows)
        if _largest(step) < SMALL:
            break
    if best[0] is start or _largest(best[0] - x) > REACH * (1 + _largest(x)):
        return None
    return best


def _split_halves(layout: Layout, rows: Vector) -> tuple[Vector, Vector]:
    """Return scaled G and H."""
    m = layout.pairs
    return rows[rows.size - 2 * m : rows.size - m], rows[rows.size - m :]


def _snap(x: Vector, case: Case) -> Vector:
    """Return x (n,) with entries that are near a bound, or outside, at the bound."""
    x = np.where(x - case.solver_lower <= ACTIVE, case.solver_lower, x)
    return np.where(case.upper - x <= ACTIVE, case.upper, x)


def _largest(values: NDArray[np.floating[Any]]) -> float:
    return float(np.abs(values).max(initial=0.0))


NULL = 1e-9  # singular values below NULL times the largest count as zero


def take_least_norm(functions: Functions, x: Vector, case: Case) -> Vector:
    """Return x with its `Mpcc.least_norm` blocks at least norm, or x itself if nothing is free.

    x (n,) is a scaled solution, polished. With u the blocks in physical units and N a basis of the
    null space, minimize |u + N z| subject to the linearised inequalities: bounds of u, d <= 0,
    H >= 0 of closed pairs, G >= 0 of open ones. That is Lawson and Hanson's least-distance program,
    solved by non-negative least squares.
    """
    columns = functions.layout.least
    if columns.size == 0:
        return x
    rows, jacobian = functions.linearise(x, case)
    held, limits = _split_rows(functions, rows)
    scale = functions.layout.scale[columns]
    basis = _find_null_space(jacobian[held[:, None], columns], scale)
    if basis.shape[1] == 0:
        return x
    u = x[columns] * scale
    slope = np.vstack([jacobian[:, columns] / scale, np.diag(1 / scale), np.diag(-1 / scale)])
    value = np.concatenate(
        [rows, x[columns] - case.lower[columns], case.upper[columns] - x[columns]]
    )
    sign = np.ones(value.size)
    c, d = functions.layout.equations, functions.layout.inequalities
    sign[c : c + d] = -1.0
    keep = np.concatenate([limits, np.arange(rows.size, value.size)])
    keep = keep[np.isfinite(value[keep])]
    # A row violated by round-off counts as met, or there would be no feasible point.
    room = np.maximum(sign[keep] * value[keep], 0.0)
    z = _find_least_distance(basis.T @ u, sign[keep, None] * (slope[keep] @ basis), room)
    if z is None:
        return x
    moved = x.copy()
    moved[columns] += basis @ z / scale
    return moved


def _split_rows(functions: Functions, rows: Vector) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to hold at zero, and those to keep at zero or more; of d, at zero or less."""
    c, d, m = functions.layout.equations, functions.layout.inequalities, functions.layout.pairs
    closed = rows[c + d : c + d + m] < ACTIVE  # a pair with G = H = 0 may take load
    first = c + d + np.arange(m)
    held = np.where(closed, first, first + m)
    kept = np.where(closed, first + m, first)
    return np.concatenate([np.arange(c), held]), np.concatenate([c + np.arange(d), kept])


def _find_null_space(A: Vector, scale: Vector) -> Vector:
    """Return an orthonormal basis in physical units of the null space of A, of scaled columns."""
    if A.shape[0] == 0:
        return np.eye(scale.size)
    _, values, right = np.linalg.svd(A)
    rank = int(np.sum(values > NULL * values[0])) if values.size else 0
    return np.linalg.qr(scale[:, None] * right[rank:].T)[0]


def _find_least_distance(a: Vector, C: Vector, room: Vector) -> Vector | None:
    """Return z with |a + z| least subject to C z + room >= 0, or None where none is found."""
    if np.all(C @ -a + room >= 0):
        return -a
    # Lawson and Hanson (1974), chapter 23, in y = a + z: |y| least, C y >= need
    need = C @ a - room
    size = np.abs(need).max()
    E = np.vstack([C.T, need / size])
    target = np.zeros(E.shape[0])
    target[-1] = 1.0
    dual, residual = scipy.optimize.nnls(E, target)
    if residual < 1e-12:  # E dual = target: no y meets the rows
        return None
    r = E @ dual - target
    return np.asarray(-r[:-1] / r[-1] * size - a)
