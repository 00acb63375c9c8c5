"""The strategy for dry friction smoothed by the grid: smoothed more at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsopt.mpcc import BESIDE, Point, Schedule, Solution
from nsopt.trajectory.search.found import Motion
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import Search, Strategy


@dataclass(frozen=True)
class FrictionInStages(Strategy[StatedProgram]):
    """Smooths friction to a larger speed at first, and solves that roughly; then to the grid's.

    Parameters
    ----------
    wider : float
        Times the speed of the grid, at first.
    """

    why = "of friction smoothed to twice the speed there are fewer optima, and better ones"

    wider: float = 2.0

    def applies(self, search: Search, found: Motion) -> bool:
        return found.is_new and found.program.is_smoothed and not search.start.warm

    def solve(self, search: Search, found: Motion) -> Motion:
        end = self.solve_from(search, found.program, search.start, search.schedules)
        return replace(found, solution=end)

    def solve_from(
        self, search: Search, now: StatedProgram, start: Point, schedules: Sequence[Schedule]
    ) -> Solution:
        """Return the solution of a program; at once where it is not smoothed, or known nearby."""
        if now.is_smoothed and not start.warm:
            wide = tuple(self.wider * speed for speed in now.transcription.creep)
            last = search.solve(now, start, ((wide,),), by=now.program.rough)
            if last.ok:
                last = search.solve(now, last.point, schedules, by=now.near(BESIDE))
            if last.ok or last.interrupted:
                return last
        return search.solve(now, start, schedules)
