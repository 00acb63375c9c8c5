"""Strategies that finish a solution: where its solver stopped early, where a tie is left."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nsopt.mpcc import BESIDE, Point, Verdict
from nsopt.trajectory.search.strategy import Found, MotionSearch, P, Strategy


@dataclass(frozen=True)
class FinishAcceptable(Strategy[P]):
    """Solves again from a solution that its solver found only acceptable."""

    why = "costs of flat optima may be off by 1e-4 of themselves then, though no slope shows"

    def applies(self, search: MotionSearch[P], found: Found[P]) -> bool:
        del search
        acceptable = found.is_solved and found.end.status.verdict is Verdict.ACCEPTABLE
        return acceptable and not found.program.nlp.complementary

    def solve(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        program, end = found.program, found.end
        again = search.solve(program, end.point, search.schedules, by=program.restate_for(BESIDE))
        better = again.ok and again.objective <= end.objective
        return replace(found, solution=again) if better else found


@dataclass(frozen=True)
class LessenTie(Strategy[P]):
    """Solves again with a smaller tie-breaker where it is large beside the costs."""

    why = "a tie-breaker sized by the guess may weigh on a motion that is much faster"

    def applies(self, search: MotionSearch[P], found: Found[P]) -> bool:
        del search
        return found.is_solved and found.program.with_less_tie(found.end) is not None

    def solve(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        other = found.program.with_less_tie(found.end)
        assert other is not None
        solution = search.solve(other, Point.cold(found.end.x, len(other.nlp.lower)))
        return replace(found, program=other, solution=solution) if solution.ok else found
