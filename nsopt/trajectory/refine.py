"""An optimum on grids ever finer, until an estimate of its error holds."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nsopt.mechanics.checks import between, positive
from nsopt.result import Result
from nsopt.trajectory.collocation import no_accelerations
from nsopt.trajectory.guesses import Earlier
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.task import Optimization


class Grid(NamedTuple):
    """A solve of the series."""

    steps: int
    objective: float
    deviation: float
    iterations: int
    seconds: float


class ErrorEstimate(ABC):
    """What is to become small on finer grids."""

    def check(self, optimization: Optimization) -> None:
        """Refuse a motion of which it cannot tell the error; none by default.

        Raises
        ------
        ValueError
        """
        del optimization

    @abstractmethod
    def estimate(self, grids: Sequence[Grid]) -> float:
        """Return the error of the last grid; infinite as long as it cannot be told."""


@dataclass(frozen=True)
class StepDeviation(ErrorEstimate):
    """By how much a step integrated afresh ends beside its node at most [rad or m].

    Only of motions with accelerations: steps of a scheme are not integrated afresh.
    """

    def check(self, optimization: Optimization) -> None:
        why = no_accelerations(optimization.dynamics)
        if optimization.scheme is not None:
            why = f"it is stated in steps of {type(optimization.scheme).__name__}"
        if why:
            raise ValueError(
                f"StepDeviation cannot tell the error of this motion, since {why}: give "
                "by=ObjectiveChange()"
            )

    def estimate(self, grids: Sequence[Grid]) -> float:
        return grids[-1].deviation


@dataclass(frozen=True)
class ObjectiveChange(ErrorEstimate):
    """Error of the objective, from its change between grids [Richardson].

    An order counts if the last four grids show it twice, to a half; else it is taken as one, so
    that the change itself is the estimate: where limits begin and end to act between nodes, changes
    are irregular.

    Parameters
    ----------
    order : float
        The most that is believed.

    Raises
    ------
    ValueError
        If the order is less than one.
    """

    order: float = 4.0

    def __post_init__(self) -> None:
        between("order of ObjectiveChange", self.order, 1, 10, "that of the scheme is four")

    def estimate(self, grids: Sequence[Grid]) -> float:
        if len(grids) < 2:
            return np.inf
        changes = np.abs(np.diff([grid.objective for grid in grids[-4:]]))
        order = 1.0
        if len(changes) == 3 and changes.min() > 0:
            seen = np.log2(changes[:-1] / changes[1:])
            if abs(seen[1] - seen[0]) < 0.5:
                order = float(np.clip(seen.min(), 1.0, self.order))
        return float(changes[-1] / (2.0**order - 1))


def refine(
    optimization: Optimization,
    tolerance: float,
    *,
    by: ErrorEstimate | None = None,
    most: int = 2000,
    parameters: Mapping[str, float] | None = None,
    title: str = "optimum",
) -> Result:
    """Return the optimum on a grid that is fine enough.

    It is solved on the grid stated, then on grids of twice as many steps, each from the motion
    before. A grid too coarse for its motion (steps that integrated afresh end beside their nodes)
    is no failure; one on which conditions are violated, from the guess stated as well, ends the
    series.

    Parameters
    ----------
    optimization : Optimization
    tolerance : float
        Of the estimated error.
    by : ErrorEstimate, optional
        By default `StepDeviation`; of a motion in steps of a scheme `ObjectiveChange`, which must
        be given.
    most : int
        Steps of the finest grid allowed.
    parameters, title
        As for `Optimization.solve`.

    Returns
    -------
    Result
        On the last grid; ``attrs["grids"]`` (JSON) tells of each its ``steps``, ``objective``,
        ``deviation``, ``iterations``, ``seconds`` and ``estimate`` (None where it cannot be told).
        If the tolerance is not met, ``completed`` is False and ``stop_reason`` says so.

    Raises
    ------
    ValueError
        If the tolerance is not positive, the first grid is finer than allowed, or the estimate
        cannot tell the error of such a motion; and as for `optimize`.
    """
    positive("tolerance of refine", tolerance)
    stated, by = optimization, by or StepDeviation()
    by.check(stated)
    steps = stated.horizon.steps
    if steps > most:
        raise ValueError(f"refine starts with {steps} steps, more than {most}: allow more")
    limit = stated.solver.feasibility
    grids: list[Grid] = []
    rows: list[dict[str, float | None]] = []
    while True:
        result = optimization.solve(parameters, title=title)
        if grids and not result.data.attrs["violation"] <= limit:
            result = replace(optimization, guess=stated.guess).solve(parameters, title=title)
        steps = optimization.horizon.steps
        grids.append(_grid(result, steps))
        error = by.estimate(grids)
        rows.append(grids[-1]._asdict() | {"estimate": error if np.isfinite(error) else None})
        violated = not result.data.attrs["violation"] <= limit
        if violated or (error <= tolerance and result.completed) or 2 * steps > most:
            break
        horizon = _halved(optimization.horizon)
        optimization = replace(optimization, horizon=horizon, guess=Earlier(result))
    word = "" if error <= tolerance or not result.completed else _coarse(error, tolerance, steps)
    more = {"grids": json.dumps(rows)} | ({"completed": 0, "stop_reason": word} if word else {})
    return Result(result.data.assign_attrs(more))


def _halved(horizon: Horizon) -> Horizon:
    """Return twice as many steps, of half the size where that is bounded."""
    h = horizon.h
    h = h if h is None else replace(h, h_min=h.h_min / 2, h_max=h.h_max / 2)
    return replace(horizon, steps=2 * horizon.steps, h=h)


def _grid(result: Result, steps: int) -> Grid:
    attrs = result.data.attrs
    iterations, seconds = (
        float(np.nansum(result[name].values)) for name in ("iterations", "solve_time")
    )
    return Grid(
        steps,
        float(attrs["objective"]),
        float(attrs.get("deviation", np.nan)),
        round(iterations),
        seconds,
    )


def _coarse(error: float, tolerance: float, steps: int) -> str:
    return (
        f"the error is estimated at {error:.3g} with {steps} steps, above the tolerance "
        f"{tolerance:g}: allow more steps"
    )
