"""Motions within clearances on many steps: found on coarser grids first.

The homotopy takes hundreds of iterations to find which walls are touched when; on a coarse grid
these are cheap, and from its motion a finer one takes few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nsopt.mpcc import Solution, Solver, StageRun
from nsopt.result import Result
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.transcription.base import Transcription

MANY = 200
"""Even steps from which coarser grids are solved first."""

LEAST = 50
"""Steps of the coarsest grid, at least."""


def coarser(transcription: Transcription, guess: Guess, solver: Solver) -> list[Horizon]:
    """Return grids of half as many steps each that are to be solved first, the coarsest first.

    There are some for contacts in bores, of even steps, along default schedules, from no earlier
    motion.

    Parameters
    ----------
    transcription : Transcription
        Of the motion on its own grid.
    guess : Guess
    solver : Solver
    """
    x, horizon = transcription, transcription.horizon
    stated = solver.schedules is not None or solver.backend.prefers_equations
    if not x.unilateral or stated or isinstance(guess, Earlier) or not x.dynamics.bores:
        return []
    if horizon.h is not None or horizon.breaks or horizon.steps < MANY:
        return []
    grids = list[Horizon]()
    while (steps := horizon.steps // 2 ** (len(grids) + 1)) >= LEAST:
        grids.insert(0, replace(horizon, steps=steps))
    return grids


def after(solution: Solution, coarse: Sequence[Result]) -> Solution:
    """Return a solution, before its own stages what motions on coarser grids took."""
    runs = tuple(
        StageRun(
            (),
            bool(x.completed),
            str(x.data.attrs["status"]),
            round(float(np.nansum(x["iterations"].values))),
            float(np.nansum(x["solve_time"].values)),
        )
        for x in coarse
    )
    time = solution.time + sum(run.time for run in runs)
    return replace(solution, stages=(*runs, *solution.stages), time=time)
