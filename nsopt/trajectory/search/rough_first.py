"""The strategy that solves a program with limits roughly at first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nsopt.mpcc import ROUGHLY
from nsopt.trajectory.search.resolve_steps import resolve_steps
from nsopt.trajectory.search.strategy import Found, MotionSearch, P, Strategy


@dataclass(frozen=True)
class RoughFirst(Strategy[P]):
    """Solves roughly, adds a cost of bends if joints are light, and goes on from there."""

    why = "a rough solution shows at half of the iterations whether joints are light"

    # Share of the distance `Horizon.defect` by which steps of a rough motion, integrated again, may
    # miss their nodes before its optimum is expected to be unresolved. Of forty rough motions of a
    # light arm 15 were between this share and 1, and ten of these not resolved at their optimum; of
    # 38 of heavier arms none was beyond it.
    defect_share: float = 0.25

    def applies(self, search: MotionSearch[P], found: Found[P]) -> bool:
        program = found.program
        if not found.is_new or search.start.warm:
            return False
        if not program.by_polynomials or program.is_smoothed:
            return False
        has_limits = bool(np.any(program.nlp.lower < program.nlp.upper))
        backend = program.solver.backend
        return has_limits and backend.rough != backend

    def solve(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        program = found.program
        rough = search.solve(program, search.start, search.schedules, by=program.structured.rough)
        found = replace(found, solution=rough)
        return self.go_on(search, found) if rough.ok else found

    def go_on(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        """Return the solution from a rough one, or nothing solved, for later strategies."""
        rough, program = found.end, found.program
        resolved = resolve_steps(search, found, self.defect_share)
        if resolved.end is not rough:
            return resolved
        end = search.solve(program, rough.point, by=program.restate_for(ROUGHLY))
        return replace(found, solution=end if end.ok or end.interrupted else None)
