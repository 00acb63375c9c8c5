"""Numerical rank and null space of matrices."""

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-9
"""Singular values below this part of the largest count as zero."""


def rank(matrix: NDArray[np.float64]) -> int:
    """Return the numerical rank."""
    if matrix.size == 0:
        return 0
    singular = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(singular > TOLERANCE * max(singular[0], 1e-300)))


def null_space(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an orthonormal basis of the null space, shape (n, n - rank)."""
    if matrix.shape[0] == 0:
        return np.eye(matrix.shape[1])
    return np.linalg.svd(matrix)[2][rank(matrix) :].T
