"""The strategy for motions within clearances on many steps: found on coarser grids first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nsopt.interrupt import is_interrupted
from nsopt.mpcc import Solver, StageRun
from nsopt.result import Result
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.programs import schedules_from, starting_point
from nsopt.trajectory.search.found import Motion
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import Search, Strategy
from nsopt.trajectory.transcription.base import Transcription


@dataclass(frozen=True)
class CoarserGrids(Strategy[StatedProgram]):
    """Solves on grids of half as many steps each first, the coarsest first.

    There are some for contacts in bores, of even steps, along default schedules, from no earlier
    motion.

    Parameters
    ----------
    many : int
        Even steps from which coarser grids are solved first.
    least : int
        Steps of the coarsest grid, at least.
    """

    why = "on a coarse grid it is cheap to find which walls are touched when"

    many: int = 200
    least: int = 50

    def applies(self, search: Search, found: Motion) -> bool:
        now = found.program
        return found.is_new and bool(self.grids(now.transcription, now.solver, search.guess))

    def grids(self, x: Transcription, solver: Solver, guess: Guess | None) -> list[Horizon]:
        """Return the coarser grids, the coarsest first; none where none is to be solved first."""
        horizon, halves = x.horizon, list[Horizon]()
        stated = solver.schedules is not None or solver.backend.prefers_equations
        if not x.unilateral or stated or isinstance(guess, Earlier) or not x.dynamics.bores:
            return []
        if horizon.h is not None or horizon.breaks or horizon.steps < self.many:
            return []
        while (steps := horizon.steps // 2 ** (len(halves) + 1)) >= self.least:
            halves.insert(0, replace(horizon, steps=steps))
        return halves

    def solve(self, search: Search, found: Motion) -> Motion:
        assert search.guess is not None
        assert search.solve_else is not None
        now, coarse, known = found.program, list[Result](), search.guess
        for horizon in self.grids(now.transcription, now.solver, known):
            if is_interrupted():
                break
            result = search.solve_else(horizon, known, without=(CoarserGrids,))
            if result is None:  # such as nodes of two conditions that fall together there
                continue
            coarse.append(result)
            search.spent.add([_run(result)], float(np.nansum(result["solve_time"].values)))
            known = Earlier(result) if result.completed else known
        near = [x for x in coarse if x.completed]
        if not near or not (near[-1] is coarse[-1] or is_interrupted()):
            return found
        guess = Earlier(near[-1])
        start = starting_point(now.transcription, now.nlp, guess)
        along = schedules_from(guess, start, now.transcription, now.settings)
        return replace(found, solution=search.solve(now, start, along))


def _run(result: Result) -> StageRun:
    """Return what a motion on a coarser grid took."""
    iterations, seconds = (np.nansum(result[x].values) for x in ("iterations", "solve_time"))
    status = str(result.data.attrs["status"])
    return StageRun((), bool(result.completed), status, round(float(iterations)), float(seconds))
