"""Wanted axes, and by how much others are turned from them."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.mechanics.checks import finite

SAME = 1e-6


def check_axes(what: str, axes: ArrayLike) -> NDArray[np.float64]:
    """Return axes as a rotation matrix, (3, 3); ValueError named ``what`` if they are none."""
    A = finite(what, axes, (3, 3))
    if not np.allclose(A.T @ A, np.eye(3), atol=SAME) or np.linalg.det(A) < 0:
        raise ValueError(
            f"{what} must be a rotation matrix, columns the axes in the world, got {A.tolist()}"
        )
    return A


def turned(axes: ArrayLike, A: ca.SX) -> ca.SX:
    """Return the rotation from wanted axes to A, (3, 3), the identity where both are the same."""
    return ca.SX(ca.DM(np.asarray(axes, dtype=float))).T @ A
