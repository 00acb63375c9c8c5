"""Strategies for dry friction smoothed by the grid: smoothed more at first, solved fairly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsopt.mpcc import BESIDE, FAIRLY, Point, Schedule, Solution
from nsopt.trajectory.search.found import Motion
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import Search, Strategy

WIDER = 2.0
"""Times the speed to which the grid smooths friction, for the motion that a search starts from."""


@dataclass(frozen=True)
class FrictionInStages(Strategy[StatedProgram]):
    """Smooths friction to a larger speed, then to that of the grid, and solves that fairly.

    Parameters
    ----------
    wider : float
        Times the speed of the grid, at first.
    """

    why = "of friction smoothed to twice the speed there are fewer optima, and better ones"

    wider: float = WIDER

    def applies(self, search: Search, found: Motion) -> bool:
        return found.is_new and found.program.is_smoothed and not search.start.warm

    def solve(self, search: Search, found: Motion) -> Motion:
        fair = solve_fairly(search, found.program, search.start, search.schedules, self.wider)
        return replace(found, solution=fair, fair=True)


@dataclass(frozen=True)
class SolveFurther(Strategy[StatedProgram]):
    """Solves a fair solution to its end; from the guess where there is none."""

    why = "a fair solution was to be compared with others first"

    def applies(self, search: Search, found: Motion) -> bool:
        del search
        return found.fair

    def solve(self, search: Search, found: Motion) -> Motion:
        given = search, found.program, search.start, search.schedules
        return replace(found, solution=solve_further(*given, found.end), fair=False)


def solve_in_stages(
    search: Search, now: StatedProgram, start: Point, schedules: Sequence[Schedule]
) -> Solution:
    """Return the solution of a program, of friction that the grid smooths in two stages."""
    if not now.is_smoothed or start.warm:
        return search.solve(now, start, schedules)
    fair = solve_fairly(search, now, start, schedules)
    return solve_further(search, now, start, schedules, fair)


def solve_fairly(
    search: Search,
    now: StatedProgram,
    start: Point,
    schedules: Sequence[Schedule],
    wider: float = WIDER,
) -> Solution:
    """Return a fair solution of friction smoothed by the grid, of both stages."""
    wide = tuple(wider * speed for speed in now.transcription.creep)
    rough = search.solve(now, start, ((wide,),), by=now.program.rough)
    if not rough.ok:
        return rough
    beside = now.program.fair.restate(now.nlp, BESIDE)
    return search.solve(now, rough.point, schedules, by=beside)


def solve_further(
    search: Search,
    now: StatedProgram,
    start: Point,
    schedules: Sequence[Schedule],
    fair: Solution,
) -> Solution:
    """Return the solution from a fair one; from the start where there is none."""
    last = fair
    if last.ok:
        last = search.solve(now, last.point, schedules, by=now.near(FAIRLY))
    if last.ok or last.interrupted:
        return last
    return search.solve(now, start, schedules)
