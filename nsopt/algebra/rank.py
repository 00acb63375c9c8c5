"""Numerical rank and null space of matrices, and parts that no entry couples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-9  # singular values below this part of the largest count as zero

CLEAR = 1e-10
"""Least square of a singular value, over that of the largest, which round-off leaves positive."""


def rank(matrix: NDArray[np.float64]) -> int:
    """Return the numerical rank."""
    if matrix.size == 0:
        return 0
    singular = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(singular > TOLERANCE * max(singular[0], 1e-300)))  # 0 of zeros alone


def null_space(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an orthonormal basis of the null space, shape (n, n - rank)."""
    if matrix.shape[0] == 0:
        return np.eye(matrix.shape[1])
    return np.linalg.svd(matrix)[2][rank(matrix) :].T


def has_independent_rows(matrix: NDArray[np.float64]) -> bool:
    """Return whether the rows (m, n) are clearly independent, far from `TOLERANCE`.

    Their Gram matrix tells, in a fraction of the time that singular values take.
    """
    if not matrix.size:
        return not len(matrix)
    squares = np.linalg.eigvalsh(matrix @ matrix.T)
    return bool(squares[0] > CLEAR * squares[-1])


def new_directions(blocks: Sequence[NDArray[np.float64]]) -> list[int]:
    """Return by how much the rows of each block (rows, n) raise the rank of those before it."""
    if not blocks:
        return []
    size = max(float(np.linalg.norm(np.concatenate(blocks), 2)), 1e-300)
    basis, raises = np.zeros((0, blocks[0].shape[1])), []  # of the rows before, orthonormal
    for block in blocks:
        rest = block
        for _ in range(2):  # once more, for what round-off leaves
            rest = rest - rest @ basis.T @ basis
        _, values, vectors = np.linalg.svd(rest, full_matrices=False)
        raises.append(int(np.sum(values > TOLERANCE * size)))
        basis = np.concatenate([basis, vectors[: raises[-1]]])
    return raises


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
