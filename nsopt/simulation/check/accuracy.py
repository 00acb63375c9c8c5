"""The size of steps with which a run is as accurate as asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nsopt.caveats import LargestError, find_error_of_energy, find_error_of_motion, has_errors
from nsopt.result import Result
from nsopt.simulation.bounds import StepBounds

FIRST = 100
"""Steps of the first run, where no bounds are given, and ..."""

SMALLEST = 1e-4
"""... the part of h_max that h_min is: impacts are placed by it."""

SAFE = 0.5
"""Of the accuracy asked for, that which the next run aims at."""

SHORTEST, LONGEST = 1 / 64, 0.5
"""Part of h that the next run takes at least and at most."""

LOST = 0.25
"""The same where no order was seen."""

GAIN = 0.8
"""Of the error before, that from which on shorter steps do not help."""

RUNS = 12
"""Runs at most."""


@dataclass(frozen=True)
class Accuracy:
    """The error that a run may have: of the motion and of the energy, over their sizes.

    Runs follow in shorter and shorter steps, each by the order that was seen in the one before.
    They end where the error is met, or where it does not fall any more: beyond the time until which
    a chaotic motion is predictable no steps help.

    Parameters
    ----------
    part : float
        Of the size of the motion, and of the energy that it exchanges.
    """

    part: float

    def __post_init__(self) -> None:
        if not 0 < self.part < 1:
            raise ValueError(f"accuracy must be a part between 0 and 1, got {self.part!r}")

    def first_bounds(self, duration: float) -> StepBounds:
        """Return bounds to begin with."""
        h = duration / FIRST
        return StepBounds(SMALLEST * h, h)

    def reach(self, run: Callable[..., Result], steps: StepBounds) -> Result:
        """Return the first run, of those in shorter and shorter steps, that is accurate enough.

        Or the most accurate one, with ``accuracy_missed`` in its attributes.

        Parameters
        ----------
        run : callable
            Of ``steps``, returns the run with its errors.
        steps : StepBounds
            Of the first run.
        """
        best, least, rising = None, np.inf, 0
        for _ in range(RUNS):
            result = run(steps=steps)
            if result.interrupted or not has_errors(result.data):
                error = LargestError(np.inf, np.inf)
            else:
                error = self._find_error(result)
            if error.part <= self.part or result.interrupted:
                return _note(result, self.part, error.part)
            rising = rising + 1 if error.part > GAIN * least else 0
            if best is None or error.part < least:
                best, least = result, error.part
            if rising > 1:
                break
            steps = steps.scale(self._shrink(error))
        assert best is not None
        return _note(best, self.part, least)

    def _find_error(self, result: Result) -> LargestError:
        found = (find_error_of_motion(result.data), find_error_of_energy(result.data))
        return max(found, key=lambda error: error.part)

    def _shrink(self, error: LargestError) -> float:
        """Return the part of h for the next run."""
        if not np.isfinite(error.part):
            return LOST
        if not np.isfinite(error.order):
            return LOST
        part = (SAFE * self.part / error.part) ** (1 / error.order)
        return float(np.clip(part, SHORTEST, LONGEST))


def _note(result: Result, asked: float, error: float) -> Result:
    missed = int(not error <= asked)
    return Result(result.data.assign_attrs(accuracy=asked, accuracy_missed=missed))
