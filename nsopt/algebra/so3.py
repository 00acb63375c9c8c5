"""Rotation matrices from what a user states."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def axes_from_z(direction: ArrayLike) -> NDArray[np.float64]:
    """Return a rotation matrix whose third column is along ``direction``.

    The first column is the world axis least aligned with ``direction``, made perpendicular to it;
    along ``(0, 0, 1)`` the result is the identity.

    Parameters
    ----------
    direction : (3,)
        Any length but zero.

    Returns
    -------
    (3, 3) ndarray
        Columns x, y, z.

    Raises
    ------
    ValueError
        If ``direction`` has no length or is not finite.
    """
    z = np.asarray(direction, dtype=float)
    length = np.linalg.norm(z)
    if z.shape != (3,) or not np.isfinite(length) or length == 0:
        raise ValueError(f"an axis needs three finite numbers, not all zero; got {z}")
    z = z / length
    x = np.eye(3)[np.argmin(np.abs(z))]
    x = x - z * (x @ z)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
