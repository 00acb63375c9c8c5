"""Motions at ever shorter steps: how far off the last one is, and up to when that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from common import Array

ROUND_OFF = 1e-9
"""Error [m] that counts as none."""

HALVINGS = 3
"""Of h, by the last of which an error is judged."""

LEAST_ORDER = 0.5
"""Mean order over the halvings, below which a motion does not converge."""


@dataclass(frozen=True, eq=False)
class Refined:
    """A motion by steps of h, h/2, h/4 ...

    Where impacts make errors of first order, the motion by h/2 is off by as much as it differs from
    the one by h. Single differences may be small by chance. So the error at time t is the largest
    that any of the last three halvings predicts at order one, d_k / 2^(K - k), of the largest
    differences d_k up to t. A motion that branches at an impact, or needs shorter steps, does not
    converge from there on: over these halvings its differences fall by less than order 1/2.

    Attributes
    ----------
    places : array (levels, times, n) [m]
        At the same times, at least four levels.
    """

    places: Array

    def error(self) -> Array:
        """Return how far off the last level is at most until each time, (times,) [m]."""
        d = self._differences()
        predicted = d / 2.0 ** np.arange(HALVINGS)[::-1, None]
        return np.maximum(np.max(predicted, axis=0), ROUND_OFF)

    def converges(self) -> Array:
        """Return whether the motion until each time converges, (times,)."""
        d = self._differences()
        return d[-1] <= np.maximum(d[0] / 2 ** (LEAST_ORDER * (HALVINGS - 1)), ROUND_OFF)

    def _differences(self) -> Array:
        """Return the largest so far between a level and the next, (HALVINGS, times) [m]."""
        changes = np.abs(np.diff(self.places, axis=0)).max(axis=2)
        return np.maximum.accumulate(changes, axis=1)[-HALVINGS:]
