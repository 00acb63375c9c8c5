"""Linear systems of one pattern, such as at the nodes of a motion, solved part by part."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def solve_systems(A: Array, b: Array) -> Array:
    """Return x with A x = b: of least squares where A is singular, NaN where b has one.

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
    for rows in _find_parts(A):
        right = b[:, rows]
        columns = np.flatnonzero(np.any(right != 0, axis=(0, 1)))
        found = _solve(A[:, rows[:, None], rows], right[:, :, columns])
        x[:, rows[:, None], columns] = found
    return x


def _find_parts(A: Array) -> Iterator[NDArray[np.intp]]:
    """Yield the unknowns of each part: entries of any of the systems connect them."""
    from scipy.sparse.csgraph import connected_components  # at first use, as it loads slowly

    count, part = connected_components(np.any(A != 0, axis=0), directed=False)
    for k in range(count):
        yield np.flatnonzero(part == k)


def _solve(A: Array, b: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(A, b))
    except np.linalg.LinAlgError:
        known = np.isfinite(b).all(axis=(1, 2))
        x = np.full_like(b, np.nan)
        for k in np.flatnonzero(known):
            x[k] = np.linalg.lstsq(A[k], b[k], rcond=None)[0]
        return x
