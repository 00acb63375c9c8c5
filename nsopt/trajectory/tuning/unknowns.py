"""Parameters that are to be found, within bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Unknown:
    """A parameter of the mechanism that is to be found.

    Parameters
    ----------
    name : str
    guess : float
    lower, upper : float

    Raises
    ------
    ValueError
        Unless lower < upper, both finite, with the guess between them.
    """

    name: str
    guess: float
    lower: float
    upper: float

    def __post_init__(self) -> None:
        of = f"of unknown {self.name!r}"
        if not (np.isfinite(self.lower) and np.isfinite(self.upper) and self.lower < self.upper):
            raise ValueError(
                f"bounds {of} must be finite, lower below upper: {self.lower:g}, {self.upper:g}"
            )
        if not self.lower <= self.guess <= self.upper:
            raise ValueError(
                f"guess {of} must be within its bounds {self.lower:g} and {self.upper:g}, got "
                f"{self.guess:g}"
            )


class Box:
    """The unknowns of a problem, scaled by the width of their bounds to lie between 0 and 1.

    Parameters
    ----------
    dynamics : Dynamics
    unknowns : sequence of Unknown
    parameters : mapping of name to number, optional
        Values of other parameters.

    Raises
    ------
    ValueError
        If there is none, one is no parameter, is there twice or given a value besides.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        unknowns: Sequence[Unknown],
        parameters: Mapping[str, float] | None,
    ) -> None:
        if not unknowns:
            raise ValueError("give at least one Unknown")
        self.names = tuple(x.name for x in unknowns)
        known = [parameter.name for parameter in dynamics.parameters]
        for name in self.names:
            if name not in known:
                have = ", ".join(known) or "none"
                raise ValueError(f"unknown {name!r} is no parameter; this mechanism has: {have}")
            if self.names.count(name) > 1:
                raise ValueError(f"unknown {name!r} is given twice: leave one of them")
            if name in (parameters or {}):
                raise ValueError(f"unknown {name!r} is given a value in parameters: leave it out")
        self._fixed = dict(parameters or {})
        self._lower = np.array([x.lower for x in unknowns])
        self._width = np.array([x.upper - x.lower for x in unknowns])
        self.guess = self.scaled(np.array([x.guess for x in unknowns]))
        for x in (np.zeros(len(unknowns)), np.ones(len(unknowns))):
            dynamics.values(self.numbers(x))  # elements may refuse a bound

    @property
    def width(self) -> Array:
        """Upper less lower bounds, (k,)."""
        return self._width

    def scaled(self, values: Array) -> Array:
        """Return values of the unknowns as parts of their bounds' width."""
        found: Array = (values - self._lower) / self._width
        return found

    def values(self, x: Array) -> Array:
        """Return values from parts of the bounds' width."""
        found: Array = self._lower + x * self._width
        return found

    def numbers(self, x: Array) -> dict[str, float]:
        """Return all parameters that are given, by name."""
        return self._fixed | dict(zip(self.names, self.values(x).tolist(), strict=True))
