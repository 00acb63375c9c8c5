"""Distances of points and segments from convex solids, as smooth expressions."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

TINY = 1e-9
"""Length that counts as zero [m]; it rounds off the corner of distances there."""

PARALLEL = 1e-12
"""Squared sine of the angle below which two lines are taken to be parallel."""

HALVINGS = 20
"""How often a segment is halved to find its nearest point: to 1e-6 of its length."""


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

    Its ends, as shares of the segment, come from comparisons: to derivatives they are constants.

    Parameters
    ----------
    rises : callable (share) -> SX
        Whether the function rises at a share of the segment.
    """
    low, high = ca.SX(0), ca.SX(1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        up = rises(middle)
        low, high = ca.if_else(up, low, middle), ca.if_else(up, middle, high)
    return low, high
