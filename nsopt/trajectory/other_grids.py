"""An optimum solved again on half and on twice as many steps, where that is quick: `OtherGrids`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.simulation import Check
from nsopt.trajectory.grid_error import HALF, TWICE, explain_unknown_error, measure_grid_error
from nsopt.trajectory.guesses import Earlier
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.search import ExactMotion, KeepLimits, LeastDuration, OtherStarts


def refuse_other_checks(check: object) -> None:
    """Raise TypeError for what is neither a `Check` nor None."""
    if check is not None and not isinstance(check, Check):
        raise TypeError(f"check must be Check() or None, got {check!r}")


class NoOptimumError(ValueError):
    """On another grid there is no optimum."""


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
        cost = (HALF + TWICE) * seconds
        if not (check.seconds > 0 and cost <= max(check.seconds, start_seconds)):
            reason = (
                f"half and twice the steps may take {cost:.2g} s, more than Check(seconds="
                f"{check.seconds:g}) allows"
            )
            return explain_unknown_error(self.result, reason)
        try:
            others = {factor: self._solve_on(factor) for factor in (HALF, TWICE)}
            return measure_grid_error(self.result, others, self.dynamics, self.p)
        except NoOptimumError as fault:
            return explain_unknown_error(self.result, str(fault))
        except KeyboardInterrupt:
            return explain_unknown_error(self.result, "interrupted on another grid")
        except Exception as error:  # what tells its error must not lose the optimum
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            return explain_unknown_error(self.result, f"another grid failed, {reason}")

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
        return self._check_violation(self.solve(grid, Earlier(self.result), without=without), steps)

    def _solve_exact_on(self, exact: ExactMotion, factor: float) -> Result:
        try:
            other = exact.solve_on(factor)
        except ValueError as error:
            raise NoOptimumError(
                f"it cannot be stated in {factor:g} times the steps: {error}"
            ) from None
        motion = other.motion
        return self._check_violation(other.record(motion, self.p, self.attrs), len(motion.t) - 1)

    def _check_violation(self, other: Result | None, steps: int) -> Result:
        """Return the motion on another grid; raise NoOptimumError if it violates its conditions."""
        if other is None:
            raise NoOptimumError(f"it cannot be stated in {steps} steps")
        if other.interrupted:
            raise NoOptimumError(f"interrupted in {steps} steps")
        # Large defects are no fault here: they show the error of the grid.
        if not other.data.attrs["violation"] <= self.limit:
            raise NoOptimumError(f"in {steps} steps there is no optimum: {other.stop_reason}")
        return other
