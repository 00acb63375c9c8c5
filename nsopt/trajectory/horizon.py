"""Duration of a motion, and its division into steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from nsopt.checks import finite, numbers, positive
from nsopt.simulation import StepBounds


@dataclass(frozen=True)
class Horizon:
    """Duration of a motion, and its division into steps.

    Parameters
    ----------
    duration : float or (float, float) [s]
        Given, or the least and greatest value of a free one.
    steps : int
    h : StepBounds, optional
        Bounds of each step where step sizes are free; by default all steps are equal.
    breaks : sequence of float
        Nodes, as shares of the number of steps between 0 and 1, at which the step size may change,
        such as where a contact closes. Without breaks, if ``h`` is given, each step has its own
        size.
    defect : float, optional [m, rad]
        Largest distance by which a step, integrated again under the same forces, may miss its
        end; where one misses by more, the steps are too few. By default a thousandth of the size of
        the motion: the farthest that a body moves [m], and the largest angle, at most 1 rad.

    Raises
    ------
    TypeError
        If ``duration`` is neither a number nor a pair of them, or ``h`` no StepBounds.
    ValueError
        If a time is not positive, bounds are reversed or cannot be met by so many steps, or there
        are less than two steps.
    """

    duration: float | tuple[float, float]
    steps: int = 100
    h: StepBounds | None = None
    breaks: Sequence[float] = ()
    defect: float | None = None

    def __post_init__(self) -> None:
        self._check_types()
        low, high = self.bounds
        if not (np.isfinite(low) and low > 0):
            raise ValueError(f"duration of Horizon must be positive, got {low:g} s")
        if not high >= low:
            raise ValueError(
                f"bounds of the duration are reversed: least {low:g} s, most {high:g} s"
            )
        if isinstance(self.steps, bool) or not isinstance(self.steps, Integral) or self.steps < 2:
            raise ValueError(
                f"steps of Horizon must be 2 or more, got {self.steps!r}: give a whole number"
            )
        h = self.h
        if h is not None and not (self.steps * h.h_min <= high and low <= self.steps * h.h_max):
            raise ValueError(
                f"{self.steps} steps of {h.h_min:g} to {h.h_max:g} s are {self.steps * h.h_min:g} "
                f"to {self.steps * h.h_max:g} s, but the motion takes {low:g} to {high:g} s: "
                "give other steps or bounds"
            )
        for share in self.breaks:
            if not 1 <= self.node(share) <= self.steps - 1:
                raise ValueError(
                    f"break {share:g} of Horizon is at no node between the first and the last of "
                    f"{self.steps} steps: give shares between 0 and 1, or more steps"
                )

    def _check_types(self) -> None:
        """Refuse values of the wrong type."""
        T = self.duration
        if not all(isinstance(x, Real) for x in (T if isinstance(T, tuple) else [T])) or (
            isinstance(T, tuple) and len(T) != 2
        ):
            raise TypeError(
                f"duration of Horizon must be a number or a pair (least, most) in s, got {T!r}"
            )
        if self.h is not None and not isinstance(self.h, StepBounds):
            raise TypeError(
                f"h of Horizon must be StepBounds(h_min, h_max), got {self.h!r}: leave it out for "
                "steps that are alike"
            )
        if self.defect is not None:
            positive("defect of Horizon", self.defect, "leave it out for one by the motion's size")
        shares = numbers("breaks of Horizon", self.breaks)
        finite("breaks of Horizon", self.breaks, (shares.size,))

    @property
    def fixed(self) -> bool:
        """Whether the times of all nodes are given, so that none is an unknown."""
        low, high = self.bounds
        return low == high and self.h is None and not self.breaks

    def with_steps(self, steps: int) -> Horizon:
        """Return the same in another number of steps, bounds of each scaled alike."""
        h = None if self.h is None else self.h.scale(self.steps / steps)
        return replace(self, steps=steps, h=h)

    def node(self, share: float) -> int:
        """Return the index of the node nearest to a share of the number of steps."""
        return round(share * self.steps)

    def mark_equal_steps(self) -> NDArray[np.float64]:
        """Return 1 for each step that is as long as the one before, else 0, (steps,)."""
        alike = np.full(self.steps, float(self.h is None or bool(self.breaks)))
        alike[[0, *(self.node(share) for share in self.breaks)]] = 0
        return alike

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest duration [s]."""
        if isinstance(self.duration, tuple):
            low, high = self.duration
            return float(low), float(high)
        return float(self.duration), float(self.duration)
