"""The contract of guesses (`Guess`), and the sampled motion they return (`Trajectory`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from nsopt.arrays import Array
from nsopt.checks import check_names, finite, numbers, plain, positive
from nsopt.mechanics import Dynamics
from nsopt.trajectory.conditions import Condition

Bounds = tuple[float, float]
"""Least and greatest duration [s]."""

Values = Mapping[str, float] | None
"""Values of parameters by name; None for those that are stated."""


class Trajectory(NamedTuple):
    """A motion sampled at n times."""

    q: Array  # (n, nq)
    v: Array  # (n, nv)
    a: Array  # (n, nv)
    inputs: Array  # (n, number of inputs)
    duration: float  # [s]

    def with_internal_states(self, dynamics: Dynamics) -> Trajectory:
        """Return the motion with internal states of friction, zero unless it has them already."""
        n, moving = len(dynamics.internal_names), dynamics.nv
        if not n:
            return self
        if self.q.shape[1] == self.v.shape[1] == moving + n:  # their rates are no velocities
            return self._replace(v=self.v[:, :moving], a=self.a[:, :moving])
        if self.q.shape[1] != dynamics.nq - n:
            return self
        return self._replace(q=np.hstack([self.q, np.zeros((len(self.q), n))]))

    def check(self, guess: str, dynamics: Dynamics, inputs: Sequence[str]) -> None:
        """Refuse a motion whose sizes are not those of a mechanism, or that is not finite.

        Parameters
        ----------
        guess : str
            Name of the guess, for messages.
        dynamics : Dynamics
        inputs : names

        Raises
        ------
        ValueError
            If the number of coordinates, velocities or inputs is wrong, or a value is not finite.
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
                    f"{', '.join(names) or 'none'}; got it from {guess}"
                )
            if not np.isfinite(x).all():
                k = int(np.argmin(np.isfinite(x).all(axis=0)))
                raise ValueError(f"the guess {guess} is not finite in its {what}, {names[k]}")
        positive(f"duration of the guess {guess}", self.duration)


def typical_duration(bounds: Bounds) -> float:
    """Return the mean of the bounds of a duration, twice the lower one if the upper is infinite."""
    low, high = bounds
    return (low + high) / 2 if np.isfinite(high) else 2 * low


def finite_numbers(what: str, value: Any) -> Array:
    """Return numbers of any shape; raise a ValueError that names ``what`` if one is not finite."""
    plain(what, value)
    return finite(what, value, numbers(what, value).shape)


def check_duration(guess: str, duration: float | None) -> None:
    """Refuse a given duration that is not a positive number."""
    if duration is not None:
        positive(f"duration of {guess}", duration, "leave it out for that of the horizon")


def constant_inputs(
    guess: str, values: Mapping[str, float], inputs: Sequence[str], n: int
) -> Array:
    """Return constant inputs, (n, number of inputs); refuse values of names that are none.

    Zero where no value is given.
    """
    check_names(f"{guess} gives a value to", values, inputs, ", which is no input")
    return np.tile([float(values.get(name, 0.0)) for name in inputs], (n, 1))


class Guess(ABC):
    """An initial guess of the motion."""

    def placed(
        self, dynamics: Dynamics, conditions: Sequence[Condition], parameters: Values
    ) -> Self:
        """Return the guess with what it leaves to a mechanism and to conditions; itself by default.

        Parameters
        ----------
        dynamics : Dynamics
        conditions : sequence of Condition
            Those of the optimization.
        parameters : mapping of name to float, optional

        Raises
        ------
        ValueError
            If a name is unknown, or no posture meets the conditions.
        """
        del dynamics, conditions, parameters
        return self

    @abstractmethod
    def trajectory(self, share: Array, bounds: Bounds, inputs: Sequence[str]) -> Trajectory:
        """Return the motion at shares of its duration, (n,) from 0 to 1.

        Parameters
        ----------
        share : (n,)
            Times over the duration.
        bounds : (float, float) [s]
            Least and greatest duration.
        inputs : names
            Parameters of which the optimum chooses a value at each node.

        Raises
        ------
        ValueError
            If it lacks a value for an input, or has one for a name that is no input.
        """
