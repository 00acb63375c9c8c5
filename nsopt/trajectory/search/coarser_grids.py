"""The strategy for motions within clearances on many steps: found on coarser grids first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nsopt.interrupt import is_interrupted
from nsopt.mpcc import Solver, StageRun
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.programs import choose_schedules, choose_start
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import FoundMotion, Search, Strategy
from nsopt.trajectory.transcription.base import Transcription


@dataclass(frozen=True)
class CoarserGrids(Strategy[StatedProgram]):
    """Solves on a coarse grid first, then on grids of twice as many steps each.

    For contacts in bores, steps of equal size and default schedules, unless the guess is an earlier
    motion.
    """

    why = "on a coarse grid it is cheap to find which walls are touched when"

    from_steps: int = 200  # number of steps from which it applies
    least_steps: int = 50  # of the coarsest grid

    def applies(self, search: Search, found: FoundMotion) -> bool:
        program = found.program
        grids = self.list_grids(program.transcription, program.solver, search.guess)
        return found.is_new and bool(grids)

    def list_grids(self, x: Transcription, solver: Solver, guess: Guess | None) -> list[Horizon]:
        """Return the coarser grids, the coarsest first; none where the strategy does not apply."""
        horizon, grids = x.horizon, list[Horizon]()
        own_schedules = solver.schedules is not None or solver.backend.prefers_equations
        if own_schedules or isinstance(guess, Earlier):
            return []
        if not x.is_complementary or not x.dynamics.bores:
            return []
        if horizon.h is not None or horizon.breaks or horizon.steps < self.from_steps:
            return []
        while (steps := horizon.steps // 2 ** (len(grids) + 1)) >= self.least_steps:
            grids.insert(0, replace(horizon, steps=steps))
        return grids

    def solve(self, search: Search, found: FoundMotion) -> FoundMotion:
        assert search.guess is not None
        assert search.solve_else is not None
        program, guess, last_ok = found.program, search.guess, False
        for horizon in self.list_grids(program.transcription, program.solver, guess):
            if is_interrupted():
                break
            result = search.solve_else(horizon, guess, without=(CoarserGrids,))
            if result is None:  # refused, as where nodes of two conditions fall together
                continue
            names, status = ("iterations", "solve_time"), str(result.data.attrs["status"])
            iterations, seconds = (float(np.nansum(result[x].values)) for x in names)
            run = StageRun((), bool(result.completed), status, round(iterations), seconds)
            search.spent.add([run], seconds)
            last_ok = result.completed
            guess = Earlier(result) if result.completed else guess
        if not isinstance(guess, Earlier) or not (last_ok or is_interrupted()):
            return found
        start = choose_start(program.transcription, program.nlp, guess)
        along = choose_schedules(guess, start, program.transcription, program.settings)
        return replace(found, solution=search.solve(program, start, along))
