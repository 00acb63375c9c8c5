"""The strategy that makes reintegrated steps end at their nodes, where joints are light."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nsopt.mpcc import BENT, Point
from nsopt.trajectory.search.strategy import Found, MotionSearch, P, Strategy


@dataclass(frozen=True)
class ResolveSteps(Strategy[P]):
    """Solves again with a small cost of bends where steps, integrated again, miss their nodes."""

    why = "costs at three points of a step do not bound how light joints move between them"

    def applies(self, search: MotionSearch[P], found: Found[P]) -> bool:
        del search
        end = found.end
        return end.feasible and not end.interrupted and found.program.by_polynomials

    def solve(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        return resolve_steps(search, found)


def resolve_steps(search: MotionSearch[P], found: Found[P], share: float = 1.0) -> Found[P]:
    """Return a motion whose steps are resolved, if need be by a cost of bends.

    That is, integrated again they end within the ``share`` of `Horizon.defect` from their nodes.
    """
    solution, other = found.end, found.program.with_bend(found.end, share)
    if other is None:
        return found
    cold, last = Point.cold(solution.x, len(other.nlp.lower)), solution
    # From multipliers it takes a third of the iterations, but may end nearby, with steps that are
    # still not resolved; then it starts without them.
    for by, start in ((other.restate_for(BENT), solution.point), (other.structured, cold)):
        last = search.solve(other, start, by=by)
        if last.interrupted or (last.ok and other.is_resolved(last)):
            break
    return replace(found, program=other, solution=last) if last.ok or last.interrupted else found
