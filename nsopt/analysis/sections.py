"""Poincare sections: states once a period, or where a quantity passes a level."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nsopt.analysis.quantities import Quantity, quantity
from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.contact_modes import IMPACT
from nsopt.result import Result


class PoincareSection(ABC):
    """A rule that gives the times of a run at which its state is of interest."""

    @abstractmethod
    def times(self, result: Result) -> Array:
        """Return the times (n,) [s], within the run.

        Raises
        ------
        ValueError
            If the section is not one of the run.
        """


@dataclass(frozen=True)
class Strobe(PoincareSection):
    """Once a period.

    Parameters
    ----------
    period : float [s]
    phase : float
        Part of a period, from 0 to 1.

    Raises
    ------
    ValueError
        If the period is not positive.
    """

    period: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.period < np.inf:
            raise ValueError(f"period of a Strobe must be positive, got {self.period}")

    def __str__(self) -> str:
        return f"once every {self.period:.6g} s" + (f", phase {self.phase:g}" * bool(self.phase))

    def times(self, result: Result) -> Array:
        t = result["time"].values
        first = np.ceil((t[0] - 1e-9 * self.period) / self.period - self.phase)
        last = np.floor((t[-1] + 1e-9 * self.period) / self.period - self.phase)
        times: Array = (np.arange(first, last + 1) + self.phase) * self.period
        return np.clip(times, t[0], t[-1])


@dataclass(frozen=True)
class Crossing(PoincareSection):
    """Where a quantity passes a level.

    Parameters
    ----------
    of : str or callable
        As for `quantity`: the angle of a crank, the speed of a slider, ...
    level : float
    every : float, optional
        The level and all that are multiples of this away, such as 2 pi for an angle that goes on.
    rising : bool
        Upwards, else downwards.
    """

    of: Quantity
    level: float = 0.0
    every: float | None = None
    rising: bool = True

    def __str__(self) -> str:
        name = self.of if isinstance(self.of, str) else "a quantity"
        levels = f"{self.level:.6g}" + (f" + k {self.every:.6g}" if self.every else "")
        return f"{name} = {levels}, {'rising' if self.rising else 'falling'}"

    def times(self, result: Result) -> Array:
        t, x = result["time"].values, quantity(result, self.of) - self.level
        x = x if self.rising else -x
        if self.every is None:
            above = x >= 0
            k = np.flatnonzero(above[1:] & ~above[:-1])
            share = -x[k] / (x[k + 1] - x[k])
            return np.asarray(t[k] + share * np.diff(t)[k])
        number = np.floor(x / self.every)  # of the last level below
        times = [np.zeros(0)]
        for i in np.flatnonzero(np.diff(number) > 0).tolist():
            levels = np.arange(number[i] + 1, number[i + 1] + 1) * self.every
            times.append(t[i] + (levels - x[i]) / (x[i + 1] - x[i]) * (t[i + 1] - t[i]))
        return np.concatenate(times)


@dataclass(frozen=True)
class Impacts(PoincareSection):
    """The ends of steps in which a contact meets its wall; the state is that after the impact.

    Parameters
    ----------
    contact : str, optional
        Name of the contact; any by default.
    """

    contact: str | None = None

    def __str__(self) -> str:
        return "at impacts" + (f" of {self.contact}" if self.contact else "")

    def times(self, result: Result) -> Array:
        names, mode = list(result["contact"].values), result["contact_mode"].values
        wanted = [] if self.contact is None else [self.contact]
        check_names("no contact", wanted, names)
        chosen = [names.index(x) for x in wanted] or slice(None)
        return np.asarray(result["time"].values[np.any(mode[:, chosen] == IMPACT, axis=1)])


def poincare(
    result: Result, section: PoincareSection, of: Sequence[str] | None = None, skip: int = 0
) -> pd.DataFrame:
    """Return quantities where a run meets a section, a row for each time.

    Interpolated linearly between steps, with an error of second order in h; velocities in a step
    with an impact are those before it. With these ``times`` `simulate` keeps the states themselves.

    Parameters
    ----------
    result : Result
    section : PoincareSection
    of : sequence of str, optional
        Names as for `quantity`; all coordinates and velocities by default.
    skip : int
        How many of the first times to leave out, while a motion settles.

    Returns
    -------
    pandas.DataFrame
        Columns by name, times [s] as index.
    """
    times = section.times(result)[skip:]
    if of is None:
        of = [*map(str, result["q_name"].values), *map(str, result["v_name"].values)]
    return pd.DataFrame(
        {name: interpolate(result, quantity(result, name), times) for name in of},
        index=pd.Index(times, name="time"),
    )


def phase(result: Result, x: Quantity, y: Quantity) -> pd.DataFrame:
    """Return two quantities over time side by side, such as an angle and its rate."""
    names = [name if isinstance(name, str) else "xy"[k] for k, name in enumerate((x, y))]
    values = [quantity(result, name) for name in (x, y)]
    index = pd.Index(result["time"].values, name="time")
    return pd.DataFrame(dict(zip(names, values, strict=True)), index=index)


def interpolate(result: Result, values: Array, times: Array) -> Array:
    """Return values (time,) interpolated at times (n,), constant in steps with an impact."""
    t = result["time"].values
    found = np.interp(times, t, values)
    if "contact_mode" not in result.data or not result.data.sizes["contact"]:
        return np.asarray(found)
    struck = np.any(result["contact_mode"].values == IMPACT, axis=1)
    k = np.clip(np.searchsorted(t, times), 1, len(t) - 1)
    jumps = struck[k] & (times < t[k]) & (times > t[k - 1])
    return np.where(jumps, values[k - 1], found)
