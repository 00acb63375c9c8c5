"""Where an optimization starts: a motion, made from little."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.mechanics.checks import numbers
from nsopt.result import Result

Array = NDArray[np.float64]


class Course(NamedTuple):
    """A motion at n times."""

    q: Array  # (n, nq)
    v: Array  # (n, nv)
    a: Array  # (n, nv)
    inputs: Array  # (n, number of inputs)
    duration: float  # [s]


def _typical(bounds: tuple[float, float]) -> float:
    """Return a duration between bounds, of which the upper may be missing."""
    low, high = bounds
    return (low + high) / 2 if np.isfinite(high) else 2 * low


class Guess(ABC):
    """A motion to start from."""

    @abstractmethod
    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        """Return the motion at shares of its duration, (n,) from 0 to 1.

        Parameters
        ----------
        share : (n,)
        bounds : (float, float) [s]
            Least and most duration.
        inputs : names
        """


@dataclass(frozen=True)
class Quintic(Guess):
    """From pose to pose at rest, by the polynomial of fifth degree with accelerations zero too.

    Parameters
    ----------
    start, end : (nq,)
    duration : float, optional [s]
        By default the mean of its bounds, or twice the least where there is no most.
    """

    start: ArrayLike
    end: ArrayLike
    duration: float | None = None

    def __post_init__(self) -> None:
        a, b = numbers("start of Quintic", self.start), numbers("end of Quintic", self.end)
        if a.shape != b.shape or a.ndim != 1:
            raise ValueError(
                f"start and end of Quintic must be alike, got shapes {a.shape} and {b.shape}"
            )

    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        T = self.duration or _typical(bounds)
        a, b = (np.asarray(x, dtype=float) for x in (self.start, self.end))
        s, way = share[:, None], b - a
        return Course(
            a + way * (10 * s**3 - 15 * s**4 + 6 * s**5),
            way * (30 * s**2 - 60 * s**3 + 30 * s**4) / T,
            way * (60 * s - 180 * s**2 + 120 * s**3) / T**2,
            np.zeros((len(share), len(inputs))),
            T,
        )


@dataclass(frozen=True)
class Straight(Guess):
    """From pose to pose at constant velocity.

    Parameters
    ----------
    start, end : (nq,)
    inputs : mapping of name to float
        Constant values.
    duration : float, optional [s]
        As for `Quintic`.
    """

    start: ArrayLike
    end: ArrayLike
    inputs: dict[str, float] = field(default_factory=dict)
    duration: float | None = None

    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        T = self.duration or _typical(bounds)
        a, b = (np.asarray(x, dtype=float) for x in (self.start, self.end))
        q = a + np.outer(share, b - a)
        u = np.tile([self.inputs.get(name, 0.0) for name in inputs], (len(share), 1))
        return Course(q, np.tile((b - a) / T, (len(share), 1)), 0 * q, u, T)


@dataclass(frozen=True, eq=False)
class Earlier(Guess):
    """An earlier optimum, on any grid.

    Parameters
    ----------
    result : Result
        From `optimize`, of the same mechanism.
    """

    result: Result

    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        del bounds
        data = self.result.data
        t = data["time"].values
        at = t[0] + share * (t[-1] - t[0])

        def over(values: Array) -> Array:
            return np.column_stack([np.interp(at, t, x) for x in values.T] or [np.zeros((0,))])

        u = np.zeros((len(share), len(inputs)))
        for k, name in enumerate(inputs):
            u[:, k] = np.interp(at, t, data["input"].sel(input_name=name).values)
        q, v, a = (over(data[name].values) for name in ("q", "v", "acceleration"))
        return Course(q, v, a, u, float(t[-1] - t[0]))
