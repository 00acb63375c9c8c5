"""The least norm of unknowns that the constraints leave free, such as redundant reactions."""

from __future__ import annotations

import numpy as np
import scipy

from nsopt.mpcc.solve.functions import Case, Functions
from nsopt.mpcc.statement.layout import ACTIVE, Vector

RANK = 1e-9  # singular values below RANK times the largest count as zero


def least_norm(functions: Functions, x: Vector, case: Case) -> Vector:
    """Return x with its `Mpcc.least_norm` blocks at least norm, or x itself if nothing is free.

    x (n,) is a scaled solution, polished. With u the blocks in physical units and N a basis of the
    null space, minimize |u + N z| subject to the linearised inequalities: bounds of u, d <= 0,
    H >= 0 of closed pairs, G >= 0 of open ones. That is Lawson and Hanson's least-distance program,
    solved by non-negative least squares.
    """
    columns = functions.layout.least
    if columns.size == 0:
        return x
    rows, jacobian = functions.linear(x, case)
    held, limits = _split(functions, rows)
    scale = functions.layout.scale[columns]
    basis = _null_space(jacobian[held[:, None], columns], scale)
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
    # a row met with round-off counts as met, or the program would have no feasible point
    room = np.maximum(sign[keep] * value[keep], 0.0)
    z = _least_distance(basis.T @ u, sign[keep, None] * (slope[keep] @ basis), room)
    if z is None:
        return x
    moved = x.copy()
    moved[columns] += basis @ z / scale
    return moved


def _split(functions: Functions, rows: Vector) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to hold, and those to keep at >= 0 (d: <= 0)."""
    c, d, m = functions.layout.equations, functions.layout.inequalities, functions.layout.pairs
    closed = rows[c + d : c + d + m] < ACTIVE  # a pair with G = H = 0 may take load
    first = c + d + np.arange(m)
    held = np.where(closed, first, first + m)
    kept = np.where(closed, first + m, first)
    return np.concatenate([np.arange(c), held]), np.concatenate([c + np.arange(d), kept])


def _null_space(A: Vector, scale: Vector) -> Vector:
    """Return an orthonormal basis, physical units, of the null space of A given in scaled ones."""
    if A.shape[0] == 0:
        return np.eye(scale.size)
    _, values, right = np.linalg.svd(A)
    rank = int(np.sum(values > RANK * values[0])) if values.size else 0
    return np.linalg.qr(scale[:, None] * right[rank:].T)[0]


def _least_distance(a: Vector, C: Vector, room: Vector) -> Vector | None:
    """Return z with |a + z| least subject to C z + room >= 0, or None where none is found."""
    plain = -a
    if np.all(C @ plain + room >= 0):
        return plain
    # Lawson and Hanson (1974), chapter 23, in y = a + z: |y| least, C y >= C a - room
    need = C @ a - room
    size = np.abs(need).max()
    E = np.vstack([C.T, need / size])
    target = np.zeros(E.shape[0])
    target[-1] = 1.0
    dual, residual = scipy.optimize.nnls(E, target)
    if residual < 1e-12:
        return None
    r = E @ dual - target
    return np.asarray(-r[:-1] / r[-1] * size - a)
