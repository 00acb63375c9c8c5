"""The rows that a min map is made of: `MinRow`, one for each pair, box, disc entry or first event.

`Newton` solves for zeros of their values; at a solution their alternatives tell which switch next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import casadi as ca


class Alternative(NamedTuple):
    """An expression that may become zero in place of the one that a row has now."""

    expr: ca.SX  # scalar, scaled
    margin: ca.SX  # how far the row is from switching to it, >= 0; infinite where it never does
    label: str  # of the pair, box or row that would switch


class Holding(NamedTuple):
    """The expression that a row has now, and its alternatives."""

    expr: ca.SX  # scalar, scaled
    alternatives: tuple[Alternative, ...]


class MinRow(ABC):
    """A row of the min map."""

    @property
    @abstractmethod
    def value(self) -> ca.SX:
        """The expression that is zero at a solution."""

    @property
    @abstractmethod
    def holding(self) -> Holding:
        """The expression that `value` is at given unknowns; which one has no derivative."""
