"""The rows that a min map is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import casadi as ca


class Alternative(NamedTuple):
    """An expression that may hold in place of another."""

    expr: ca.SX  # scalar, scaled
    margin: ca.SX  # how far it is from holding, zero or more; infinite where it does not count
    label: str  # of the pair, box or row that would switch


class Holding(NamedTuple):
    """The expression that holds in a row, and its alternatives."""

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
        """The expression that holds at given unknowns, chosen by switches without derivatives."""
