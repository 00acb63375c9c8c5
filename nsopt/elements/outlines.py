"""Polylines for pictures of joints and bodies."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.checks import finite, not_negative, positive

Points = NDArray[np.float64]


def circle(radius: float, z: float) -> Points:
    """Return a circle about the z axis, shape (25, 3) [m]."""
    angle = np.linspace(0, 2 * np.pi, 25)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(25, z)])


def tube(radius: float, length: float) -> list[Points]:
    """Return both end circles of a tube about z and four lines along it."""
    ends = [circle(radius, -length / 2), circle(radius, length / 2)]
    return ends + [np.array([ends[0][k], ends[1][k]]) for k in (0, 6, 12, 18)]


def prism(polygon: Points, length: float) -> list[Points]:
    """Return both end faces of a prism along z, ``polygon`` (n, 2) [m], and its edges."""
    loop = np.vstack([polygon, polygon[:1]])
    faces = [np.column_stack([loop, np.full(len(loop), z)]) for z in (-length / 2, length / 2)]
    return faces + [np.array([faces[0][k], faces[1][k]]) for k in range(len(polygon))]


def link_outline(a: ArrayLike, b: ArrayLike, width: float) -> list[Points]:
    """Return a link of a planar mechanism: rounded about two joints, and the eyes of these.

    Parameters
    ----------
    a, b : (3,) [m]
        Where the joints are, in body axes, at one z.
    width : float [m]

    Returns
    -------
    list of (n, 3) [m]
        For `Body.outline`.

    Raises
    ------
    ValueError
        If the joints coincide or are not at one z, or the width is not positive.
    """
    ends = [finite(f"joint {name} of link_outline", x, (3,)) for name, x in (("a", a), ("b", b))]
    radius = positive("width of link_outline", width) / 2
    along = ends[1] - ends[0]
    if along[2] or not np.any(along):
        raise ValueError(
            f"link_outline is of two joints at one z, got a = {ends[0].tolist()} and b = "
            f"{ends[1].tolist()}"
        )
    heading = np.arctan2(along[1], along[0])
    half = np.linspace(np.pi / 2, 3 * np.pi / 2, 13)  # half a circle, away from the other joint
    caps = [
        end + radius * np.column_stack([np.cos(turn), np.sin(turn), np.zeros(13)])
        for end, turn in zip(ends, (heading + half, heading + half + np.pi), strict=True)
    ]
    rim = np.vstack([*caps, caps[0][:1]])
    return [rim, *(end + circle(0.4 * radius, 0.0) for end in ends)]


def box_outline(x: float, y: float, z: float = 0.0) -> list[Points]:
    """Return a box about the centre of mass, a rectangle without a depth z.

    Parameters
    ----------
    x, y, z : float [m]
        Lengths of its edges along the axes of the body.

    Returns
    -------
    list of (n, 3) [m]
        For `Body.outline`.

    Raises
    ------
    ValueError
        If x or y are not positive, or z is negative.
    """
    a, b = (positive(f"{name} of box_outline", n) / 2 for name, n in (("x", x), ("y", y)))
    polygon = np.array([[a, b], [-a, b], [-a, -b], [a, -b]])
    if not not_negative("z of box_outline", z):
        return [np.column_stack([np.vstack([polygon, polygon[:1]]), np.zeros(5)])]
    return prism(polygon, z)


def capsule_outline(a: ArrayLike, b: ArrayLike, radius: float) -> list[Points]:
    """Return a capsule about the segment from a to b, a sphere if they are one point.

    Parameters
    ----------
    a, b : (3,) [m]
    radius : float [m]
        Zero for the segment alone.

    Returns
    -------
    list of (n, 3) [m]
        Two lines around it, across each other, and a circle at each end of the segment.
    """
    ends = [finite(f"end {name} of capsule_outline", x, (3,)) for name, x in (("a", a), ("b", b))]
    if not not_negative("radius of capsule_outline", radius):
        return [np.array(ends)]
    along = ends[1] - ends[0]
    reach = float(np.linalg.norm(along))
    axes = np.linalg.svd(along[None])[2] if reach else np.eye(3)  # rows, the first along a to b
    axes[0] = along / reach if reach else axes[0]
    turn = np.linspace(0, 2 * np.pi, 25)
    ring = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    rims = [end + ring @ axes[1:] for end in (ends if reach else ends[:1])]
    # The right half of a ring about the far end, its left half about the near one, closed.
    far, near = np.roll(ring[:-1], 6, axis=0)[:13], np.roll(ring[:-1], -6, axis=0)[:13]
    halves = [
        np.vstack([ends[1] + far @ plane, ends[0] + near @ plane, ends[1] + far[:1] @ plane])
        for plane in (axes[[0, 1]], axes[[0, 2]])
    ]
    return [*rims, *halves]
