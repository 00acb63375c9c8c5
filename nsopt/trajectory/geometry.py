"""Distances between points and segments, as smooth expressions."""

from __future__ import annotations

import casadi as ca


def nearest_share(point: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
    """Return the position on the segment from a to b nearest to a point, from 0 at a to 1 at b."""
    along = b - a
    length = ca.sumsqr(along)
    return ca.fmin(ca.fmax(ca.dot(point - a, along) / length, 0), 1)


def squared_distance(point: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
    """Return the squared distance of a point from the segment from a to b.

    Continuously differentiable; its second derivative jumps where the nearest point leaves an end.
    """
    return ca.sumsqr(point - a - nearest_share(point, a, b) * (b - a))
