"""Estimates of errors from the same run in steps of three sizes, each half of the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SEEN = (0.7, 4.5)
"""Orders between which differences fall as those of a scheme do; others are chance."""

HIGHEST = 4.0
"""Order that is used at most to conclude from longer steps on the run's own."""

ROUNDING = 1e-12
"""Of the largest size of what is compared, differences that tell nothing of steps."""


class Distances(NamedTuple):
    """How far a run and its two repetitions are from each other.

    The first axis is time, where there is one.
    """

    first: Array  # between the run and the first repetition
    second: Array  # between the repetitions
    both: Array  # between the run and the second repetition


class Estimate(NamedTuple):
    """An error, and the order that was seen: NaN where the error is the difference itself."""

    error: Array
    order: float


def estimate_error(distances: Distances, finer: bool, size: float) -> Estimate:
    """Return the error of a run by how far it is from two others.

    Where differences fall with an order p, by Richardson: of steps h, h/2, h/4 the run is off by
    its distance from the last over 1 - 4^-p, of steps h, 2 h, 4 h by that from the first over
    2^p - 1. Otherwise by what both halvings change, for the next ones may change as much; of longer
    steps by the distance from the first.

    Parameters
    ----------
    distances : Distances
    finer : bool
        Whether the others have h/2 and h/4, not 2 h and 4 h.
    size : float
        Of what is compared, from which rounding is told.
    """
    smaller, larger = (distances.second, distances.first)[:: 1 if finer else -1]
    order = observe_order(smaller, larger, ROUNDING * size)
    seen = SEEN[0] <= order <= SEEN[1]
    if finer:
        apart = distances.first + distances.second
        error = distances.both / (1 - 4**-order) if seen else apart
    else:
        error = distances.first / (2 ** min(order, HIGHEST) - 1 if seen else 1)
    return Estimate(error, order if seen else np.nan)


def observe_order(smaller: Array, larger: Array, rounding: float) -> float:
    """Return the order by which differences fall as h is halved, the median over time; or NaN.

    So neither the times at which a difference passes through zero nor those after which motions
    part decide it.
    """
    sizes = [np.sqrt(np.sum(x.reshape(len(x), -1) ** 2, axis=1)) for x in (smaller, larger)]
    told = np.minimum(*sizes) > rounding
    return float(np.median(np.log2(sizes[1][told] / sizes[0][told]))) if told.any() else np.nan
