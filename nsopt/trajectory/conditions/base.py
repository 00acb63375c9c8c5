"""The contract of conditions: `Condition`, whose methods return bounds or spans of bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.checks import numbers
from nsopt.mechanics import Dynamics, Outline
from nsopt.mpcc import Bound
from nsopt.trajectory.node_sample import NodeSample


class Span(NamedTuple):
    """Bounds from a first to a last node, both included, given as shares of the number of steps."""

    first: float
    last: float
    bounds: list[Bound]

    def find_nodes(self, steps: int) -> tuple[int, int]:
        """Return the indices of the first and the last node."""
        return round(self.first * steps), round(self.last * steps)


def check_limits(limited: str, lower: float, upper: float) -> None:
    """Raise a ValueError for limits that are NaN, reversed or exclude every number."""
    for side, x in (("lower", lower), ("upper", upper)):
        if np.isnan(numbers(f"{side} limit of {limited}", x)).any():
            raise ValueError(
                f"{side} limit of {limited} must be a number, got nan: leave it out for none"
            )
    if not lower <= upper:
        raise ValueError(
            f"limits of {limited} are reversed: lower {lower:g} exceeds upper {upper:g}"
        )
    if lower == np.inf or upper == -np.inf:
        raise ValueError(f"limits of {limited} leave no number: lower {lower:g}, upper {upper:g}")


def limit(label: str, x: ca.SX, lower: float, upper: float) -> Bound:
    """Return the bound that every entry of an expression (m,) is between two numbers."""
    m = x.numel()
    return Bound(label, x, np.full(m, lower), np.full(m, upper))


class Condition:
    """Constraints on the motion at some or all of its nodes.

    Methods get `NodeSample` ``m``, the motion at one time, and return bounds.
    """

    def check(self, dynamics: Dynamics) -> None:
        """Refuse a mechanism to which the condition does not apply; accept all by default.

        Raises
        ------
        ValueError
        """
        del dynamics

    def start(self, m: NodeSample) -> list[Bound]:
        """Return the bounds at the first node; none by default."""
        del m
        return []

    def along(self, m: NodeSample) -> list[Bound]:
        """Return the bounds at every node; none by default."""
        del m
        return []

    def over_step(self, dynamics: Dynamics, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> list[Bound]:
        """Return the bounds on each step between collocation nodes; none by default.

        Parameters
        ----------
        dynamics : Dynamics
        a : three SX (nv,)
            Accelerations at its start, middle and end, quadratic in time between.
        h : SX scalar [s]
            Length of the step.
        """
        del dynamics, a, h
        return []

    def end(self, m: NodeSample) -> list[Bound]:
        """Return the bounds at the last node; none by default."""
        del m
        return []

    def at_rest(self, dynamics: Dynamics) -> bool:
        """Return whether the bounds at the last node give that all bodies rest; no by default."""
        del dynamics
        return False

    def couple(self, first: NodeSample, last: NodeSample) -> list[Bound]:
        """Return the bounds that couple the first and the last node; none by default."""
        del first, last
        return []

    def during(self, m: NodeSample) -> list[Span]:
        """Return the bounds that hold for a part of the motion; none by default."""
        del m
        return []

    def outline(self) -> list[Outline]:
        """Return lines to draw, such as those of obstacles; none by default."""
        return []


def ends_at_rest(dynamics: Dynamics, conditions: Sequence[Condition]) -> bool:
    """Return whether conditions give that all bodies rest at the end."""
    return any(c.at_rest(dynamics) for c in conditions)
