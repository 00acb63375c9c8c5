"""What every guess is: a motion, made from little."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mechanics.checks import finite, numbers, plain, positive

Array = NDArray[np.float64]


class Course(NamedTuple):
    """A motion at n times."""

    q: Array  # (n, nq)
    v: Array  # (n, nv)
    a: Array  # (n, nv)
    inputs: Array  # (n, number of inputs)
    duration: float  # [s]

    def of(self, dynamics: Dynamics) -> Course:
        """Return it with the internal states of friction, zero if it has none of them."""
        n, moving = len(dynamics.internal_names), dynamics.nv
        if not n:
            return self
        if self.q.shape[1] == self.v.shape[1] == moving + n:  # a path of all coordinates
            return self._replace(v=self.v[:, :moving], a=self.a[:, :moving])
        if self.q.shape[1] != dynamics.nq - n:
            return self
        return self._replace(q=np.hstack([self.q, np.zeros((len(self.q), n))]))

    def check(self, of: str, dynamics: Dynamics, inputs: Sequence[str]) -> None:
        """Refuse what is no motion of a mechanism.

        Parameters
        ----------
        of : str
            Whose course it is, for messages.
        dynamics : Dynamics
        inputs : names

        Raises
        ------
        ValueError
            If there are more or less numbers than the mechanism has, or one is not finite.
        """
        d = dynamics
        named = (
            ("coordinates", self.q, d.q_names, "the mechanism has"),
            ("velocities", self.v, d.v_names, "the mechanism has"),
            ("accelerations", self.a, d.v_names, "the mechanism has"),
            ("inputs", self.inputs, inputs, "the optimum chooses"),
        )
        for what, x, names, whose in named:
            if x.shape[1] != len(names):
                raise ValueError(
                    f"the guess has {x.shape[1]} {what}, {whose} {len(names)}: "
                    f"{', '.join(names) or 'none'}; got it from {of}"
                )
            if not np.isfinite(x).all():
                k = int(np.argmin(np.isfinite(x).all(axis=0)))
                raise ValueError(f"the guess {of} is not finite in its {what}, {names[k]}")
        positive(f"duration of the guess {of}", self.duration)


def typical(bounds: tuple[float, float]) -> float:
    """Return a duration between bounds, of which the upper may be missing."""
    low, high = bounds
    return (low + high) / 2 if np.isfinite(high) else 2 * low


def pose(what: str, value: Any) -> Array:
    """Return numbers as they stand, all finite; ValueError named ``what`` otherwise."""
    plain(what, value)
    return finite(what, value, numbers(what, value).shape)


def check_duration(of: str, duration: float | None) -> None:
    """Refuse a duration that is given and no positive number."""
    if duration is not None:
        positive(f"duration of {of}", duration, "leave it out for that of the horizon")


def constant(of: str, values: Mapping[str, float], inputs: Sequence[str], n: int) -> Array:
    """Return inputs that do not change, (n, number of inputs); zero where no value is given.

    Raises
    ------
    ValueError
        If a value is of no input.
    """
    for name in values:
        if name not in inputs:
            raise ValueError(
                f"{of} gives a value to {name!r}, which is no input: one of "
                f"{', '.join(inputs) or 'none'}"
            )
    return np.tile([float(values.get(name, 0.0)) for name in inputs], (n, 1))


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

        Raises
        ------
        ValueError
            If it has no value for an input, or one for what is no input.
        """
