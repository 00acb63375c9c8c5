"""Target axes, and rotations relative to them."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.checks import finite

TOLERANCE = 1e-6  # largest entry of A^T A - 1 of a rotation matrix A


def check_axes(label: str, axes: ArrayLike) -> NDArray[np.float64]:
    """Return axes as a rotation matrix, (3, 3); refuse others by a ValueError with ``label``."""
    A = finite(label, axes, (3, 3))
    if not np.allclose(A.T @ A, np.eye(3), atol=TOLERANCE) or np.linalg.det(A) < 0:
        raise ValueError(
            f"{label} must be a rotation matrix, columns the axes in the world, got {A.tolist()}"
        )
    return A


def relative_rotation(axes: ArrayLike, A: ca.SX) -> ca.SX:
    """Return the rotation from target axes to A, (3, 3), the identity where they coincide."""
    return ca.SX(ca.DM(np.asarray(axes, dtype=float))).T @ A
