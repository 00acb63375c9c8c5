"""What `fit` and `design` are given: unknowns within bounds, measurements, windows of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.checks import check_names, numbers
from nsopt.mechanics import Dynamics, Start
from nsopt.trajectory.sensitivity import Output


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
    """The unknowns of a problem, scaled by their bounds to lie between 0 and 1."""

    def __init__(
        self,
        dynamics: Dynamics,
        unknowns: Sequence[Unknown],
        parameters: Mapping[str, float] | None,
    ) -> None:
        if not unknowns:
            raise ValueError("give at least one Unknown")
        self.names = tuple(x.name for x in unknowns)
        check_names("unknown", self.names, dynamics.parameter_names, " is no parameter")
        for name in self.names:
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


@dataclass(frozen=True, eq=False)
class Measured:
    """Measured values of outputs of a motion.

    Parameters
    ----------
    times : (n,) [s]
        Ascending, all after the start of the motion.
    values : (n, m), or (n,) of one output
    outputs : callable (t, q, v, p) -> SX (m,)
        The measured functions of the state, as for `sensitivities`.
    deviation : float or (m,)
        Standard deviation of the noise of each output.

    Raises
    ------
    ValueError
        If times do not ascend, shapes do not fit, a number is not finite or a standard deviation
        not positive.
    """

    times: Array
    values: Array
    outputs: Output
    deviation: float | Array

    def __post_init__(self) -> None:
        times, values, deviation = (
            numbers(f"{name} of Measured", getattr(self, name))
            for name in ("times", "values", "deviation")
        )
        if times.ndim != 1 or not times.size or not np.all(np.diff(times) > 0):
            raise ValueError(f"times of Measured must be a row that ascends, got {self.times!r}")
        if values.ndim not in (1, 2) or len(values) != len(times):
            raise ValueError(
                f"values of Measured must have a row for each of {len(times)} times, got shape "
                f"{values.shape}"
            )
        values = values.reshape(len(times), -1)
        if deviation.shape not in ((), (values.shape[1],)):
            raise ValueError(
                f"deviation of Measured must be one number or one for each of {values.shape[1]} "
                f"outputs, got shape {deviation.shape}"
            )
        deviation = np.broadcast_to(deviation, values.shape[1:])
        if not np.all(np.isfinite(values)):
            raise ValueError("measured values must be finite: leave out the times where they fail")
        if not np.all((deviation > 0) & np.isfinite(deviation)):
            raise ValueError(f"deviation of the noise must be positive, got {self.deviation}")
        for name, x in (("times", times), ("values", values), ("deviation", deviation)):
            object.__setattr__(self, name, x)


def check_measured(dynamics: Dynamics, measured: Measured, start: Start | None) -> None:
    """Refuse values that do not match the outputs in number, and times before the start."""
    sizes = (1, dynamics.nq, dynamics.nv, len(dynamics.parameters))
    symbols = (ca.SX.sym(name, n) for name, n in zip("tqvp", sizes, strict=True))
    made, columns = ca.SX(measured.outputs(*symbols)).numel(), measured.values.shape[1]
    if made != columns:
        raise ValueError(
            f"outputs of Measured are {made} numbers, but its values have {columns} columns: give "
            "one for each"
        )
    begin = 0.0 if start is None else start.t
    if not measured.times[0] > begin:
        raise ValueError(
            f"times of Measured begin at {measured.times[0]:g} s, not after the start at "
            f"{begin:g} s: leave out those before"
        )


class Window(ABC):
    """A rule that divides a measured motion into windows, fitted one after the other."""

    @abstractmethod
    def ends(self, times: Array, impact: float | None) -> list[float]:
        """Return the ends of the windows [s]; the last is the end of the motion.

        ``times`` (n,) [s] are those that are measured. ``impact`` is the end of the step in which a
        contact first closes [s], simulated with the guesses of the unknowns; None if none does.
        Contacts that press in the first step count as closed from the start.
        """


@dataclass(frozen=True)
class FullWindow(Window):
    """One window, the whole motion; for smooth motions."""

    def ends(self, times: Array, impact: float | None) -> list[float]:
        del impact
        return [float(times[-1])]


@dataclass(frozen=True)
class GrowingWindow(Window):
    """Windows from the start of the motion, each longer than the one before.

    After impacts the motion, as a function of a clearance, oscillates the more the longer it lasts,
    so that a fit to all of it ends in a local minimum of the residual. The values from a short
    window are close enough to start the next one.

    Parameters
    ----------
    first : float [s], optional
        End of the first window after the start; by default twice the time of the first impact, or
        the whole motion where there is none.
    growth : float
        Ratio of the end of a window to that of the one before, above 1.
    """

    first: float | None = None
    growth: float = 1.5

    def __post_init__(self) -> None:
        if self.first is not None and not self.first > 0:
            raise ValueError(f"first of GrowingWindow must be positive, got {self.first}")
        if not self.growth > 1:
            raise ValueError(f"growth of GrowingWindow must be above 1, got {self.growth}")

    def ends(self, times: Array, impact: float | None) -> list[float]:
        if self.first is None and impact is None:
            return [float(times[-1])]
        end = self.first if self.first is not None else 2 * float(impact or 0)
        ends: list[float] = []
        while end < times[-1]:
            ends.append(float(end))
            end *= self.growth
        return [*ends, float(times[-1])]
