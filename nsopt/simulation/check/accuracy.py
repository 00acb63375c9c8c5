"""The size of steps with which a run is as accurate as asked for: `Accuracy`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np

from nsopt.caveats import (
    LargestError,
    cover_all,
    cut_to_two_digits,
    find_error_of_energy,
    find_error_of_motion,
    find_predictable_time,
)
from nsopt.result import Result
from nsopt.simulation.bounds import StepBounds

FIRST = 100  # steps of the first run, where no bounds are given
SMALLEST = 1e-4  # h_min over h_max of it: impacts are placed by it
SAFE = 0.7  # part of the accuracy asked for at which the next run aims
# Part of h that the next run takes at least and at most: with less an order that was seen may not
# hold, with more an error of first order would fall by less than a fifth.
SHORTEST, LONGEST = 1 / 64, 0.8
UNSURE = 1 / 8  # the least unless the order is that of the run before, to within ...
ALIKE = 0.2  # ... this, or that of a scheme, which is a whole number from ...
WHOLE = 2  # ... this on, to within ...
NEARLY = 0.1  # ... this
UNKNOWN = 0.25  # part of h that it takes at most where no order was seen
GAIN = 0.8  # part of the error before, below which shorter steps helped
LONGER = 1.5  # factor on the time until which a motion is predictable, above which they helped too
FAILED = 4  # runs in a row that may tell nothing of their error, before one does
RUNS, MOST = 20, 1_000_000  # runs at most, and steps of each at most


class _Trial(NamedTuple):
    """A run, the larger error of its motion and energy, and until when it is predictable [s]."""

    result: Result | None
    error: LargestError = LargestError(np.inf, np.inf)
    until: float = -np.inf

    @classmethod
    def of(cls, result: Result) -> _Trial:
        """Return a run with what it tells of its error."""
        data = result.data
        if not (result.completed and cover_all(data)):
            return cls(result)
        errors = (find_error_of_motion(data), find_error_of_energy(data))
        worst = max(errors, key=lambda error: error.part)
        return cls(result, worst, find_predictable_time(data))

    @property
    def merit(self) -> tuple[float, float]:
        """The larger the better the run: first how long it is predictable, then its error."""
        return self.until, -self.error.part


@dataclass(frozen=True)
class Accuracy:
    """The error that a run may have: of the motion and of the energy, as a part of their sizes.

    Runs follow in shorter and shorter steps, each by the order that was seen in the one before.
    They end where the error is met, or where it does not fall any more: beyond the time until which
    a chaotic motion is predictable no steps help.
    """

    part: float

    def __post_init__(self) -> None:
        if not isinstance(self.part, Real) or not 0 < self.part < 1:
            raise ValueError(f"accuracy must be a part between 0 and 1, got {self.part!r}")

    def first_bounds(self, duration: float) -> StepBounds:
        """Return bounds to begin with."""
        h = duration / FIRST
        return StepBounds(SMALLEST * h, h)

    def reach(self, run: Callable[..., Result], steps: StepBounds) -> Result:
        """Return the first run, of those in shorter and shorter steps, that is accurate enough.

        Or the one that is predictable longest, with ``accuracy_missed`` in its attributes, and
        ``accuracy_h`` [s] where so short steps would do, but take too many. ``run`` returns a run
        with its errors, of ``steps``; these are those of the first.
        """
        best, stalls = _Trial(None), 0  # runs in a row that shorter steps did not make better
        whole, needed = 1.0, np.nan  # part of the stated steps; h that would do, if too small
        before = np.nan  # the order seen in the last run
        for _ in range(RUNS):
            try:
                result = run(steps=_round_bounds(steps.scale(whole)))
            except KeyboardInterrupt:
                if best.result is None:
                    raise
                break  # what there is, is kept
            trial = _Trial.of(result)
            gains = trial.until > LONGER * best.until or trial.error.part < GAIN * best.error.part
            stalls = 0 if gains else stalls + 1
            met = trial.error.part <= self.part
            if met or best.result is None or trial.merit > best.merit:
                best = trial
            failed = np.isinf(best.error.part)
            if met or stalls > (FAILED if failed else 1) or result.interrupted:
                break
            part, order = self._shrink(trial.error), trial.error.order
            sure = abs(order - before) <= ALIKE or _is_of_scheme(order)
            least = SHORTEST if sure else UNSURE if np.isfinite(order) or whole == 1 else UNKNOWN
            next_part = np.clip(part, least, LONGEST)
            if result.data.attrs["steps"] > next_part * MOST:
                if np.isfinite(order):
                    needed = whole * part * steps.h_max
                break
            whole, before = cut_to_two_digits(whole * next_part), order
        assert best.result is not None
        missed = int(not best.error.part <= self.part)
        about = {"accuracy": self.part, "accuracy_missed": missed, "accuracy_h": needed}
        return Result(best.result.data.assign_attrs(about))

    def _shrink(self, error: LargestError) -> float:
        """Return the part of h that is short enough, by the order that was seen."""
        if not np.isfinite(error.part):
            return UNKNOWN
        fall = SAFE * self.part / error.part
        if not np.isfinite(error.order):
            return min(UNKNOWN, float(fall ** (1 / WHOLE)))
        # Steps that are still too long show a little more than the order of the scheme.
        lower = np.floor(error.order)
        long = lower >= WHOLE and error.order - lower < 1 / 2
        order = lower if long else error.order
        return float(fall ** (1 / order))


def _is_of_scheme(order: float) -> bool:
    """Return whether an order is nearly one that a scheme may have."""
    return order > WHOLE - NEARLY and abs(order - np.round(order)) <= NEARLY


def _round_bounds(steps: StepBounds) -> StepBounds:
    """Return bounds in the digits that summaries print, so that these take the same steps."""
    return StepBounds(*(float(f"{x:.10g}") for x in (steps.h_min, steps.h_max, steps.part)))
