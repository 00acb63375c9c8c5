"""Bounds of the step size."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUND_OFF = 1e-6
"""Part of h_max that the last step may be longer, for round-off in the sum of many steps."""

LAST = 10
"""How many steps to the end share what is left."""

AT_BOUND = 1e-4
"""Part of h by which an interior-point solver may stay off a bound that it is at."""


@dataclass(frozen=True)
class StepBounds:
    """The interval in which a step chooses its size; equal bounds are a fixed step.

    Parameters
    ----------
    h_min, h_max : float [s]

    Raises
    ------
    ValueError
        Unless 0 < h_min <= h_max, both finite.
    """

    h_min: float
    h_max: float

    def __post_init__(self) -> None:
        for name in ("h_min", "h_max"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 < float(value) < np.inf:
                raise ValueError(f"{name} must be a positive number of seconds, got {value!r}")
        if self.h_min > self.h_max:
            raise ValueError(
                f"h_min must not exceed h_max, got h_min = {self.h_min:g} > h_max = "
                f"{self.h_max:g} s: exchange them, or make them equal for a fixed step"
            )

    def until_end(self, remaining: float) -> "StepBounds":
        """Return the bounds of the next step when ``remaining`` [s] are left.

        The end is met exactly. The last steps share what is left evenly, for forces of lasting
        contact suffer from sudden changes of h.
        """
        count = max(int(np.ceil(remaining / self.h_max - ROUND_OFF)), 1)
        share = remaining / count
        if count == 1:
            return StepBounds(share, share)
        if count <= LAST and share >= self.h_min:
            return StepBounds(self.h_min, share)
        return self


def reasons(h: Any, remaining: Any, steps: StepBounds, otherwise: str) -> NDArray[np.object_]:
    """Return what decided the sizes h (n,) [s] of steps: the end of the run, a bound, or else.

    Parameters
    ----------
    h, remaining : (n,) [s]
        ``remaining`` to the end of the run at the start of each step.
    """
    h, remaining = np.asarray(h), np.asarray(remaining)
    count = np.maximum(np.ceil(remaining / steps.h_max - ROUND_OFF), 1)
    share = remaining / count
    shared = (count == 1) | ((count <= LAST) & (share >= steps.h_min))
    longest = np.where(shared, share, steps.h_max)
    cases = {
        "end": h > remaining * (1 - AT_BOUND),
        "below h_min": h < steps.h_min * (1 - AT_BOUND),
        "h_max": h > longest * (1 - AT_BOUND),
        "h_min": h < steps.h_min * (1 + AT_BOUND),
    }
    found: NDArray[np.object_] = np.select(
        list(cases.values()), np.array(list(cases), dtype=object), otherwise
    )
    return found
