"""The strategy that solves a program with limits roughly at first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nsopt.mpcc import ROUGHLY
from nsopt.trajectory.search.found import Found, P
from nsopt.trajectory.search.resolve_steps import resolve_steps
from nsopt.trajectory.search.strategy import MotionSearch, Strategy


@dataclass(frozen=True)
class RoughFirst(Strategy[P]):
    """Solves roughly, tells from that whether joints are light, and goes on from there.

    Parameters
    ----------
    sign : float
        Part of the distance allowed between reintegrated steps and nodes, beyond which a rough
        motion is a sign that its optimum is not resolved. Of forty motions of a light arm 15 were
        between this part and all, and ten of these not resolved at their optimum; none of 38 of
        heavier arms was beyond.
    """

    why = "a rough solution shows at half of the iterations whether joints are light"

    sign: float = 0.25

    def applies(self, search: MotionSearch[P], found: Found[P]) -> bool:
        now = found.program
        if not found.is_new or not now.by_polynomials or now.is_smoothed or search.start.warm:
            return False
        limited, backend = bool(np.any(now.nlp.lower < now.nlp.upper)), now.solver.backend
        return limited and backend.rough != backend

    def solve(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        now = found.program
        rough = search.solve(now, search.start, search.schedules, by=now.program.rough)
        if not rough.ok:
            return replace(found, solution=rough)
        resolved = resolve_steps(search, replace(found, solution=rough), self.sign)
        if resolved.end is not rough:
            return resolved
        end = search.solve(now, rough.point, by=now.near(ROUGHLY))
        # Where that does not end, the program is left to what solves it from its guess.
        return replace(found, solution=end) if end.ok or end.interrupted else found
