"""Optima on finer and finer grids, until their errors are small enough."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from nsopt.checks import between, positive
from nsopt.interrupt import guard
from nsopt.result import Result
from nsopt.trajectory.accuracy import MOST, solve_on_finer_grids
from nsopt.trajectory.assessment import mark_stopped
from nsopt.trajectory.grid_error import SOLVED
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimization import Optimization
from nsopt.trajectory.smoothing.dry_friction import read_exact_cost
from nsopt.trajectory.smoothing.schedules import horizon_settings
from nsopt.trajectory.transcription.polynomials import why_not_by_default


class GridSolve(NamedTuple):
    """The solve on one grid of the series."""

    steps: int
    objective: float  # with exact friction, for grids smooth it differently
    defect: float  # [m, rad] see `Horizon.defect`
    iterations: int
    seconds: float
    accuracy: float = 0.0  # error of the objective by the tolerances of solvers


class ErrorEstimate(ABC):
    """An estimate of the discretisation error of an optimum."""

    def check(self, optimization: Optimization) -> None:
        """Raise ValueError for a motion whose error it cannot estimate; accept all by default."""
        del optimization

    @abstractmethod
    def estimate(self, grids: Sequence[GridSolve]) -> float:
        """Return the estimated error of the last grid; infinite while it cannot be estimated."""


@dataclass(frozen=True)
class StepDefect(ErrorEstimate):
    """Largest distance between a reintegrated step and the next node [rad or m].

    Only for collocation: the steps of a time-stepping scheme are not reintegrated.
    """

    def check(self, optimization: Optimization) -> None:
        why = why_not_by_default(optimization.dynamics)
        if optimization.scheme is not None:
            why = f"it is stated in steps of {type(optimization.scheme).__name__}"
        if why:
            raise ValueError(
                f"StepDefect cannot estimate the error of this motion, since {why}: give "
                "by=ObjectiveChange()"
            )

    def estimate(self, grids: Sequence[GridSolve]) -> float:
        return grids[-1].defect


@dataclass(frozen=True)
class ObjectiveChange(ErrorEstimate):
    """Error of the objective, from its change between grids [Richardson].

    The order is observed on the last four grids and used if both observations agree within one
    half; otherwise it is taken as one, so that the change itself is the estimate. Changes are
    irregular where limits become active between nodes. No estimate is below `SOLVED`.

    Parameters
    ----------
    order : float
        Largest order that is used.

    Raises
    ------
    ValueError
        If the order is less than one.
    """

    order: float = 4.0

    def __post_init__(self) -> None:
        between("order of ObjectiveChange", self.order, 1, 10, "that of the scheme is four")

    def estimate(self, grids: Sequence[GridSolve]) -> float:
        if len(grids) < 2:
            return np.inf
        changes = np.abs(np.diff([grid.objective for grid in grids[-4:]]))
        order = 1.0
        if len(changes) == 3 and changes.min() > 0:
            observed = np.log2(changes[:-1] / changes[1:])
            if abs(observed[1] - observed[0]) < 0.5:
                order = float(np.clip(observed.min(), 1.0, self.order))
        return max(float(changes[-1] / (2.0**order - 1)), grids[-1].accuracy)


def refine(
    optimization: Optimization,
    tolerance: float,
    *,
    by: ErrorEstimate | None = None,
    most: int = MOST,
    parameters: Mapping[str, float] | None = None,
    title: str = "",
) -> Result:
    """Return the optimum on a grid whose estimated error is within a tolerance.

    The problem is solved on the stated grid, then repeatedly with twice as many steps, each time
    from the previous optimum. A grid that is too coarse (large defects of reintegrated steps) does
    not end the series; a grid on which conditions remain violated, from the stated guess as well,
    does. So does one within the tolerance that is not known to be stationary: it is not completed,
    and says so.

    Parameters
    ----------
    optimization : Optimization
    tolerance : float
        Largest estimated error.
    by : ErrorEstimate, optional
        By default `StepDefect`; for time-stepped motions give `ObjectiveChange`.
    most : int
        Greatest number of steps.
    parameters, title
        As for `Optimization.solve`.

    Returns
    -------
    Result
        On the last grid; ``attrs["grids"]`` (JSON) has for each ``steps``, ``objective``,
        ``defect``, ``iterations``, ``seconds`` and ``estimate`` (None where there is none).
        If the tolerance is not met, ``completed`` is False and ``stop_reason`` says so. So it is
        after Ctrl-C, with the motion on the last grid that was solved.

    Raises
    ------
    ValueError
        If the tolerance is not positive, the first grid is finer than allowed, or the estimate
        does not apply to such a motion; and as for `optimize`.
    KeyboardInterrupt
        After Ctrl-C or SIGTERM before the first solver has begun.
    """
    positive("tolerance of refine", tolerance)
    stated, by = optimization, by or StepDefect()
    by.check(stated)
    steps = stated.horizon.steps
    if steps > most:
        raise ValueError(f"refine starts with {steps} steps, more than {most}: allow more")
    limit = horizon_settings(stated.solver).tolerances.rows
    grids: list[GridSolve] = []
    rows: list[dict[str, float | None]] = []
    result, error, stopped = None, np.inf, ""

    def solve(horizon: Horizon, guess: Guess) -> Result:
        own = replace(stated, horizon=horizon, guess=guess)
        return own.solve(parameters, title=title, check=None)

    series = solve_on_finer_grids(solve, stated.horizon, stated.guess, limit, most)
    with guard():  # an interrupt is heard by each solve
        try:
            for solved in series:
                if solved.interrupted and result is not None:
                    stopped = f"interrupted with {solved.data.attrs['steps']} steps"
                    break
                result, steps = solved, int(solved.data.attrs["steps"])
                grids.append(_summarize(result, steps))
                error = by.estimate(grids)
                estimate = error if np.isfinite(error) else None
                rows.append(grids[-1]._asdict() | {"estimate": estimate})
                # It meets all conditions, but may not be known to be stationary.
                kind = result.data.attrs["stationarity_kind"]
                if error <= tolerance and (result.completed or kind not in ("", "S", "B")):
                    break
        except KeyboardInterrupt:
            if result is None:
                raise
            stopped = f"interrupted with {2 * steps} steps"
    assert result is not None  # the series has one grid at least
    if stopped:
        result = mark_stopped(result, stopped)
    attrs: dict[str, Any] = {"grids": json.dumps(rows)}
    if not error <= tolerance and result.completed:
        why = (
            f"the error is estimated at {error:.3g} with {steps} steps, above the tolerance "
            f"{tolerance:g}: allow more steps"
        )
        attrs |= {"completed": 0, "stop_reason": why}
    return Result(result.data.assign_attrs(attrs))


def _summarize(result: Result, steps: int) -> GridSolve:
    objective, defect = read_exact_cost(result), float(result.data.attrs.get("defect", np.nan))
    iterations, seconds = (
        float(np.nansum(result[name].values)) for name in ("iterations", "solve_time")
    )
    accuracy = SOLVED * abs(objective)
    return GridSolve(steps, objective, defect, round(iterations), seconds, accuracy)
