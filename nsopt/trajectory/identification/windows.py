"""Windows of a measured motion, which `fit` takes one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Window(ABC):
    """A rule that divides a measured motion into windows, fitted one after the other."""

    @abstractmethod
    def ends(self, times: Array, impact: float | None) -> list[float]:
        """Return the ends of the windows [s]; the last is the end of the motion.

        Parameters
        ----------
        times : (n,) [s]
        impact : float or None [s]
            The time at which a contact first closes, simulated with the initial values.
        """


@dataclass(frozen=True)
class FullWindow(Window):
    """One window, the whole motion; for smooth motions."""

    def ends(self, times: Array, impact: float | None) -> list[float]:
        del impact
        return [float(times[-1])]


@dataclass(frozen=True)
class GrowingWindow(Window):
    """Windows from the start of the motion, each longer than the one before.

    After impacts the motion, as a function of a clearance, oscillates the more the longer it lasts,
    so that a fit to all of it ends in a local minimum of the residual. The values from a short
    window are close enough to start the next one.

    Parameters
    ----------
    first : float [s], optional
        End of the first window after the start; by default twice the time of the first impact, or
        the whole motion where there is none.
    growth : float
        Ratio of the end of a window to that of the one before, above 1.
    """

    first: float | None = None
    growth: float = 1.5

    def __post_init__(self) -> None:
        if self.first is not None and not self.first > 0:
            raise ValueError(f"first of GrowingWindow must be positive, got {self.first}")
        if not self.growth > 1:
            raise ValueError(f"growth of GrowingWindow must be above 1, got {self.growth}")

    def ends(self, times: Array, impact: float | None) -> list[float]:
        if self.first is None and impact is None:
            return [float(times[-1])]
        end = self.first if self.first is not None else 2 * float(impact or 0)
        ends: list[float] = []
        while end < times[-1]:
            ends.append(float(end))
            end *= self.growth
        return [*ends, float(times[-1])]
