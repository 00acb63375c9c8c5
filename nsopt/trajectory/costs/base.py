"""What every cost is, and sums of costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mechanics.checks import not_negative
from nsopt.trajectory.moment import Moment

C = TypeVar("C", bound="Cost")


@dataclass(frozen=True, kw_only=True)
class Cost:
    """A cost over the motion and at its end.

    ``2 * a + b`` is the `Sum` of costs a and b, the first with twice its weight.

    Parameters
    ----------
    weight : float
        By which it enters the sum; shares are reported with it.

    Raises
    ------
    ValueError
        If the weight is negative.
    """

    weight: float = 1.0

    def __post_init__(self) -> None:
        not_negative(f"weight of {type(self).__name__}", self.weight)

    def check(self, dynamics: Dynamics) -> None:
        """Refuse a mechanism that it is not for; none by default.

        Raises
        ------
        ValueError
        """
        del dynamics

    def rate(self, m: Moment) -> ca.SX:
        """Return the cost per second; zero by default."""
        del m
        return ca.SX(0)

    def final(self, m: Moment) -> ca.SX:
        """Return the cost of the end; zero by default."""
        del m
        return ca.SX(0)

    def over(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        """Return the cost of a step of a motion by polynomials; zero by default.

        Parameters
        ----------
        a : three SX (nv,)
            Accelerations at its start, middle and end, a parabola between.
        h : SX scalar [s]
        """
        del a, h
        return ca.SX(0)

    def blow(self, m: Moment) -> ca.SX:
        """Return the cost of blows at a moment of a motion in steps; zero by default."""
        del m
        return ca.SX(0)

    def __mul__(self: C, factor: float) -> C:
        """Return the same cost with its weight times a factor."""
        return replace(self, weight=self.weight * factor)

    __rmul__ = __mul__

    def __add__(self, other: Cost) -> Sum:
        """Return the sum of both."""
        return Sum(costs=(*spread([self]), *spread([other])))


@dataclass(frozen=True, kw_only=True)
class Sum(Cost):
    """A weighted sum of costs as one.

    Parameters
    ----------
    costs : sequence of Cost
        Their weights are multiplied by that of the sum.
    """

    costs: Sequence[Cost]

    def __post_init__(self) -> None:
        super().__post_init__()
        for cost in self.costs:
            if not isinstance(cost, Cost):
                raise TypeError(f"a Sum is made of costs, got {cost!r}: give Effort(), ...")

    def check(self, dynamics: Dynamics) -> None:
        for cost in self.costs:
            cost.check(dynamics)

    def rate(self, m: Moment) -> ca.SX:
        return sum((cost.weight * cost.rate(m) for cost in self.costs), ca.SX(0))

    def final(self, m: Moment) -> ca.SX:
        return sum((cost.weight * cost.final(m) for cost in self.costs), ca.SX(0))

    def over(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        return sum((cost.weight * cost.over(a, h) for cost in self.costs), ca.SX(0))

    def blow(self, m: Moment) -> ca.SX:
        return sum((cost.weight * cost.blow(m) for cost in self.costs), ca.SX(0))


def spread(costs: Sequence[Cost]) -> tuple[Cost, ...]:
    """Return costs with sums replaced by what they are made of, each with its own share."""
    found: list[Cost] = []
    for cost in costs:
        if isinstance(cost, Sum):
            found += [part * cost.weight for part in spread(cost.costs)]
        else:
            found.append(cost)
    return tuple(found)
