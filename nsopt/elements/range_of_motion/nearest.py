"""The point of a cone's edge that is nearest to a direction [RoM 2023, eq. 31].

With the distance from the apex eliminated, eq. 31 is one equation, u . b'(l) = 0 with b(l) the
unit vector along a generator: the nearest generator has the largest u . b (erratum). Irregular
cones have several extrema. Samples all around find the best two; Newton's method on u . b' = 0
refines both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.elements.range_of_motion.curve import Curve, Jet, Piece

SEARCH_STEPS = 5  # Newton steps that locate the point

DIFFERENTIATED_STEPS = 2
"""Further Newton steps, the only ones that are differentiated: k of them from a solution have exact
derivatives up to order 2^k - 1."""

GRID = 2.0**42
"""Points per turn to which the located l is rounded: by `floor`, which has no derivative, so that
only the last Newton steps are differentiated."""

NONE = -2.0  # height that stands for no maximum, below every cosine
TINY = 1e-30  # added under roots and below fractions, for a value and a derivative at zero


class Nearest(NamedTuple):
    """A direction, cos(theta) b + sin(theta) n, and the edge nearest to it, in axes of the cone."""

    direction: ca.SX  # (3,) u
    edge: ca.SX  # (2,) [rad] the point in the plane of the curve
    b: ca.SX  # (3,) unit vector along the nearest generator
    n: ca.SX  # (3,) unit normal of the cone there, outward

    @property
    def theta(self) -> ca.SX:
        """Spherical angle to the edge [rad], less than zero inside the cone."""
        return ca.atan2(ca.dot(self.n, self.direction), ca.dot(self.b, self.direction))


def nearest(curve: Curve, u: ca.SX) -> Nearest:
    """Return the point of ``curve`` nearest to the unit vector ``u`` (3,)."""
    candidates = [_refine(curve, u, bracket) for bracket in _find_highest_two(curve, u)]
    best = candidates[0].choose(candidates[1], candidates[1].height > candidates[0].height)
    grid = curve.period / GRID
    piece, l = curve.piece(best.low), ca.floor(best.start / grid + 0.5) * grid
    for _ in range(DIFFERENTIATED_STEPS):
        slope, curvature = _find_slopes(piece, u, l)
        l = l - slope / ca.if_else(curvature < 0, curvature, -1)
    jet = piece.jet(l)
    b, first, _ = generator(jet)
    n = ca.cross(first, b)
    return Nearest(u, jet.at, b, n / ca.sqrt(ca.sumsqr(n) + TINY))


def generator(jet: Jet) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return the unit vector along a generator and its derivatives by l, (3,) each."""
    b, first, second = _GENERATOR.call([*jet])
    return b, first, second


