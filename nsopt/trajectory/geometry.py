"""Distances of points and segments from convex solids, as smooth expressions."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

TINY = 1e-9
"""Length below which a distance has no direction [m]."""

HALVINGS = 20
"""Of a segment, until the last part of it is taken to be near its nearest point."""


def length(x: ca.SX) -> ca.SX:
    """Return the length of a vector, with derivatives where it is zero too."""
    return ca.sqrt(ca.sumsqr(x) + TINY**2) - TINY


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


def least_along(
    distance: Callable[[ca.SX, ca.SX], ca.SX], place: ca.SX, a: ca.SX, b: ca.SX
) -> ca.SX:
    """Return the least over the segment from a to b of a convex function of points.

    The nearest point is found by halving; a last step of Newton makes it move with the segment, so
    that second derivatives are right too.

    Parameters
    ----------
    distance : (place, point) -> value
        Convex in the point.
    place : SX (k,)
        Numbers that it depends on as well.
    a, b : SX (3,) [m]
    """
    share, where = ca.SX.sym("share"), ca.SX.sym("place", place.numel())
    near, far = ca.SX.sym("near", 3), ca.SX.sym("far", 3)
    value = distance(where, near + share * (far - near))
    slope = ca.gradient(value, share)
    known = [share, where, near, far]
    along = ca.Function("along", known, [slope, ca.gradient(slope, share)], {"cse": True})
    low, high = ca.SX(0), ca.SX(1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rises = along(middle, place, a, b)[0] > 0
        low, high = ca.if_else(rises, low, middle), ca.if_else(rises, middle, high)
    middle = (low + high) / 2
    slope, bend = along(middle, place, a, b)
    curved = bend > TINY
    moved = middle - ca.if_else(curved, slope, 0) / ca.if_else(curved, bend, 1)
    inner = ca.fmin(ca.fmax(moved, low), high)
    nearest = ca.if_else(low <= 0, 0, ca.if_else(high >= 1, 1, inner))
    least: ca.SX = distance(place, a + nearest * (b - a))
    return least
