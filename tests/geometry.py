"""Distances of the gaps of the catalogue by NumPy alone, independent of nsopt.

Each is a function of the offset d (3,) [m] and the rotation R (3, 3) of frame b, seen from frame a.
"""

import numpy as np
from scipy.spatial import ConvexHull

CLEARANCE = 5e-3  # m
TRIANGLE = ((0.0, 0.03), (-0.025, -0.015), (0.025, -0.015))
IRREGULAR = ((0.03, -0.02), (0.02, 0.025), (-0.025, 0.015), (-0.015, -0.025))


def off_axis(x):
    """Distance of a point from the z axis."""
    return np.linalg.norm(np.cross(x, [0, 0, 1]))


def ends(d, R, length=0.1):
    """Both ends of a bushing along its own z."""
    return d - R @ [0, 0, length / 2], d + R @ [0, 0, length / 2]


def cylindrical(d, R):
    return [CLEARANCE - off_axis(x) for x in ends(d, R)]


def revolute(d, R):
    low, high = ends(d, R)
    return [*cylindrical(d, R), low[2] + 0.05 + 4e-3, 0.05 + 4e-3 - high[2]]


def prismatic(polygon):
    """Each vertex and the two faces of the hull that meet there, moved out by the clearance."""

    def distances(d, R):
        hull, gaps = ConvexHull(polygon), []
        for z in (-0.05, 0.05):
            for k, (x, y) in enumerate(polygon):
                point = d + R @ [x, y, z]
                planes = hull.equations[np.any(hull.simplices == k, axis=1)]
                gaps += [CLEARANCE - plane @ [*point[:2], 1] for plane in planes]
        return gaps

    return distances


def spherical(d, _):
    return [CLEARANCE - np.linalg.norm(d)]


def planar_revolute(d, _):
    return [CLEARANCE - off_axis(d)]


def planar_prismatic(d, R):
    corners = {side: [d + R @ [x, side * 0.02, 0] for x in (-0.05, 0.05)] for side in (1, -1)}
    return [0.02 + CLEARANCE - side * x[1] for side, pair in corners.items() for x in pair]


def plane(d, _):
    return [d[2] + 0.01]


def sphere(d, _):
    return [np.linalg.norm(np.add(d, [0.24, 0, 0.18])) - 0.29]


def cylinder(d, _):
    return [off_axis(np.add(d, [0.2, 0, 0.1])) - 0.19]


def box(size, radius, x, z):
    """A sphere and a box: the distance of its centre from the nearest point of the box."""

    def distances(d, _):
        offset = np.add(d, [x, 0, z])
        sides = [np.array([-edge / 2, edge / 2]) for edge in size]
        nearest = [np.clip(c, *side) for c, side in zip(offset, sides, strict=True)]
        return [np.linalg.norm(offset - nearest) - radius]

    return distances
