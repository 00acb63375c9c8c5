"""Guesses from results, resampled: `Earlier` optima, and motions that were `Simulated`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from nsopt.arrays import Array
from nsopt.checks import check_names, finite
from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.sampled import interpolate_columns
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.guesses.base import (
    Bounds,
    Guess,
    Trajectory,
    Values,
    constant_inputs,
)
from nsopt.trajectory.guesses.ends import find_ends
from nsopt.trajectory.guesses.paths import Quintic

MOVED = 1e-6
"""Difference of a coordinate at an end above which an earlier motion is shifted [rad, m]."""


@dataclass(frozen=True, eq=False)
class Earlier(Guess):
    """An earlier optimum, resampled from any grid.

    Where `StartAt` or `EndAt` ask for other coordinates than it has there, the minimum-jerk motion
    between the differences is added, unless there are Euler parameters or internal states of
    friction.

    Parameters
    ----------
    result : Result
        From `optimize`, of the same mechanism.
    shift : (2, nq), optional
        What is added to coordinates at the start and the end; set by `placed`.

    Raises
    ------
    TypeError
        If ``result`` is no Result.
    ValueError
        If it is not that of an optimization, or lacks an input.
    """

    result: Result
    shift: Array | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_result("Earlier", self.result)
        if "input" not in self.result.data:
            raise ValueError(
                f"{self.result.name} is no result of optimize: take Simulated for a simulation"
            )

    def placed(
        self, dynamics: Dynamics, conditions: Sequence[Condition], parameters: Values
    ) -> Self:
        del parameters
        q = self.result.data["q"].values
        if q.shape[1] != dynamics.nq or dynamics.nq != dynamics.nv:
            return self
        shift = find_ends(dynamics, conditions) - q[[0, -1]]
        shift = np.where(np.abs(shift) > MOVED, shift, 0.0)  # zero also for NaN, of free ends
        return replace(self, shift=shift) if shift.any() else self

    def trajectory(self, share: Array, bounds: Bounds, inputs: Sequence[str]) -> Trajectory:
        data = self.result.data
        known = [str(name) for name in data["input_name"].values]
        check_names(f"{self.result.name} has no input", inputs, known)
        recorded = data["input"].values[:, [known.index(name) for name in inputs]]
        motion = _resample(self.result, share, recorded)
        if self.shift is None:
            return motion
        start, end = self.shift
        added = Quintic(start, end, motion.duration).trajectory(share, bounds, ())
        q, v, a = (x + more for x, more in zip(motion[:3], added[:3], strict=True))
        return motion._replace(q=q, v=v, a=a)


@dataclass(frozen=True, eq=False)
class Simulated(Guess):
    """A simulation, resampled; accelerations not on record are differences of its velocities.

    Parameters
    ----------
    result : Result
        From `simulate`, of the same mechanism.
    inputs : mapping of name to float
        Constant values of inputs, zero by default.

    Raises
    ------
    TypeError, ValueError
        If ``result`` is no Result, or a value is not finite.
    """

    result: Result
    inputs: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_result("Simulated", self.result)
        if self.result.data.sizes["time"] < 2:
            raise ValueError(f"{self.result.name!r} has no step, so it is no motion to start from")
        for name, value in self.inputs.items():
            finite(f"input {name!r} of Simulated", value, ())

    def trajectory(self, share: Array, bounds: Bounds, inputs: Sequence[str]) -> Trajectory:
        del bounds
        u = constant_inputs("Simulated", self.inputs, inputs, self.result.data.sizes["time"])
        return _resample(self.result, share, u)


def _check_result(guess: str, result: Result) -> None:
    if not isinstance(result, Result):
        raise TypeError(
            f"{guess} takes a Result, got {result!r}: what optimize or simulate returned, or "
            "Result.open(path)"
        )


def _resample(result: Result, share: Array, inputs: Array) -> Trajectory:
    """Return a result at shares of its duration, with inputs (n, m) given at its times."""
    data = result.data
    t = data["time"].values
    times = t[0] + share * (t[-1] - t[0])

    q, v = data["q"].values, data["v"].values
    a = np.gradient(v, t, axis=0)
    if "acceleration" in data:
        recorded = data["acceleration"].values
        a = np.where(np.isfinite(recorded), recorded, a)
    q, v, a, inputs = (interpolate_columns(times, t, x) for x in (q, v, a, inputs))
    return Trajectory(q, v, a, inputs, float(t[-1] - t[0]))
