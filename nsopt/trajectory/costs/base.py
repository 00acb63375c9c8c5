"""The contract of costs (`Cost`), and weighted sums of costs (`Sum`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import casadi as ca

from nsopt.checks import not_negative, positive
from nsopt.mechanics import Dynamics
from nsopt.trajectory.node_sample import NodeSample

C = TypeVar("C", bound="Cost")


@dataclass(frozen=True, kw_only=True)
class Cost:
    """A term of the objective: an integral over the motion, a cost of its end, costs of impacts.

    ``2 * a + b`` is the `Sum` of costs a and b, the first with twice its weight. Methods get
    `NodeSample` ``m``, the motion at one time, and return scalars in the unit of the cost.

    Parameters
    ----------
    weight : float
        Factor of the cost in the objective; reported costs include it.

    Raises
    ------
    ValueError
        If the weight is negative.
    """

    without_effect: ClassVar[str] = "nothing of the mechanism makes it more or less; leave it out"
    """What messages say if the cost is the same for all motions: why, and the remedy."""

    weight: float = 1.0

    def __post_init__(self) -> None:
        not_negative(f"weight of {type(self).__name__}", self.weight)

    def check(self, dynamics: Dynamics) -> None:
        """Refuse a mechanism to which the cost does not apply; accept all by default.

        Raises
        ------
        ValueError
        """
        del dynamics

    def rate(self, m: NodeSample) -> ca.SX:
        """Return the integrand over time, the cost per second; zero by default."""
        del m
        return ca.SX(0)

    def final(self, m: NodeSample) -> ca.SX:
        """Return the cost of the last node; zero by default."""
        del m
        return ca.SX(0)

    def over_step(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        """Return the cost of one step between collocation nodes; zero by default.

        Parameters
        ----------
        a : three SX (nv,)
            Accelerations at its start, middle and end, quadratic in time between.
        h : SX scalar [s]
            Length of the step.
        """
        del a, h
        return ca.SX(0)

    def impact(self, m: NodeSample) -> ca.SX:
        """Return the cost of impacts at a node of a time-stepped motion; zero by default."""
        del m
        return ca.SX(0)

    def __mul__(self: C, factor: float) -> C:
        """Return the same cost with its weight times a factor."""
        return replace(self, weight=self.weight * factor)

    __rmul__ = __mul__

    def __add__(self, other: Cost) -> Sum:
        """Return the sum of both."""
        return Sum(costs=(*flattened([self]), *flattened([other])))


@dataclass(frozen=True, kw_only=True)
class ScaledCost(Cost):
    """A cost that grows by one per second at a force or a power, its scale."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(f"scale of {type(self).__name__}", self.scale)


@dataclass(frozen=True, kw_only=True)
class Sum(Cost):
    """A weighted sum of costs as one.

    Parameters
    ----------
    costs : sequence of Cost
        The weight of each is multiplied by that of the sum.
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

    def rate(self, m: NodeSample) -> ca.SX:
        return sum((cost.weight * cost.rate(m) for cost in self.costs), ca.SX(0))

    def final(self, m: NodeSample) -> ca.SX:
        return sum((cost.weight * cost.final(m) for cost in self.costs), ca.SX(0))

    def over_step(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        return sum((cost.weight * cost.over_step(a, h) for cost in self.costs), ca.SX(0))

    def impact(self, m: NodeSample) -> ca.SX:
        return sum((cost.weight * cost.impact(m) for cost in self.costs), ca.SX(0))


def flattened(costs: Sequence[Cost]) -> tuple[Cost, ...]:
    """Return costs with every `Sum` replaced by its terms, weights multiplied."""
    terms: list[Cost] = []
    for cost in costs:
        if isinstance(cost, Sum):
            terms += [part * cost.weight for part in flattened(cost.costs)]
        else:
            terms.append(cost)
    return tuple(terms)
