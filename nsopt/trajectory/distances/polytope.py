"""Convex polytopes: their facets and edges, and enclosing ones of fewer facets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from nsopt.arrays import Array

ALIKE = 10
"""Decimals to which triangles of one facet have the same plane, lengths over the extent."""

SUM_WEIGHT = 1e4
"""Weight of the equation that shares of points add up to one, in least squares, over the extent."""


class Polytope(NamedTuple):
    """The points x with ``normals @ x <= offsets``."""

    normals: Array  # (f, 3) unit vectors that point out, one for each facet
    offsets: Array  # (f,) [m]
    edges: Array  # (e, 2, 3) [m] both ends of each edge between two facets
    vertices: Array  # (n, 3) [m]


def polytope_of(points: Array) -> Polytope:
    """Return the convex hull of points (n, 3) [m], not in one plane.

    The message of the ValueError goes on after a name of the points.
    """
    middle = points.mean(axis=0)
    extent = float(np.abs(points - middle).max())
    if len(points) < 4 or extent == 0:
        raise ValueError("must not be in one plane")
    try:
        hull = scipy.spatial.ConvexHull((points - middle) / extent)
    except scipy.spatial.QhullError:
        raise ValueError("must not be in one plane") from None
    equations, facet = np.unique(hull.equations.round(ALIKE), axis=0, return_inverse=True)
    vertices = points[hull.vertices]
    normals = equations[:, :3] / np.linalg.norm(equations[:, :3], axis=1)[:, None]
    # Neighbour k of a triangle is opposite its vertex k, and shares the other two.
    ends = [
        np.delete(triangle, k)
        for i, triangle in enumerate(hull.simplices)
        for k, j in enumerate(hull.neighbors[i])
        if i < j and facet[i] != facet[j]
    ]
    return Polytope(normals, (normals @ vertices.T).max(axis=1), points[np.array(ends)], vertices)


def enclose(exact: Polytope, facets: int) -> tuple[Polytope, float]:
    """Return a polytope of at most ``facets`` facets about another, and its largest excess [m].

    The box along the principal axes of the other is cut, again and again, at its corner farthest
    from it: by the plane that touches the other at its nearest point, across the way there.
    """
    if len(exact.normals) <= facets:
        return exact, 0.0
    middle = exact.vertices.mean(axis=0)
    v = exact.vertices - middle
    axes = np.linalg.svd(v, full_matrices=False)[2]
    normals = np.concatenate([axes, -axes])
    known: dict[bytes, tuple[float, Array]] = {}  # by corner, as most of them stay
    while True:
        halfspaces = np.column_stack([normals, -(normals @ v.T).max(axis=1)])
        corners = scipy.spatial.HalfspaceIntersection(halfspaces, np.zeros(3)).intersections
        beyond = [_measure_excess(v, corner, known) for corner in corners]
        worst, direction = max(beyond, key=lambda x: x[0])
        if len(normals) == facets:
            return polytope_of(corners + middle), worst
        normals = np.vstack([normals, direction])


def _measure_excess(
    v: Array, point: Array, known: dict[bytes, tuple[float, Array]]
) -> tuple[float, Array]:
    """Return distance [m] and direction (3,) from the hull of points v (n, 3) to a point."""
    key = point.round(ALIKE).tobytes()
    if key not in known:
        away = point - nearest_of_hull(v, point)
        distance = float(np.linalg.norm(away))
        known[key] = distance, away / max(distance, np.finfo(float).tiny)
    return known[key]


def nearest_of_hull(v: Array, point: Array) -> Array:
    """Return the point of the hull of points v (n, 3) [m] that is nearest to a point.

    Its shares of the points, not negative and of sum one, are least squares.
    """
    extent = float(np.abs(v - point).max()) or 1.0
    weight = SUM_WEIGHT * extent
    shares = scipy.optimize.nnls(
        np.vstack([v.T - point[:, None], np.full(len(v), weight)]), [0, 0, 0, weight]
    )[0]
    nearest: Array = shares @ v / shares.sum()
    return nearest