def _place_generator(x: ca.SX, dx: ca.SX, ddx: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return b = (sin(sigma) / sigma x, cos(sigma)), sigma = |x|, and both derivatives by l."""
    w, dw = ca.sumsqr(x) + TINY, 2 * ca.dot(x, dx)  # latitude squared
    ddw = 2 * (ca.sumsqr(dx) + ca.dot(x, ddx))
    sigma = ca.sqrt(w)
    sinc, cosine = ca.sin(sigma) / sigma, ca.cos(sigma)
    # Derivatives of sinc by w, from a series near the axis; then those of both by l.
    near = w < 1e-4
    ds = ca.if_else(near, -1 / 6 + w / 60 - w**2 / 1680, (cosine - sinc) / (2 * w))
    dds = ca.if_else(near, 1 / 60 - w / 840, -(sinc / 2 + 3 * ds) / (2 * w))
    s1, s2 = ds * dw, dds * dw**2 + ds * ddw
    c1, c2 = -sinc * dw / 2, -(ds * dw**2 + sinc * ddw) / 2
    return (
        ca.vertcat(sinc * x, cosine),
        ca.vertcat(s1 * x + sinc * dx, c1),
        ca.vertcat(s2 * x + 2 * s1 * dx + sinc * ddx, c2),
    )


class _Bracket(NamedTuple):
    """An interval of l with a maximum of u . b inside."""

    low: ca.SX
    high: ca.SX
    start: ca.SX  # estimate of the maximum, from which Newton starts
    height: ca.SX  # u . b there

    def choose(self, other: _Bracket, where: ca.SX) -> _Bracket:
        """Return the other bracket where a condition is true, this one elsewhere."""
        return _Bracket(*(ca.if_else(where, b, a) for a, b in zip(self, other, strict=True)))


def _refine(curve: Curve, u: ca.SX, bracket: _Bracket) -> _Bracket:
    """Return the bracket with the maximum that Newton's method finds, safe by bisection."""
    low, high, l, _ = bracket
    piece = curve.piece(low)
    for _ in range(SEARCH_STEPS):
        slope, curvature = _find_slopes(piece, u, l)
        low, high = ca.if_else(slope > 0, l, low), ca.if_else(slope > 0, high, l)
        new = l - slope / ca.if_else(curvature < 0, curvature, -1)
        inside = ca.logic_and(new >= low, new <= high)
        l = ca.if_else(inside, new, (low + high) / 2)
    height = ca.dot(generator(piece.jet(l))[0], u)
    exists = bracket.height > NONE
    return bracket._replace(start=l, height=ca.if_else(exists, height, NONE))


def _find_slopes(piece: Piece, u: ca.SX, l: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return first and second derivative of u . b by l."""
    _, first, second = generator(piece.jet(l))
    return ca.dot(first, u), ca.dot(second, u)


def _find_highest_two(curve: Curve, u: ca.SX) -> tuple[_Bracket, _Bracket]:
    """Return brackets of the two highest maxima of u . b, from values and slopes at samples."""
    samples = curve.samples()
    grid = [*(l for l, _ in samples), curve.period]
    jets = [generator(piece.jet(l)) for l, piece in samples]
    jets.append(jets[0])
    heights, slopes = ([ca.dot(jet[k], u) for jet in jets] for k in (0, 1))
    first = second = ca.vertcat(0, curve.period, curve.period / 2, NONE)
    for k in range(len(grid) - 1):
        interval = ca.vertcat(*grid[k : k + 2], *heights[k : k + 2], *slopes[k : k + 2])
        first, second = _HIGHER(first, second, interval)
    return _Bracket(*ca.vertsplit(first)), _Bracket(*ca.vertsplit(second))


def _keep_higher(first: ca.SX, second: ca.SX, interval: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the two highest of two brackets and of the maximum in an interval, (4,) each.

    The interval (6,) has l at its ends, the heights and the slopes there.
    """
    low, high, c0, c1, s0, s1 = ca.vertsplit(interval)
    has_peak, x, rise = _find_peak(c0, c1, (high - low) * s0, (high - low) * s1)
    height = ca.if_else(has_peak, c0 + rise, NONE)
    new = _Bracket(low, high, low + x * (high - low), height)
    best, other = _Bracket(*ca.vertsplit(first)), _Bracket(*ca.vertsplit(second))
    wins = height > best.height
    other = other.choose(new, height > other.height).choose(best, wins)
    return ca.vertcat(*best.choose(new, wins)), ca.vertcat(*other)


def _find_peak(c0: ca.SX, c1: ca.SX, s0: ca.SX, s1: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return whether the cubic with values c and slopes s at 0, 1 has a maximum, where, how high.

    The height is relative to ``c0``.
    """
    # The slope at x is s0 + b x + a x^2.
    a, b = 3 * (s0 + s1 - 2 * (c1 - c0)), 6 * (c1 - c0) - 4 * s0 - 2 * s1
    discriminant = b**2 - 4 * a * s0
    x = 2 * s0 / (ca.sqrt(ca.fmax(discriminant, 0)) - b + TINY)
    has_peak = ca.logic_and(ca.logic_and(discriminant >= 0, x >= 0), x < 1)
    return has_peak, x, x * (s0 + x * (b / 2 + x * a / 3))


def angles(u: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return longitude and latitude of a direction [rad] [eqs. 6, 7]; zero longitude on the axis.

    The derivative of the longitude has no jumps, that of the latitude is finite on the axis.
    """
    flat = ca.sumsqr(u[:2])
    on_axis = flat < TINY
    longitude = ca.atan2(u[1], u[0] + on_axis)
    longitude += 2 * np.pi * (longitude < 0)
    return longitude, ca.atan2(ca.sqrt(flat + TINY), u[2])


def _make_function(
    name: str, expressions: Callable[..., tuple[ca.SX, ...]], *sizes: int
) -> ca.Function:
    """Return expressions of vectors of some sizes as a function, quicker to call than to state."""
    arguments = [ca.SX.sym("x", n) for n in sizes]
    return ca.Function(name, arguments, list(expressions(*arguments)))


_GENERATOR = _make_function("generator", _place_generator, 2, 2, 2)
_HIGHER = _make_function("higher", _keep_higher, 4, 4, 6)
