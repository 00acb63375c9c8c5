"""Convex polytopes, and distances of points and segments from them, as expressions.

Which facet or edge is nearest is found by comparisons, which have no derivatives: expressions of
derivatives are those of the one nearest facet or edge, and short however many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np
import scipy

from nsopt.arrays import Array

ALIKE = 10
"""Decimals to which triangles of one facet have the same plane, lengths over the extent; and to
which two corners are the same [m]."""

SUM_WEIGHT = 1e4
"""Weight, over the extent, of the equation that shares of points add up to one, in least squares
whose other equations are lengths: it is to hold before these."""

TINY = 1e-9  # length that counts as zero [m]; it rounds off the corner of distances there
PARALLEL = 1e-12  # squared sine of the angle below which two lines are taken to be parallel
HALVINGS = 20  # how often a segment is halved to find its deepest point: to 1e-6 of its length
BOX = 6  # number of facets of a box, the fewest that `enclose` encloses others by


class Polytope(NamedTuple):
    """The points x with ``normals @ x <= offsets``."""

    normals: Array  # (f, 3) unit vectors that point out, one for each facet
    offsets: Array  # (f,) [m]
    edges: Array  # (e, 2, 3) [m] both ends of each edge between two facets
    vertices: Array  # (n, 3) [m]


def polytope_of(points: Array) -> Polytope:
    """Return the convex hull of points (n, 3) [m].

    The message of its ValueError lacks a subject: the caller puts the name of the points before it.
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

    Raises
    ------
    ValueError
        If ``facets`` is less than those of a box, and than those of the other.
    """
    if len(exact.normals) <= facets:
        return exact, 0.0
    if facets < BOX:
        raise ValueError(f"facets must be {BOX} or more, those of a box, got {facets}")
    middle = exact.vertices.mean(axis=0)
    v = exact.vertices - middle
    axes = np.linalg.svd(v, full_matrices=False)[2]
    normals = np.concatenate([axes, -axes])
    # Of each corner, as most of them stay when another one is cut off.
    known: dict[bytes, tuple[float, Array]] = {}
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
    """Return distance [m] and direction (3,) from the hull of points v (n, 3) to a point.

    ``known`` has those found before, by point; it takes a new one.
    """
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
    shares = scipy.optimize.nnls(  # not negative and of sum one
        np.vstack([v.T - point[:, None], np.full(len(v), weight)]), [0, 0, 0, weight]
    )[0]
    nearest: Array = shares @ v / shares.sum()
    return nearest


def length(x: ca.SX) -> ca.SX:
    """Return the length of a vector, with derivatives where it is zero too."""
    return ca.sqrt(ca.sumsqr(x) + TINY**2) - TINY


def mean_depth(depths: ca.SX) -> ca.SX:
    """Return a smooth mean of the depths below n faces [m], zero if one of them is negative.

    It is (sum of depth**-4)**(-1/4), between n**(-1/4) times the least and the least.
    """
    # Squares and square roots are several times as quick as powers.
    inverse = (1 / ca.fmax(depths, TINY)) ** 2
    return 1 / ca.sqrt(ca.sqrt(ca.sumsqr(inverse)))


def nearest_share(point: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
    """Return the position on the segment from a to b nearest to a point, from 0 at a to 1 at b."""
    along = b - a
    return ca.fmin(ca.fmax(ca.dot(point - a, along) / ca.sumsqr(along), 0), 1)


def from_segment(point: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
    """Return the distance of a point from the segment from a to b.

    Continuously differentiable off the segment; its second derivative jumps where the nearest point
    leaves an end.
    """
    return length(point - a - nearest_share(point, a, b) * (b - a))


def between_segments(a: ca.SX, b: ca.SX, c: ca.SX, d: ca.SX) -> ca.SX:
    """Return the distance of the segment from a to b from that from c to d.

    By [Ericson 2004, Real-Time Collision Detection, 5.1.9]; neither is a point. Where both are
    parallel the nearest points are not unique, and one pair of them is taken.
    """
    u, w, r = b - a, d - c, a - c
    uu, ww, uw, ur, wr = ca.sumsqr(u), ca.sumsqr(w), ca.dot(u, w), ca.dot(u, r), ca.dot(w, r)
    squared_sine = uu * ww - uw**2  # times uu ww
    skew = squared_sine > PARALLEL * uu * ww
    # Shares of the lines at their nearest points, then cut to the segments one after the other.
    of_first = ca.if_else(skew, (uw * wr - ur * ww) / ca.if_else(skew, squared_sine, 1), 0)
    of_second = ca.fmin(ca.fmax((uw * ca.fmin(ca.fmax(of_first, 0), 1) + wr) / ww, 0), 1)
    of_first = ca.fmin(ca.fmax((uw * of_second - ur) / uu, 0), 1)
    return length(r + of_first * u - of_second * w)


def halve_segment(rises: Callable[[ca.SX], ca.SX]) -> tuple[ca.SX, ca.SX]:
    """Return the part of a segment that holds the least of a convex function, by bisection.

    Its ends, as shares of the segment, come from comparisons, whether the function ``rises`` at a
    share: to derivatives they are constants.
    """
    low, high = ca.SX(0), ca.SX(1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        up = rises(middle)
        low, high = ca.if_else(up, low, middle), ca.if_else(up, middle, high)
    return low, high


def depth(solid: Polytope, x: ca.SX) -> ca.SX:
    """Return the mean depth of a point below the facets [m], zero outside, concave inside."""
    return mean_depth(_measure_depths(solid, x))


def outside(solid: Polytope, x: ca.SX) -> ca.SX:
    """Return the distance of a point from a polytope [m], zero inside."""
    height, above = _find_facet(solid, x)
    c, d = _find_edge(solid, lambda c, d: from_segment(x, c, d))
    away = ca.if_else(above, height, from_segment(x, c, d))
    return ca.if_else(height > 0, away, 0)


def segment_distance(solid: Polytope, a: ca.SX, b: ca.SX) -> ca.SX:
    """Return the distance of the segment from a to b from a polytope [m], negative if it enters.

    If it enters, this is minus the largest mean depth of its points.
    """
    c, d = _find_edge(solid, lambda c, d: between_segments(a, b, c, d))
    away = between_segments(a, b, c, d)
    for x in (a, b):
        height, above = _find_facet(solid, x)
        away = ca.if_else(above, ca.fmin(away, height), away)
    first, last = _find_inner_part(solid, a, b)
    deepest = _find_deepest(_measure_depths(solid, a), _measure_depths(solid, b), first, last)
    # A constant to derivatives: the first ones are right, for the slope along the segment is zero.
    return ca.if_else(first < last, -depth(solid, a + deepest * (b - a)), away)


def round_segment_distance(solid: Polytope, a: ca.SX, b: ca.SX, width: float) -> ca.SX:
    """Return `segment_distance` less a little: smooth where another edge or end becomes nearest.

    A segment that turns beside a face is nearest at one of its ends, then at the other: between
    them the distance has a kink, about which solvers go to and fro. So the least of n distances of
    edges and ends is replaced by -width log(sum of exp(-distance / width)), which is never more
    than it and less by width log(n) at most. For solids of few edges: derivatives are of all.
    """
    edges = [between_segments(a, b, ca.SX(c), ca.SX(d)) for c, d in solid.edges]
    away = ca.vertcat(outside(solid, a), outside(solid, b), *edges)
    least, sharp = ca.mmin(away), segment_distance(solid, a, b)
    less = width * ca.log(ca.sum1(ca.exp((least - away) / width)))
    return ca.if_else(sharp < 0, sharp, least) - less


def _find_deepest(a: ca.SX, b: ca.SX, first: ca.SX, last: ca.SX) -> ca.SX:
    """Return the share of a segment where it is deepest, from depths (f,) at its ends a and b.

    It is inside from share ``first`` to ``last``; elsewhere mean depths are zero, without a slope
    to follow.
    """
    share, near, far = ca.SX.sym("share"), ca.SX.sym("near", a.numel()), ca.SX.sym("far", b.numel())
    slope = ca.gradient(mean_depth(near + share * (far - near)), share)
    along = ca.Function("along", [share, near, far], [slope], {"cse": True})

    def rises(x: ca.SX) -> ca.SX:
        """Return whether minus the depth, which is convex, rises at a share of the segment."""
        falls_off = ca.logic_and(x > first, along(x, a, b) < 0)
        return ca.logic_or(x > last, falls_off)

    low, high = halve_segment(rises)
    return ca.if_else(low <= 0, 0, ca.if_else(high >= 1, 1, (low + high) / 2))


def _measure_depths(solid: Polytope, x: ca.SX) -> ca.SX:
    """Return the depths of a point below all facets (f,) [m], negative above them."""
    return ca.DM(solid.offsets) - ca.DM(solid.normals) @ x


def _find_facet(solid: Polytope, x: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the largest height of a point above a facet's plane [m], and if its foot is on it."""
    normals, offsets = ca.DM(solid.normals), ca.DM(solid.offsets)
    heights = normals @ x - offsets
    rows = ca.horzcat(normals, offsets)
    most, row = heights[0], ca.SX(rows[0, :])
    for k in range(1, rows.rows()):
        more = heights[k] > most
        most, row = ca.fmax(heights[k], most), ca.if_else(more, rows[k, :], row)
    height = ca.dot(row[:3], x.T) - row[3]
    foot = x - height * row[:3].T  # in the plane of the facet, perhaps beside the facet
    return height, ca.mmax(normals @ foot - offsets) <= TINY


