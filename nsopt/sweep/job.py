"""The runs of a sweep, point by point."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from nsopt.problem import Problem, Variants
from nsopt.result import Result
from nsopt.simulation import simulate
from nsopt.stored import NOTES
from nsopt.sweep.measures import Measure, make_notes, measure_errors, measure_run
from nsopt.sweep.points import DIMENSIONS, Row, find_bounds, find_settings
from nsopt.sweep.store import name_program

if TYPE_CHECKING:
    import xarray as xr

OF_POINT = {"dynamics", "start", "duration", "steps", "parameters", "title", "progress"}
"""Arguments of `simulate` that the sweep gives itself."""

OF_ONE_RUN = {"checkpoint"}
"""Arguments that several runs cannot share, such as a folder."""

OPTIONS = [
    name for name in inspect.signature(simulate).parameters if name not in OF_POINT | OF_ONE_RUN
]
"""Arguments of `simulate` that users may give to a sweep."""


@dataclass(frozen=True, eq=False)
class SweepPoint:
    """Notes and measures of one run of a sweep."""

    data: xr.Dataset
    final: bool  # whether it is kept in the folder: it would end the same way again


@dataclass(frozen=True, eq=False)
class Job:
    """The problem, options and measures that all points of a sweep share.

    A TypeError tells of an option that `simulate` does not have, or a measure that is no function;
    a ValueError of a measure whose name is taken, or is no identifier.
    """

    problem: Problem | Variants
    duration: float | None  # [s] in place of the problem's
    options: Mapping[str, Any]  # of `simulate`, that no point changes
    measures: Mapping[str, Measure]  # functions by name
    title: str
    program: str  # from `name_program`
    _with_duration: dict[int, Problem] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for name in self.options:
            if name not in OPTIONS:
                raise TypeError(f"unknown option {name!r}; those of runs are {', '.join(OPTIONS)}")
        for name, measure in self.measures.items():
            if not callable(measure):
                raise TypeError(f"measure {name!r} must be a function of a Result, got {measure!r}")
            if name in DIMENSIONS or name in NOTES:
                raise ValueError(f"{name!r} names something else in results: rename the measure")
            if not name.isidentifier():
                raise ValueError(f"measure {name!r} must have a name of letters, digits and _")

    def at(self, row: Row) -> Problem:
        """Return the problem at a point, with the duration of the sweep."""
        problem = self.problem.at(row)
        if self.duration is None:
            return problem
        other = replace(problem, duration=self.duration)
        return self._with_duration.setdefault(id(problem), other)

    def run(self, row: Row) -> SweepPoint:
        """Return the point of a row of values; an error there is its stop reason.

        A run that was interrupted is no point: KeyboardInterrupt. A process with another version of
        nsopt, CasADi or NumPy is a RuntimeError.
        """
        if name_program() != self.program:
            raise RuntimeError(
                f"a worker has {name_program()}, but the sweep {self.program}: install the same "
                "there"
            )
        begin, result = perf_counter(), None
        measures: dict[str, xr.DataArray] = {}
        final = True
        try:
            result = self._simulate(row)
            stop_reason = result.stop_reason.partition("\n")[0]
            if result.completed:
                measures = measure_run(result, self.measures, row)
                measures |= measure_errors(result, measures)
        except Exception as error:  # one point must not end the others
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            stop_reason, final = " ".join(f"{kind}{error}".split()), False
        if result is not None and result.interrupted:
            raise KeyboardInterrupt
        run_time = perf_counter() - begin
        return SweepPoint(make_notes(result, stop_reason, run_time).assign(measures), final)

    def _simulate(self, row: Row) -> Result:
        problem = self.at(row)
        return simulate(
            problem.dynamics,
            problem.start,
            problem.duration,
            steps=find_bounds(problem, row),
            parameters=find_settings(problem, row)[0],
            title=self.title,
            progress=False,
            **{"scheme": problem.scheme, "check": None, **self.options},
        )
