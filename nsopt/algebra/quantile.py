"""Weighted quantiles, as of what a run records at steps of different sizes."""

from __future__ import annotations

import numpy as np

from nsopt.arrays import Array


def find_quantile(x: Array, weights: Array, part: float) -> float:
    """Return the least x at or below which a part of all weight is; zero without any weight.

    Parameters
    ----------
    x, weights : (n,)
        Weights of zero or more, such as steps h [s].
    part : float
        From 0 to 1; 0.5 for the median.
    """
    order = np.argsort(x)
    sums = np.cumsum(weights[order])
    if not sums.size or not sums[-1]:
        return 0.0
    return float(x[order[np.searchsorted(sums, part * sums[-1])]])
