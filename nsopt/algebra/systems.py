"""Parts of a matrix that no entry couples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def find_parts(coupled: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Return the indices of each part of a matrix (n, n) that no entry couples with another.

    Each index takes the least label of its neighbours until none changes. (SciPy's
    connected_components would do, but takes a fifth of a second to load.)
    """
    n = len(coupled)
    linked, labels = coupled | coupled.T | np.eye(n, dtype=bool), np.arange(n)
    while True:
        least = np.where(linked, labels, n).min(axis=1, initial=n)
        least = least[least]  # of the least in turn, so that long chains take few rounds
        if np.array_equal(least, labels):
            return [np.flatnonzero(labels == k) for k in np.unique(labels)]
        labels = least
