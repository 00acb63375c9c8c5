"""Calls of `simulate` whose errors are judged: of named problems, and of the gallery."""

from __future__ import annotations

import contextlib
import io
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import nsopt
from nsopt import (
    Problem,
    Result,
    Start,
    StepBounds,
    load_problem,
    simulate,
)
from nsopt.problem import command_of, problem_files

GALLERY = Path(__file__).resolve().parents[1] / "notebooks" / "gallery"
IMPACTS = 1e-4  # h_min over h_max of references with contacts
LONGEST = 100  # steps of the longest hand-chosen run


class Call(NamedTuple):
    """A call of `simulate`."""

    dynamics: nsopt.Dynamics
    start: Start | None
    duration: float
    options: dict[str, Any]

    @property
    def bounds(self) -> StepBounds:
        """Its steps, or those of an accuracy to begin with."""
        h = self.duration / LONGEST
        bounds: StepBounds = self.options.get("steps") or StepBounds(IMPACTS * h, h)
        return bounds

    def run(self, **options: Any) -> Result:
        """Return the run with some options changed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = self.options | {"progress": False} | options
            return simulate(self.dynamics, self.start, self.duration, **whole)


class _FoundError(Exception):
    """Ends a script at its first call of `simulate`."""


def find_call(script: Path) -> Call | None:
    """Return the first call of `simulate` in a script, None where it makes none."""
    found: list[Call] = []

    def catch(
        dynamics: nsopt.Dynamics,
        start: Start | None = None,
        duration: float = 1.0,
        **options: Any,
    ) -> None:
        found.append(Call(dynamics, start, duration, options))
        raise _FoundError

    silent = contextlib.redirect_stdout(io.StringIO())
    with patch.object(nsopt, "simulate", catch), silent, contextlib.suppress(_FoundError):
        runpy.run_path(str(script), run_name="__main__")
    return found[0] if found else None


def as_call(problem: Problem) -> Call:
    """Return the call that `nsopt run` makes of a problem."""
    options = {"steps": problem.steps, "scheme": problem.scheme}
    return Call(problem.dynamics, problem.start, problem.duration, options)


def collect_calls(wanted: list[str]) -> Iterator[tuple[str, Call]]:
    """Yield the named problems and the mechanisms of the gallery, or those that are wanted."""
    for name, file in problem_files().items():
        if command_of(file) == "run" and (not wanted or name in wanted):
            yield name, as_call(load_problem(name).at({}))
    for script in sorted(GALLERY.glob("*/*.py")):
        name = f"gallery/{script.stem}"
        if (not wanted or name in wanted) and (call := find_call(script)) is not None:
            yield name, call
