"""Screws and rigid motions: se(3) and SE(3) [mobility 2016, Appendix].

A screw (6,) is first its angular part e, along the axis, then its linear part s x e + h e, of a
point s of the axis and the pitch h. Arrays may have more axes behind these, and hold numbers,
CasADi or SymPy expressions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def cross(a: Array, b: Array, axis: int = 0) -> Array:
    """Return the vector product of arrays with three entries along ``axis``."""
    x, y = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    parts = [x[i] * y[j] - x[j] * y[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return np.stack(parts, axis)


def bracket(X: Array, Y: Array, axis: int = 0) -> Array:
    """Return the screw product [X, Y], six entries along ``axis``."""
    w, u = np.split(X, 2, axis)
    o, v = np.split(Y, 2, axis)
    return np.concatenate([cross(w, o, axis), cross(w, v, axis) + cross(u, o, axis)], axis)


def ad(X: Array) -> Array:
    """Return the matrix (6, 6) that takes a screw Y to [X, Y]."""
    return np.stack([bracket(X, column) for column in np.eye(6, dtype=int)], axis=1)


def Ad(R: Array, r: Array) -> Array:
    """Return the matrix (6, 6) that takes screws (e, v) out of a frame at r with axes R (3, 3).

    To the angular part R e and the linear part R v + r x R e, r (3,).
    """
    moment = np.stack([cross(r, column) for column in R.T], axis=1)
    upper = np.concatenate([R, np.zeros((3, 3), dtype=R.dtype)], axis=1)
    return np.concatenate([upper, np.concatenate([moment, R], axis=1)], axis=0)


def exp(Y: NDArray[np.float64], q: float = 1.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the motion exp(Y q) as rotation (3, 3) and translation (3,).

    The screw may have any size, also no rotation.
    """
    w, v = q * Y[:3], q * Y[3:]
    W = _skew(w)
    angle = np.linalg.norm(w)
    if angle < 1e-4:  # the series to rounding
        a, b, c = 1 - angle**2 / 6, (1 - angle**2 / 12) / 2, (1 - angle**2 / 20) / 6
    else:
        a, b = np.sin(angle) / angle, (1 - np.cos(angle)) / angle**2
        c = (1 - a) / angle**2
    return np.eye(3) + a * W + b * W @ W, v + b * W @ v + c * W @ W @ v


def _skew(w: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
