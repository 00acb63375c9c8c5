"""Optima on finer and finer grids, until one is as accurate as asked for: `GridAccuracy`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real

import numpy as np

from nsopt.arrays import Array
from nsopt.caveats import find_error_of_motion, find_error_of_objective
from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.stored import ERROR
from nsopt.trajectory.assessment import mark_stopped
from nsopt.trajectory.grid_error import HALF, QUARTER, explain_unknown_error, measure_grid_error
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.horizon import Horizon

Solve = Callable[[Horizon, Guess], Result]
"""Returns the optimum on a grid, from a guess."""

MOST = 2000  # steps at most
NEXT = "interrupted on the next grid"
GAIN = 0.8  # part of the error on half the steps, below which more steps helped
STALLS = 3  # grids in a row on which they may not help


def solve_on_finer_grids(
    solve: Solve, horizon: Horizon, guess: Guess, limit: float, most: int = MOST
) -> Iterator[Result]:
    """Yield optima on the stated grid, then each on twice as many steps from the one before.

    Where that leads to no motion within the ``limit`` on the violation, from the stated guess. The
    series ends with the first grid on which that leads to none either, or that was interrupted.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before there was a motion on the next grid.
    """
    guesses = [guess]
    while horizon.steps <= most:
        for x in guesses:
            result = solve(horizon, x)
            fits = result.data.attrs["violation"] <= limit
            if fits or result.interrupted:
                break
        yield result
        if result.interrupted or not fits:
            return
        horizon, guesses = horizon.with_steps(2 * horizon.steps), [Earlier(result), guess]


@dataclass(frozen=True)
class GridAccuracy:
    """The error that an optimum may have: of the objective and of the motion, over their sizes.

    The motion counts as long as finer grids bring it nearer to another one. Where they do not
    although the objective is met, costs do not decide it, as of joints that have time to spare.
    """

    part: float

    def __post_init__(self) -> None:
        if not isinstance(self.part, Real) or not 0 < self.part < 1:
            raise ValueError(f"accuracy must be a part between 0 and 1, got {self.part!r}")

    def reach(
        self,
        solve: Solve,
        horizon: Horizon,
        guess: Guess,
        limit: float,
        dynamics: Dynamics,
        p: Array,
    ) -> Result:
        """Return the optimum on the first grid that is fine enough, else on the finest.

        With its errors, by half and a quarter of its steps. Where that is not fine enough, it has
        ``accuracy_missed`` in its attributes. Arguments as for `solve_on_finer_grids`; ``dynamics``
        and ``p`` are of the mechanism.
        """
        most = max(MOST, horizon.steps)
        series = solve_on_finer_grids(solve, horizon, guess, limit, most)
        runs: list[Result] = []
        parts: list[tuple[float, float]] = []  # errors of objective and motion, from the second on
        why, stopped = f"it takes more than {most} steps", ""
        try:
            for result in series:
                if result.interrupted or not result.data.attrs["violation"] <= limit:
                    why = f"in {result.data.attrs['steps']} steps there is no optimum"
                    stopped = NEXT if runs and result.interrupted else ""
                    runs = runs or [result]
                    break
                if runs:
                    others = dict(zip((HALF, QUARTER), runs[::-1], strict=False))
                    result = measure_grid_error(result, others, dynamics, p)
                    parts.append(_find_parts(result))
                runs.append(result)
                # Two grids may agree by chance where limits are bound to their nodes.
                known = len(runs) > 2 or "switching_limits" not in result.data.attrs
                if result.completed and known and self._is_met(parts):
                    why = ""
                    break
                if _do_not_help(parts):
                    why = "more steps do not help"
                    break
        except KeyboardInterrupt:
            if not runs:
                raise
            stopped = NEXT
        result = runs[-1]
        if not parts:
            result = explain_unknown_error(result, stopped or why)
        steps = horizon.steps * 2 ** (len(runs) - 1)  # exact motions have more in their phases
        about = {"accuracy": self.part, "accuracy_missed": int(bool(why)), "accuracy_why": why}
        about |= {"accuracy_steps": steps}
        result = Result(result.data.assign_attrs(about))
        return mark_stopped(result, stopped) if stopped else result

    def _is_met(self, parts: list[tuple[float, float]]) -> bool:
        """Tell whether the last grid is fine enough, by errors of objective and motion."""
        objective, motion = parts[-1] if parts else (np.inf, np.inf)
        if objective > self.part or motion <= self.part:
            return objective <= self.part
        return len(parts) > 1 and motion > GAIN * parts[-2][1]


def _do_not_help(parts: list[tuple[float, float]]) -> bool:
    """Tell whether on the last grids errors of the objective did not fall."""
    objectives = np.array([x for x, _ in parts])
    before, last = objectives[:-STALLS], objectives[-STALLS:]
    return bool(before.size and np.all(last > GAIN * before.min()))


def _find_parts(result: Result) -> tuple[float, float]:
    """Return the errors of objective and motion over their sizes, zero of what there is not."""
    objective = find_error_of_objective(result.data)
    known = ERROR + "motion" in result.data
    motion = find_error_of_motion(result.data).part if known else 0.0
    return (0.0 if objective is None else objective.part), motion
