"""Starts of an interior-point method from points with multipliers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WarmStart:
    """The start of an interior-point method from a point with multipliers.

    Parameters
    ----------
    mu : float
        Barrier parameter.
    push : float
        By how much the start is pushed off bounds, at most.
    decrease : float
        Near the solution the barrier parameter falls to this power of itself; between 1 and 2.
    """

    mu: float = 1e-8
    push: float = 1e-9
    decrease: float = 1.5

    def __post_init__(self) -> None:
        if not self.mu > 0 or not self.push > 0:
            raise ValueError(f"mu and push must be positive, got {self}")
        if not 1 < self.decrease < 2:
            raise ValueError(f"decrease must be between 1 and 2, got {self}")


BENT = WarmStart(1e-5, 3e-5, 1.65)
"""At a rough solution of the same program without the small cost of how accelerations bend within
steps (`StepBend`)."""

BESIDE = WarmStart(1e-5, 1e-3)
"""At a solution under costs that differ a little, with the barrier parameter of a rough one."""

ROUGHLY = WarmStart(1e-5, 1e-5)
"""At a rough solution of the same program, with the barrier parameter that IPOPT ends it with."""

AT_ONCE = WarmStart(1e-9, 1e-8)
"""At a rough solution where no curvature is negative, with the barrier parameter that IPOPT ends
with."""

NEAR = WarmStart()  # at a point that is nearly the solution, found by another statement of it

IN_FEW_STEPS = WarmStart(1e-3, 1e-3)
"""At a rough solution in fewer steps, without multipliers: the trot of a quadruped then takes about
20 iterations in all steps. Or at the optimum in a neighbouring sequence of contact: with IPOPT's
own barrier phases whose durations are free first leave it, and often do not come back."""

IN_OTHER_STEPS = WarmStart(1e-5, 1e-4)
"""At an optimum in other steps, without multipliers: from further off pins roll otherwise again."""

ENDED = WarmStart(1e-9)
"""At a solution but for a few limits, with the barrier parameter that IPOPT ended with. From 1e-8
it first leaves the solution, and comes back: three iterations more in each round of limits."""
