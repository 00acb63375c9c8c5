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


def redundancy(dynamics: Dynamics, t: float, q: NDArray[np.float64], p: NDArray[np.float64]) -> int:
    """Return how many rows of the ideal joints the others imply, at a closed configuration.

    Such mechanisms solve; their reactions are those of least norm.
    """
    C = np.asarray(dynamics.closure_matrix(t, q, p))
    return int(C.shape[0]) - rank(C)


def check_mass(dynamics: Dynamics, q: NDArray[np.float64], p: NDArray[np.float64]) -> None:
    """Refuse a mass matrix that is singular on the motions the ideal joints leave free.

    Raises
    ------
    ValueError
        Naming the velocity that has no inertia.
    """
    M = np.asarray(dynamics.mass(q, p))
    # Scaled by its diagonal, so that a light body beside a heavy one is no massless body.
    size = np.sqrt(np.where(np.diag(M) > 0, np.diag(M), 1.0))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    massless = (vectors / size[:, None])[:, values < 1e-12]
    held = np.asarray(dynamics.closure_matrix(0, q, p)) @ massless
    free = massless @ null_space(held)
    if free.shape[1]:
        name = dynamics.v_names[int(np.argmax(np.abs(free[:, 0])))]
        owner, component = name.rsplit(".", 1)
        bodies = [body.name for body in dynamics.mechanism.bodies]
        kind = "body" if owner in bodies else "joint"
        raise ValueError(
            f"{kind} {owner!r} can move ({component}) without any inertia: give it a mass and an "
            "inertia, or a joint that holds this motion"
        )
