"""What multipliers show: that no direction lowers the objective, on whatever branch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nsopt.mpcc.backends.backend import Point
from nsopt.mpcc.solve.lpec import Index
from nsopt.mpcc.statement.layout import Vector

Sides = tuple[Vector, Vector]  # lower and upper bounds


class Linearised(NamedTuple):
    """A program at a point: slope of f (n,), rows (m,) with Jacobian and limits, bounds of x."""

    slope: Vector
    rows: Vector
    J: Any
    limits: Sides
    bounds: Sides


class Certificate(NamedTuple):
    """A bound on what any direction gains.

    From grad f = gradient - J^T lam - lam_x follows, for each direction d within the radius that
    the linearised program allows, grad f . d = gradient . d - lam . J d - lam_x . d. With
    multipliers of the signs of their limits the last two cannot gain more than each multiplier
    times the distance from its limit; one whose limit is out of reach is dropped, and so is one of
    the wrong sign. At a pair with both halves within reach both are limits, which makes the point
    S-stationary.
    """

    descent: float  # that f cannot fall by more, over the radius and to first order
    gradient: Vector  # (n,) of f, with the multipliers that were kept
    biactive: int  # pairs with both halves within reach

    @classmethod
    def of(
        cls, at: Linearised, end: Point, halves: tuple[Index, Index], radius: float
    ) -> Certificate:
        """Return the bound that the multipliers of a point give within a trust region.

        ``halves`` (k,), (k,) are G and H of each pair, with bounds of zero and infinity.
        """
        width = np.asarray(abs(at.J).sum(axis=1)).ravel()
        lam, lost = _keep(end.lam_g, at.rows, at.limits, radius * width)
        lam_x, lost_x = _keep(end.lam_x, end.x, at.bounds, np.full(end.x.size, radius))
        G, H = halves
        # Of halves the multipliers are those of the rows that say what they are.
        given = -(at.slope + at.J.T @ lam)
        fixed = np.zeros(end.x.size, dtype=bool)
        for own, other in ((G, H), (H, G)):
            np.logical_or.at(fixed, own, end.x[other] > radius)
        half = np.union1d(G, H)
        usable = np.where(fixed[half], given[half], np.minimum(given[half], 0.0))
        lam_x[half] = np.where(end.x[half] <= radius, usable, 0.0)
        lost_x[half] = np.abs(lam_x[half] * end.x[half])
        gradient = at.slope + at.J.T @ lam + lam_x
        descent = np.abs(gradient).sum() + (lost.sum() + lost_x.sum()) / radius
        both = (end.x[G] <= radius) & (end.x[H] <= radius)
        return cls(float(descent), gradient, int(both.sum()))


def _keep(lam: Vector, values: Vector, sides: Sides, reach: Vector) -> tuple[Vector, Vector]:
    """Return multipliers whose limits are within reach, and what the distances from these cost."""
    lower, upper = sides
    above, below = upper - values, values - lower
    distance = np.abs(np.where(lam > 0, above, below))
    kept = np.where((distance <= reach) | (lower == upper), lam, 0.0)
    return kept, np.where(kept != 0, np.abs(kept) * np.nan_to_num(distance, posinf=0.0), 0.0)
