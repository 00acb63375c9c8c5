"""Integrals of the pressure in the film of a short journal bearing, in closed form."""

from __future__ import annotations

import casadi as ca
import numpy as np

NEARLY_CENTRED = 0.02
"""Eccentricity below which sums replace closed forms, which lose their digits there."""

STILL = 1e-9
"""Rate [1/s] that gives a film at rest a direction, and derivatives there."""

POINTS = 12
"""Of these sums: exact to round-off for an integrand as smooth as there."""


def film_integrals(e: ca.SX, sweep: ca.SX, squeeze: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the integrals of P cos(theta) and P sin(theta) where P is above zero.

        P = (sweep sin(theta) - squeeze cos(theta)) / (1 + e cos(theta))^3

    Parameters
    ----------
    e : SX scalar
        Eccentricity, from 0 to below 1.
    sweep, squeeze : SX scalars [1/s]
        e w and 2 de/dt; P is above zero over half a turn.
    """
    begin = ca.atan2(squeeze, sweep + STILL)  # P = size sin(theta - begin)
    far = ca.fmax(e, NEARLY_CENTRED / 2)
    ss, sc, cc = (
        end - start
        for end, start in zip(
            _antiderivatives(far, begin + np.pi), _antiderivatives(far, begin), strict=True
        )
    )
    closed = sweep * sc - squeeze * cc, sweep * ss - squeeze * sc
    summed = _sums(e, sweep, squeeze, begin)
    along, aside = (
        ca.if_else(e > NEARLY_CENTRED, exact, near)
        for exact, near in zip(closed, summed, strict=True)
    )
    return along, aside


def _antiderivatives(e: ca.SX, theta: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return those of sin^2, sin cos and cos^2 over (1 + e cos)^3, continuous in theta."""
    sine, cosine, B = ca.sin(theta), ca.cos(theta), 1 - e**2
    u, root = 1 + e * cosine, ca.sqrt(1 - e**2)
    # Of 1/u, 1/u^2 and 1/u^3, by recursion.
    first = (theta - 2 * ca.atan2(e * sine, 1 + root + e * cosine)) / root
    second = (first - e * sine / u) / B
    third = (3 * second - first - e * sine / u**2) / (2 * B)
    cc = (first - 2 * second + third) / e**2
    sc = (1 / u - 1 / (2 * u**2)) / e**2
    return third - cc, sc, cc


def _sums(e: ca.SX, sweep: ca.SX, squeeze: ca.SX, begin: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the integrals by Gauss-Legendre sums over the half turn."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    near = ca.fmin(e, 2 * NEARLY_CENTRED)
    along = aside = ca.SX(0)
    for x, weight in zip(np.pi / 2 * (nodes + 1), np.pi / 2 * weights, strict=True):
        theta = begin + float(x)
        sine, cosine = ca.sin(theta), ca.cos(theta)
        P = (sweep * sine - squeeze * cosine) / (1 + near * cosine) ** 3
        along += float(weight) * P * cosine
        aside += float(weight) * P * sine
    return along, aside
