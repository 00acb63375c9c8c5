"""Hinges of Bennett's linkage, on which Goldberg's are built too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]


class Link(NamedTuple):
    """The common normal of two hinges: its length [m], and the angle by which it twists [rad]."""

    length: float
    twist: float


def partner(link: Link, length: float) -> Link:
    """Return the other link of a Bennett linkage: sin(twist) / length is the same."""
    return Link(length, float(np.arcsin(length * np.sin(link.twist) / link.length)))


def turn(axis: str, angle: float) -> Array:
    """Return the rotation about x or z."""
    return np.asarray(Rotation.from_euler(axis, angle).as_matrix(), dtype=float)


def hinges(
    first: Link, second: Link, angle: float, point: Array, axes: Array
) -> list[tuple[Array, Array]]:
    """Return points and axes (3, 3), hinge along z, of the four hinges of a Bennett linkage.

    Parameters
    ----------
    first, second : Link
        From hinge 1 to 2 and 3 to 4, and from 2 to 3 and 4 to 1.
    angle : float [rad]
        At hinge 1, from x of ``axes`` to the first link.
    point, axes : (3,), (3, 3)
        Of hinge 1.
    """
    a, b = first.twist, second.twist
    other = 2 * np.arctan(np.sin((b + a) / 2) / np.sin((b - a) / 2) / np.tan(angle / 2))
    found = [(point, axes)]
    for link, by in ((first, angle), (second, other), (first, -angle)):
        r, A = found[-1]
        turned = A @ turn("z", by)
        found.append((r + turned[:, 0] * link.length, turned @ turn("x", link.twist)))
    return found


def beside(
    shared: tuple[tuple[Array, Array], tuple[Array, Array]], first: Link, second: Link, angle: float
) -> list[tuple[Array, Array]]:
    """Return the hinges of a Bennett linkage that shares its first link with another.

    Parameters
    ----------
    shared : pair of hinges
        Where the link starts and ends.
    first, second : Link
    angle : float [rad]
        At the first hinge, as in `hinges`.
    """
    (point, axes), (end, _) = shared
    z = axes[:, 2]
    x = (end - point) / np.linalg.norm(end - point)
    along = np.column_stack([x, np.cross(z, x), z])
    return hinges(first, second, angle, point, along @ turn("z", -angle))


def screw(point: Array, axes: Array) -> Array:
    """Return the screw of a hinge along z."""
    e = axes[:, 2]
    return np.concatenate([e, np.cross(point, e)])
