"""How long a motion takes, and in how many steps it is described."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsopt.stepping import StepBounds


@dataclass(frozen=True)
class Horizon:
    """The time of a motion and its division into steps.

    Parameters
    ----------
    duration : float or (float, float) [s]
        Given, or the least and the most of a free one.
    steps : int
    h : StepBounds, optional
        Bounds of each step, of which only the sum is then given; by default all are alike.

    Raises
    ------
    ValueError
        If a time is not positive, bounds are reversed or cannot be met by so many steps, or there
        are less than two steps.
    """

    duration: float | tuple[float, float]
    steps: int = 100
    h: StepBounds | None = None

    def __post_init__(self) -> None:
        low, high = self.bounds
        if not (np.isfinite(low) and low > 0):
            raise ValueError(f"duration of Horizon must be positive, got {low:g} s")
        if not high >= low:
            raise ValueError(
                f"bounds of the duration are reversed: least {low:g} s, most {high:g} s"
            )
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or self.steps < 2:
            raise ValueError(f"steps of Horizon must be 2 or more, got {self.steps!r}")
        h = self.h
        if h is not None and not (self.steps * h.h_min <= high and low <= self.steps * h.h_max):
            raise ValueError(
                f"{self.steps} steps of {h.h_min:g} to {h.h_max:g} s are {self.steps * h.h_min:g} "
                f"to {self.steps * h.h_max:g} s, but the motion takes {low:g} to {high:g} s: "
                "give other steps or bounds"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and most duration [s]."""
        if isinstance(self.duration, tuple):
            low, high = self.duration
            return float(low), float(high)
        return float(self.duration), float(self.duration)
