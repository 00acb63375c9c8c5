"""Estimates of errors from the same run in steps of some sizes, each half of the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
T = TypeVar("T")

SEEN = (0.7, 4.5)  # orders between which differences fall as those of a scheme; others are chance
HIGHEST = 4.0  # order that is used at most to conclude from longer steps on the run's own
ROUNDING = 1e-12  # of the largest size of what is compared, differences that tell nothing of steps


class Estimate(NamedTuple):
    """An error, and the order that was seen: NaN where the error is the difference itself."""

    error: Array
    order: float


def estimate_error(
    runs: Sequence[T],
    distance: Callable[[T, T], Array],
    finer: bool,
    size: float,
    trusted: bool = True,
) -> Estimate:
    """Return the error of the first of some runs by how far they are from each other.

    Where differences fall with an order p, by Richardson: of steps h, h/2, ..., h/n the run is off
    by its distance from the last over 1 - n^-p, of steps h, 2 h, 4 h by that from the first over
    2^p - 1. Where only the last three fall so, by the distance from the last and what that is off
    by. Otherwise by what all halvings change, for the next ones may change as much; of longer steps
    by the distance from the first.

    Distances are over time or (1,); rounding is told from the size of what is compared. An order
    that is not ``trusted`` is chance.
    """
    apart = [distance(a, b) for a, b in pairwise(runs)]
    orders = [
        observe_order(*(pair[::-1] if finer else pair), ROUNDING * size) if trusted else np.nan
        for pair in pairwise(apart)
    ]
    if not finer:
        seen = np.isfinite(orders[0])
        return Estimate(apart[0] / (2 ** min(orders[0], HIGHEST) - 1 if seen else 1), orders[0])
    whole = distance(runs[0], runs[-1])
    if np.isfinite(orders[0]):
        return Estimate(whole / (1 - 2 ** (-orders[0] * len(apart))), orders[0])
    if np.isfinite(orders[-1]):
        return Estimate(whole + apart[-1] / (2 ** orders[-1] - 1), orders[-1])
    return Estimate(np.sum(apart, axis=0), np.nan)


def observe_order(smaller: Array, larger: Array, rounding: float) -> float:
    """Return the order by which differences fall as h is halved, NaN where it is chance.

    The median over time: so neither the times at which a difference passes through zero nor those
    after which motions part decide it.
    """
    sizes = [np.sqrt(np.sum(x.reshape(len(x), -1) ** 2, axis=1)) for x in (smaller, larger)]
    told = np.minimum(*sizes) > rounding
    if not told.any():
        return np.nan
    order = float(np.median(np.log2(sizes[1][told] / sizes[0][told])))
    return order if SEEN[0] <= order <= SEEN[1] else np.nan
