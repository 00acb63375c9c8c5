"""What every condition is."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mechanics.checks import numbers
from nsopt.trajectory.moment import Moment

Array = NDArray[np.float64]


class Bound(NamedTuple):
    """lower <= value <= upper."""

    label: str
    value: ca.SX  # (m,)
    lower: Array  # (m,)
    upper: Array  # (m,)


class Span(NamedTuple):
    """What holds from node to node, first and last included; shares of the number of steps."""

    first: float
    last: float
    bounds: list[Bound]

    def of(self, steps: int) -> Span:
        """Return the same in numbers of nodes."""
        return Span(round(self.first * steps), round(self.last * steps), self.bounds)


def check_limits(of: str, lower: float, upper: float) -> None:
    """Refuse limits that are no numbers or leave none, with a ValueError that says of what."""
    for side, x in (("lower", lower), ("upper", upper)):
        if np.isnan(numbers(f"{side} limit {of}", x)).any():
            raise ValueError(f"{side} limit {of} must be a number, got nan: leave it out for none")
    if not lower <= upper:
        raise ValueError(f"limits {of} are reversed: lower {lower:g} exceeds upper {upper:g}")
    if lower == np.inf or upper == -np.inf:
        raise ValueError(f"limits {of} leave no number: lower {lower:g}, upper {upper:g}")


class Condition:
    """What holds of moments of a motion."""

    def check(self, dynamics: Dynamics) -> None:
        """Refuse a mechanism that it is not for; none by default.

        Raises
        ------
        ValueError
        """
        del dynamics

    def start(self, m: Moment) -> list[Bound]:
        """Return what holds at the start; nothing by default."""
        del m
        return []

    def along(self, m: Moment) -> list[Bound]:
        """Return what holds all along; nothing by default."""
        del m
        return []

    def end(self, m: Moment) -> list[Bound]:
        """Return what holds at the end; nothing by default."""
        del m
        return []

    def couple(self, first: Moment, last: Moment) -> list[Bound]:
        """Return what holds between start and end; nothing by default."""
        del first, last
        return []

    def during(self, m: Moment) -> list[Span]:
        """Return what holds for a part of the motion; nothing by default."""
        del m
        return []
