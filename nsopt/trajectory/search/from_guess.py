"""The strategy that solves a program from its guess."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nsopt.trajectory.search.strategy import Found, MotionSearch, P, Strategy


@dataclass(frozen=True)
class FromGuess(Strategy[P]):
    """Solves from the guess if nothing was solved yet, along schedules where there are contacts."""

    why = "nothing else has led to a motion, or it takes no more than that"

    def applies(self, search: MotionSearch[P], found: Found[P]) -> bool:
        del search
        return found.is_new

    def solve(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        solution = search.solve(found.program, search.start, search.schedules)
        return replace(found, solution=solution)
