"""What every guess is: a motion, made from little."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Course(NamedTuple):
    """A motion at n times."""

    q: Array  # (n, nq)
    v: Array  # (n, nv)
    a: Array  # (n, nv)
    inputs: Array  # (n, number of inputs)
    duration: float  # [s]


def typical(bounds: tuple[float, float]) -> float:
    """Return a duration between bounds, of which the upper may be missing."""
    low, high = bounds
    return (low + high) / 2 if np.isfinite(high) else 2 * low


class Guess(ABC):
    """A motion to start from."""

    @abstractmethod
    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        """Return the motion at shares of its duration, (n,) from 0 to 1.

        Parameters
        ----------
        share : (n,)
        bounds : (float, float) [s]
            Least and most duration.
        inputs : names
        """
