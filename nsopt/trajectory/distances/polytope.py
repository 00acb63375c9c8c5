"""Convex polytopes: their facets and edges, and such that enclose them with fewer facets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

ALIKE = 10
"""Digits to which normals and offsets of one facet agree, points in units of their extent."""

SUM_WEIGHT = 1e4
"""Weight of the sum of shares in least squares, in units of the extent."""


class Polytope(NamedTuple):
    """The points x with ``normals @ x <= offsets``.

    Attributes
    ----------
    normals : (f, 3)
        Unit vectors that point out, one for each facet.
    offsets : (f,) [m]
    edges : (e, 2, 3) [m]
        Both ends of each edge; diagonals of facets are none.
    vertices : (n, 3) [m]
    """

    normals: Array
    offsets: Array
    edges: Array
    vertices: Array


def polytope_of(points: Array) -> Polytope:
    """Return the convex hull of points (n, 3) [m].

    Raises
    ------
    ValueError
        If they are in one plane.
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
    ends = [
        np.delete(simplex, k)
        for i, simplex in enumerate(hull.simplices)
        for k, j in enumerate(hull.neighbors[i])
        if i < j and facet[i] != facet[j]
    ]
    return Polytope(normals, (normals @ vertices.T).max(axis=1), points[np.array(ends)], vertices)


def enclosing(exact: Polytope, facets: int) -> tuple[Polytope, float]:
    """Return a polytope about another with no more than some facets, and its largest excess [m].

    The box along its principal axes is cut, again and again, where it reaches farthest beyond: by
    the plane through the nearest point, across the way to it.
    """
    if len(exact.normals) <= facets:
        return exact, 0.0
    middle = exact.vertices.mean(axis=0)
    v = exact.vertices - middle
    axes = np.linalg.svd(v, full_matrices=False)[2]
    normals = np.concatenate([axes, -axes])
    known: dict[bytes, tuple[float, Array]] = {}
    while True:
        halfspaces = np.column_stack([normals, -(normals @ v.T).max(axis=1)])
        corners = scipy.spatial.HalfspaceIntersection(halfspaces, np.zeros(3)).intersections
        beyond = [_beyond(v, corner, known) for corner in corners]
        worst, direction = max(beyond, key=lambda x: x[0])
        if len(normals) == facets:
            return polytope_of(corners + middle), worst
        normals = np.vstack([normals, direction])


def _beyond(v: Array, point: Array, known: dict[bytes, tuple[float, Array]]) -> tuple[float, Array]:
    """Return the distance of a point from the hull of points v (n, 3), and the direction to it."""
    key = point.round(ALIKE).tobytes()
    if key not in known:
        away = point - nearest_of_hull(v, point)
        distance = float(np.linalg.norm(away))
        known[key] = distance, away / max(distance, np.finfo(float).tiny)
    return known[key]


def nearest_of_hull(v: Array, point: Array) -> Array:
    """Return the point of the hull of points v (n, 3) [m] that is nearest to a point."""
    extent = float(np.abs(v - point).max()) or 1.0
    weight = SUM_WEIGHT * extent
    shares = scipy.optimize.nnls(
        np.vstack([v.T - point[:, None], np.full(len(v), weight)]), [0, 0, 0, weight]
    )[0]
    nearest: Array = shares @ v / shares.sum()
    return nearest
