"""The strategy that enforces limits between nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nsopt.mpcc import ENDED, Point, Solution, StructuredNlp
from nsopt.trajectory.search.strategy import Found, MotionSearch, P, Strategy
from nsopt.trajectory.search.tightening import Tightening


@dataclass(frozen=True)
class KeepLimits(Strategy[P]):
    """Tightens limits by as much as a motion by polynomials exceeds them within steps."""

    why = "programs of polynomials know limits at nodes and midpoints alone"

    rounds: int = 24  # greatest number of solves with tighter limits

    def applies(self, search: MotionSearch[P], found: Found[P]) -> bool:
        del search
        return found.is_solved and any(x.limits.rows for x in found.program.list_limited_parts())

    def solve(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        program = found.program

        def solve_near(nlp: StructuredNlp, last: Solution) -> Solution:
            """Solve with other limits from the last solution, if need be without multipliers."""
            end = search.solve(program, last.point, by=program.restate_for(ENDED, nlp))
            if end.ok or end.interrupted:
                return end
            cold = Point.cold(last.point.x, len(nlp.lower))
            return search.solve(program, cold, by=program.structured.restate(nlp))

        tightening = Tightening(program.nlp, program.list_limited_parts(), self.rounds, solve_near)
        solution, excess = tightening.tighten(found.end)
        return replace(found, solution=solution, excess=excess)
