"""Polylines for pictures of joints."""

import numpy as np
from numpy.typing import NDArray

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
