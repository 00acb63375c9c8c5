"""Many linear systems of one pattern, such as at the nodes of a motion, solved part by part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array


def solve_systems(A: Array, b: Array) -> Array:
    """Return x with A x = b, by least squares where A is singular; NaN where b has a NaN.

    Unknowns that no entry of any A connects are solved for apart: for all bodies of a mechanism
    together the work would grow with the third power of their number.

    Parameters
    ----------
    A : (n, m, m)
    b : (n, m, k)

    Returns
    -------
    (n, m, k)
    """
    x = np.zeros_like(b)
    for rows in find_parts(np.any(A != 0, axis=0)):
        right = b[:, rows]
        columns = np.flatnonzero(np.any(right != 0, axis=(0, 1)))  # of others x is zero
        x[:, rows[:, None], columns] = _solve(A[:, rows[:, None], rows], right[:, :, columns])
    return x


def find_parts(coupled: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Return the indices of each part of a matrix (n, n) that no entry couples with another.

    Each index takes the least label of its neighbours until none changes. (SciPy's
    connected_components would do, but takes a fifth of a second to load.)
    """
    n = len(coupled)
    linked, labels = coupled | coupled.T | np.eye(n, dtype=bool), np.arange(n)
    while True:
        least = np.where(linked, labels, n).min(axis=1, initial=n)
        least = least[least]  # of the least in turn, so that long chains take few rounds
        if np.array_equal(least, labels):
            return [np.flatnonzero(labels == k) for k in np.unique(labels)]
        labels = least


def _solve(A: Array, b: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(A, b))
    except np.linalg.LinAlgError:
        known = np.isfinite(b).all(axis=(1, 2))
        x = np.full_like(b, np.nan)
        for k in np.flatnonzero(known):
            x[k] = np.linalg.lstsq(A[k], b[k], rcond=None)[0]
        return x
