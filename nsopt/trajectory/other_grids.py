"""An optimum solved again on half and on twice as many steps, where that is quick: `OtherGrids`.

`measure_by_other_grids` does the same of phases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.simulation import Check
from nsopt.trajectory.grid_error import HALF, TWICE, explain_unknown_error, measure_grid_error
from nsopt.trajectory.guesses import Earlier
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.search import ExactMotion, KeepLimits, LeastDuration, OtherStarts

IF_QUICK = Check()
"""The check of an optimum by default: on half and on twice the steps, where that is quick."""

S = TypeVar("S")
T = TypeVar("T")


def refuse_other_checks(check: object) -> None:
    """Raise TypeError for what is neither a `Check` nor None."""
    if check is not None and not isinstance(check, Check):
        raise TypeError(f"check must be Check() or None, got {check!r}")


class NoOptimumError(ValueError):
    """On another grid there is no optimum."""


def measure_by_other_grids(
    check: Check,
    seconds: float,
    start_seconds: float,
    solve_on: Callable[[float], S],
    measure: Callable[[Mapping[float, S]], T],
) -> T | str:
    """Return what is measured of an optimum on half and twice the steps; as str, why it is not.

    Parameters
    ----------
    check : Check
        How long it may take, or as long as the statement did.
    seconds, start_seconds : float
        Of the solve of the optimum, and of its statement.
    solve_on : callable
        Returns the optimum on so many times as many steps, or raises NoOptimumError.
    measure : callable
    """
    cost = (HALF + TWICE) * seconds
    if not (check.seconds > 0 and cost <= max(check.seconds, start_seconds)):
        return (
            f"half and twice the steps may take {cost:.2g} s, more than Check(seconds="
            f"{check.seconds:g}) allows"
        )
    try:
        return measure({factor: solve_on(factor) for factor in (HALF, TWICE)})
    except NoOptimumError as fault:
        return str(fault)
    except KeyboardInterrupt:
        return "interrupted on another grid"
    except Exception as error:  # what tells its error must not lose the optimum
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return f"another grid failed, {reason}"


def check_violation(other: Result | None, steps: int, limit: float) -> Result:
    """Return a motion on another grid; raise NoOptimumError if it violates conditions by more."""
    if other is None:
        raise NoOptimumError(f"it cannot be stated in {steps} steps")
    if other.interrupted:
        raise NoOptimumError(f"interrupted in {steps} steps")
    # Large defects are no fault here: they show the error of the grid.
    if not other.data.attrs["violation"] <= limit:
        raise NoOptimumError(f"in {steps} steps there is no optimum: {other.stop_reason}")
    return other


@dataclass(frozen=True, eq=False)
class OtherGrids:
    """An optimum on other grids, each solved from itself."""

    result: Result
    dynamics: Dynamics
    p: Array  # (np,) values of parameters
    horizon: Horizon
    limit: float  # on the violation
    solve: Callable[..., Result | None]  # (horizon, guess, without=strategies); None if refused
    exact: ExactMotion | None  # through contact, in place of the optimum in steps
    attrs: Mapping[str, Any]  # of the result

    def check(self, check: Check, seconds: float, start_seconds: float) -> Result:
        """Return the optimum with its error, if that is told within the time allowed.

        ``seconds`` are those of its solve, ``start_seconds`` those of its statement.
        """
        if self.exact is not None:  # its sequence is known, and not searched again
            seconds = self.exact.seconds

        def measure(others: Mapping[float, Result]) -> Result:
            return measure_grid_error(self.result, others, self.dynamics, self.p)

        found = measure_by_other_grids(check, seconds, start_seconds, self._solve_on, measure)
        return explain_unknown_error(self.result, found) if isinstance(found, str) else found

    def _solve_on(self, factor: float) -> Result:
        """Return the optimum on so many times as many steps; raise NoOptimumError if none is."""
        if self.exact is not None:
            return self._solve_exact_on(self.exact, factor)
        steps = math.ceil(factor * self.horizon.steps)
        try:
            grid = self.horizon.with_steps(steps)
        except ValueError as error:
            raise NoOptimumError(str(error)) from None
        # What limits between nodes cost is known from the optimum itself.
        without = (OtherStarts, LeastDuration, KeepLimits)
        found = self.solve(grid, Earlier(self.result), without=without)
        return check_violation(found, steps, self.limit)

    def _solve_exact_on(self, exact: ExactMotion, factor: float) -> Result:
        try:
            other = exact.solve_on(factor)
        except ValueError as error:
            raise NoOptimumError(
                f"it cannot be stated in {factor:g} times the steps: {error}"
            ) from None
        motion = other.motion
        found = other.record(motion, self.p, self.attrs)
        return check_violation(found, len(motion.t) - 1, self.limit)
