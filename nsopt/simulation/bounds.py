"""Bounds of the step size."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUND_OFF = 1e-6
"""Part of h by which a step may miss the end of the run, for round-off in the sum."""

LONGER = 1e-5
"""Part of h by which each of the last steps may be longer, for round-off in a sum of millions."""

LAST = 10  # number of steps to the end that share what is left
AT_BOUND = 1e-4  # part of h by which an interior-point solver may stay off a bound that it is at


@dataclass(frozen=True)
class StepBounds:
    """The interval in which a step chooses its size; equal bounds are a fixed step.

    Parameters
    ----------
    h_min, h_max : float [s]
    part : float
        Step control takes this part of the h that it would choose by the local error, by how far
        contacts may be followed and by how late an impact may be. Set by `scale`.

    Raises
    ------
    ValueError
        Unless 0 < h_min <= h_max and 0 < part, all finite.
    """

    h_min: float
    h_max: float
    part: float = 1.0

    def __post_init__(self) -> None:
        for name, unit in (("h_min", " of seconds"), ("h_max", " of seconds"), ("part", "")):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 < float(value) < np.inf:
                raise ValueError(f"{name} must be a positive number{unit}, got {value!r}")
        if self.h_min > self.h_max:
            raise ValueError(
                f"h_min must not exceed h_max, got h_min = {self.h_min:g} > h_max = "
                f"{self.h_max:g} s: exchange them, or make them equal for a fixed step"
            )

    def scale(self, part: float) -> "StepBounds":
        """Return the bounds of a run that repeats one of these in steps of a part of the size."""
        return StepBounds(part * self.h_min, part * self.h_max, part * self.part)

    def until_end(self, remaining: float) -> "StepBounds":
        """Return the bounds of the next step when ``remaining`` [s] are left.

        The end is met exactly. The last steps share what is left evenly, for forces of lasting
        contact suffer from sudden changes of h. `part` is left out: step control has it of the run.
        """
        longest = float(until_end(remaining, self.h_max, self.h_min))
        if longest == remaining:
            return StepBounds(longest, longest)
        return StepBounds(self.h_min, longest)


def until_end(remaining: Any, h: Any, h_min: Any) -> Any:
    """Return h, or in the last `LAST` steps the even share of what remains, if h_min or more.

    The last step is what remains, however short. Numbers, arrays (n,) or SX, in s: so conditions
    are 0 or 1, + is or, * is and.
    """
    whole = remaining / h // 1
    count = whole + (remaining / h - whole > LONGER * whole)  # of steps to the end
    count = count + (count < 1)
    share = remaining / count
    is_shared = ((count <= 1) + (count <= LAST) * (share >= h_min)) > 0
    return is_shared * share + (1 - is_shared) * h


def are_below(h: Any, remaining: Any, steps: StepBounds) -> NDArray[np.bool_]:
    """Return which steps (n,) are below h_min, but for the last of a run; see `name_reasons`."""
    below = np.asarray(h) < steps.h_min * (1 - AT_BOUND)
    return np.asarray(below & ~_reach_end(h, remaining))


def _reach_end(h: Any, remaining: Any) -> NDArray[np.bool_]:
    return np.asarray(np.asarray(h) > np.asarray(remaining) * (1 - AT_BOUND))


def name_reasons(h: Any, remaining: Any, steps: StepBounds, otherwise: str) -> NDArray[np.object_]:
    """Return why steps have their sizes h (n,) [s]: end of the run, a bound, or ``otherwise``.

    Parameters
    ----------
    h, remaining : (n,) [s]
        ``remaining`` to the end of the run at the start of each step.
    """
    h, remaining = np.asarray(h), np.asarray(remaining)
    longest = until_end(remaining, steps.h_max, steps.h_min)
    cases = {
        "end": _reach_end(h, remaining),
        "below h_min": are_below(h, remaining, steps),
        "h_max": h > longest * (1 - AT_BOUND),
        "h_min": h < steps.h_min * (1 + AT_BOUND),
    }
    reason: NDArray[np.object_] = np.select(
        list(cases.values()), np.array(list(cases), dtype=object), otherwise
    )
    return reason