def _find_edge(solid: Polytope, distance: Callable[[ca.SX, ca.SX], ca.SX]) -> tuple[ca.SX, ca.SX]:
    """Return both ends (3,) of the edge whose ``distance(end, other end)`` is least."""
    least, ends = ca.SX(np.inf), ca.SX.zeros(6)
    for c, d in solid.edges:
        away = distance(ca.SX(c), ca.SX(d))
        ends = ca.if_else(away < least, ca.DM(np.concatenate([c, d])), ends)
        least = ca.fmin(away, least)
    return ends[:3], ends[3:]


def _find_inner_part(solid: Polytope, a: ca.SX, b: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the shares of a segment where it enters and where it leaves; first > last if outside.

    The line is cut by the facets one after another [Cyrus, Beck 1978].
    """
    first, last = ca.SX(0), ca.SX(1)
    for n, offset in zip(solid.normals, solid.offsets, strict=True):
        start, end = (ca.dot(ca.DM(n), x) - offset for x in (a, b))
        across = start - end
        cut = start / ca.if_else(across == 0, 1, across)
        enters = ca.if_else(end > 0, 2, cut)  # wholly above a facet it is outside
        first = ca.fmax(first, ca.if_else(start > 0, enters, 0))
        last = ca.fmin(last, ca.if_else(ca.logic_and(start <= 0, end > 0), cut, 1))
    return first, last
