"""Rank of joints and contacts, and inertia on the free motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nsopt.mechanics.dynamics import Dynamics

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


def redundancy(dynamics: Dynamics) -> int:
    """Return how many rows of the ideal joints the others imply, at the stated start.

    Such mechanisms solve; their reactions are those of least norm.
    """
    q, _ = dynamics.stated_start()
    C = np.asarray(dynamics.closure_matrix(0, q, dynamics.values()))
    return int(C.shape[0]) - rank(C)


def check_mass(dynamics: Dynamics) -> None:
    """Refuse a mass matrix that is singular on the motions the ideal joints leave free.

    Raises
    ------
    ValueError
        Naming the velocity that has no inertia.
    """
    q, _ = dynamics.stated_start()
    p = dynamics.values()
    M = np.asarray(dynamics.mass(q, p))
    Z = null_space(np.asarray(dynamics.closure_matrix(0, q, p)))
    if Z.shape[1] == 0:
        return
    values, vectors = np.linalg.eigh(Z.T @ M @ Z)
    if values[0] <= 1e-14 * max(values[-1], 0.0):
        motion = Z @ vectors[:, 0]
        name = dynamics.v_names[int(np.argmax(np.abs(motion)))]
        body, component = name.rsplit(".", 1)
        raise ValueError(
            f"body {body!r} can move ({component}) without any inertia: give it a mass and an "
            "inertia, or a joint that holds this motion"
        )
