"""Quantiles of what has weights, as what a run records at steps of different sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def find_quantile(x: Array, weights: Array, part: float) -> float:
    """Return what a part of all weight is at or below; zero where there is none.

    Parameters
    ----------
    x, weights : (n,)
        Weights of zero or more, such as steps h [s].
    part : float
    """
    order = np.argsort(x)
    passed = np.cumsum(weights[order])
    if not passed.size or not passed[-1]:
        return 0.0
    return float(x[order[np.searchsorted(passed, part * passed[-1])]])
