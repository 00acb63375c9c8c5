"""The strategy for dry friction that is smoothed up to a speed set by the grid: to twice it first.

Measured in docs/measured/trajectory.md, "Dry friction of joints with drives".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsopt.mpcc import BESIDE, Point, Schedule, Solution
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import FoundMotion, Search, Strategy


@dataclass(frozen=True)
class FrictionInStages(Strategy[StatedProgram]):
    """Smooths friction up to a larger speed at first, and solves that roughly."""

    why = "of friction smoothed to twice the speed there are fewer optima, and better ones"

    factor: float = 2.0  # times the speeds up to which friction is smoothed, in the first solve

    def applies(self, search: Search, found: FoundMotion) -> bool:
        return found.is_new and found.program.is_smoothed and not search.start.warm

    def solve(self, search: Search, found: FoundMotion) -> FoundMotion:
        end = self.solve_from(search, found.program, search.start, search.schedules)
        return replace(found, solution=end)

    def solve_from(
        self, search: Search, program: StatedProgram, start: Point, schedules: Sequence[Schedule]
    ) -> Solution:
        """Return the solution; in one stage if friction is not smoothed, or ``start`` is warm."""
        if program.is_smoothed and not start.warm:
            # Without complementarity these speeds are the only homotopy numbers of a stage.
            wide = tuple(self.factor * speed for speed in program.transcription.creep)
            last = search.solve(program, start, ((wide,),), by=program.structured.rough)
            if last.ok:  # from its multipliers, as costs are nearly the same
                last = search.solve(program, last.point, schedules, by=program.restate_for(BESIDE))
            if last.ok or last.interrupted:
                return last
        return search.solve(program, start, schedules)
