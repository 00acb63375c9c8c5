"""Rotation matrices: from an axis, as a vector, and without round-off."""

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUND_OFF = 1e-14
"""Entries of rotation matrices this near to 0, 1 or -1 are meant to be that."""


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


def without_round_off(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a rotation matrix with entries within 1e-14 of 0, 1 or -1 made exactly that.

    Zeros and ones that are exact drop out of expressions; a cosine of pi/2 does not.
    """
    whole = np.round(R)
    return np.where(np.abs(R - whole) <= ROUND_OFF, whole, R) + 0.0


SMALL = 1e-4
"""Squared sine of an angle below which the angle over its sine is taken from its series."""


def rotation_vector(R: ca.SX) -> ca.SX:
    """Return theta n (3,) [rad] of a rotation R (3, 3) by theta < pi about the unit vector n.

    Smooth also where there is no turn.
    """
    sine = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2
    x, cosine = ca.sumsqr(sine), (ca.trace(R) - 1) / 2
    # theta / sin(theta) of x = sin(theta)^2, the series of the arc sine.
    series = 1 + x * (1 / 6 + x * (3 / 40 + x * (15 / 336 + x * 105 / 3456)))
    small = ca.logic_and(x < SMALL, cosine > 0)
    size = ca.sqrt(ca.if_else(small, 1, x))  # 1 where the series is taken instead
    return sine * ca.if_else(small, series, ca.atan2(size, cosine) / size)
