"""Unknown parameters within bounds, and their scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics


@dataclass(frozen=True)
class Unknown:
    """A parameter of the mechanism to be found within bounds.

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
        of_unknown = f"of unknown {self.name!r}"
        if not (np.isfinite(self.lower) and np.isfinite(self.upper) and self.lower < self.upper):
            raise ValueError(
                f"bounds {of_unknown} must be finite, lower below upper: {self.lower:g}, "
                f"{self.upper:g}"
            )
        if not self.lower <= self.guess <= self.upper:
            raise ValueError(
                f"guess {of_unknown} must be within its bounds {self.lower:g} and {self.upper:g}, "
                f"got {self.guess:g}"
            )


class ScaledUnknowns:
    """The unknowns of a problem, scaled by their bounds to lie between 0 and 1.

    ``parameters`` are values of other ones.
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
        self.width: Array = np.array([x.upper - x.lower for x in unknowns])
        self.guess = self.scale(np.array([x.guess for x in unknowns]))
        for x in (np.zeros(len(unknowns)), np.ones(len(unknowns))):
            dynamics.values(self.numbers(x))  # elements may refuse a bound

    def scale(self, values: Array) -> Array:
        """Return values of the unknowns scaled to 0 to 1."""
        scaled: Array = (values - self._lower) / self.width
        return scaled

    def values(self, x: Array) -> Array:
        """Return values of the unknowns from scaled ones."""
        values: Array = self._lower + x * self.width
        return values

    def numbers(self, x: Array) -> dict[str, float]:
        """Return values of given parameters and of the unknowns by name, from scaled ones."""
        return self._fixed | dict(zip(self.names, self.values(x).tolist(), strict=True))
