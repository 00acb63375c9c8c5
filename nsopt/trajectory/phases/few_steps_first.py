"""The strategy that solves phases in few steps first: `FewStepsFirst`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from nsopt.mpcc import IN_FEW_STEPS, Point
from nsopt.trajectory.phases.program import SearchedPhases
from nsopt.trajectory.search import Found, MotionSearch, RoughFirst


@dataclass(frozen=True)
class FewStepsFirst(RoughFirst[SearchedPhases]):
    """Solves roughly in few steps, roughly again in all from there, then goes on as `RoughFirst`.

    Where no motion is found so, later strategies solve the phases from their guess.
    """

    why = "in few steps the way from the guess is cheap, and ends near the optimum in many"

    steps: int = 4  # of each phase, or as many as it has
    # Steps of all phases from which it applies. To state the phases once more takes as long as it
    # saves in less; docs/measured/contact_optima.md, "Quadrupeds".
    least: int = 45

    def applies(self, search: MotionSearch[SearchedPhases], found: Found[SearchedPhases]) -> bool:
        phases = found.program.linked.phases
        many = sum(x.phase.horizon.steps for x in phases)
        is_long = many >= max(self.least, 2 * self.steps * len(phases))
        return is_long and super().applies(search, found)

    def solve(
        self, search: MotionSearch[SearchedPhases], found: Found[SearchedPhases]
    ) -> Found[SearchedPhases]:
        program = found.program
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the phases in all steps have given the same
                few = program.with_steps(self.steps)
        except ValueError:  # refused, as where conditions fall together at a node
            return found
        guess = Point.cold(few.linked.start(), len(few.nlp.lower))
        first = search.solve(few, guess, by=few.structured.rough)
        if not first.ok:
            return found
        start = Point.cold(program.linked.refine(few.linked, first.x), len(program.nlp.lower))
        by = program.structured.rough.restate(program.nlp, IN_FEW_STEPS)
        rough = search.solve(program, start, by=by)
        return self.go_on(search, replace(found, solution=rough)) if rough.ok else found
