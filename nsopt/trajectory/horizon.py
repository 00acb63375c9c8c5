"""How long a motion takes, and in how many steps it is described."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Horizon:
    """The time of a motion and its even division.

    Parameters
    ----------
    duration : float or (float, float) [s]
        Given, or the least and the most of a free one.
    steps : int

    Raises
    ------
    ValueError
        If a time is not positive, bounds are reversed, or there are less than two steps.
    """

    duration: float | tuple[float, float]
    steps: int = 100

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

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and most duration [s]."""
        if isinstance(self.duration, tuple):
            low, high = self.duration
            return float(low), float(high)
        return float(self.duration), float(self.duration)
