"""Poses of link frames, and rotation matrices whose simple entries are exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.algebra import ROUND_OFF, axes_from_z, without_round_off

Array = NDArray[np.float64]


class Pose(NamedTuple):
    """Axes and origin of a frame, seen from another."""

    axes: Array  # (3, 3) columns are x, y, z
    origin: Array  # (3,) [m]

    def then(self, other: Pose) -> Pose:
        """Return the pose of a frame that has the pose ``other`` in this one."""
        return Pose(without_round_off(self.axes @ other.axes), self.point(other.origin))

    def inverse(self) -> Pose:
        """Return the pose of the other frame seen from this one."""
        return Pose(self.axes.T, -self.axes.T @ self.origin)

    def point(self, r: ArrayLike) -> Array:
        """Return a point of this frame, (3,) [m], as the other frame sees it."""
        moved: Array = self.axes @ np.asarray(r, dtype=float) + self.origin
        return moved


def axes_along(direction: ArrayLike) -> Array:
    """Return a rotation matrix, (3, 3), whose z column is along ``direction``, (3,), not zero.

    For a direction along a coordinate axis a permutation of the axes; backwards, with two negative.
    """
    z = np.asarray(direction, dtype=float)
    z = z / np.linalg.norm(z)
    k = int(np.argmax(np.abs(z)))
    if np.any(np.abs(np.delete(z, k)) > ROUND_OFF):
        return without_round_off(axes_from_z(z))
    cyclic: Array = np.eye(3)[:, [(k + 1) % 3, (k + 2) % 3, k]]
    cyclic[:, 1:] *= np.sign(z[k])
    return cyclic + 0.0


def turn_x(angle: float) -> Array:
    """Return the rotation about x, (3, 3), angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return without_round_off(np.array([[1, 0, 0], [0, c, -s], [0, s, c]]))


def turn_z(angle: float) -> Array:
    """Return the rotation about z, (3, 3), angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return without_round_off(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
