"""A run: from where to where, in which steps, with which numbers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start, check_courses, check_start
from nsopt.simulation.bounds import StepBounds

MOST_STEPS = 1e10
"""Steps of one run at most: they take more than a day, and t is rounded to 1e-6 of a step."""


@dataclass(frozen=True, eq=False)
class Run:
    """One run: its start and end, the bounds of its steps, and values of parameters."""

    start: Start
    p: Array  # (np,) parameters of the mechanism
    t_end: float  # [s]
    steps: StepBounds

    @classmethod
    def check(
        cls,
        dynamics: Dynamics,
        start: Start | None,
        duration: float,
        steps: StepBounds,
        parameters: Mapping[str, float] | None,
        restored_by: str = "",
    ) -> Run:
        """Return the run that the arguments of `simulate` describe.

        ``restored_by`` is for `check_start`: what brings open joints back, in words.

        Raises
        ------
        TypeError, ValueError
            If it cannot be run.
        """
        check_run(dynamics, duration, steps)
        p = dynamics.values(parameters)
        start = start or Start.stated(dynamics, parameters)
        check_start(dynamics, start, p, restored_by, stacklevel=4)  # the call of `simulate`
        check_courses(dynamics, start, p, float(duration))
        _warn_of_outputs(dynamics, start, p)
        return cls(start, p, start.t + duration, steps)

    def repeat(self, part: float, t_end: float) -> Run:
        """Return the same run up to ``t_end`` [s] in steps of a part of the size."""
        return replace(self, t_end=t_end, steps=self.steps.scale(part))


def check_run(dynamics: Dynamics, duration: float, steps: StepBounds) -> None:
    """Refuse what cannot be run.

    Raises
    ------
    TypeError
        If ``dynamics`` is not what `assemble` returns, or ``steps`` are no StepBounds.
    ValueError
        If the duration is not a positive number, or nothing can move.
    """
    for name, value, kind, example in (
        ("dynamics", dynamics, Dynamics, "assemble(mechanism, elements)"),
        ("steps", steps, StepBounds, "StepBounds(1e-4, 1e-3)"),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be an object such as {example}, got {value!r}")
    if not isinstance(duration, Real) or not 0 < float(duration) < np.inf:
        raise ValueError(f"duration must be a positive number of seconds, got {duration!r}")
    if (count := float(duration) / steps.h_max) > MOST_STEPS:
        raise ValueError(
            f"{duration:g} s in steps of h_max = {steps.h_max:g} s are {count:.2g} steps, more "
            f"than {MOST_STEPS:.0e}: shorten the duration, or lengthen h_max"
        )
    if dynamics.nv == 0:
        raise ValueError("nothing moves: every joint of the mechanism is Fixed")


def _warn_of_outputs(dynamics: Dynamics, start: Start, p: Array) -> None:
    """Warn of a start beyond the range for which the laws of forces are made."""
    values = np.asarray(dynamics.outputs(start.t, start.q, start.v, p)).ravel()
    limits = np.asarray(dynamics.output_limits(p)).ravel()
    for k in np.flatnonzero(values > limits):
        unit = dynamics.output_units[k]
        factor, unit = (np.degrees(1.0), "deg") if unit == "rad" else (1.0, unit)
        value, limit = factor * values[k], factor * limits[k]
        warnings.warn(
            f"at the start {dynamics.output_names[k]} is {value:.4g} {unit}, "
            f"{value - limit:.3g} {unit} more than the {limit:.4g} {unit} of its law: start "
            "nearer, or check the frames",
            stacklevel=4,  # the call of `simulate`
        )
