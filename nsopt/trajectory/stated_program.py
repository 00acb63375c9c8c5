"""An optimization for given conditions and parameters, and what solves it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nsopt.mpcc import ENDED, Point, Settings, Solution, Solver, StructuredNlp, StructuredProgram
from nsopt.trajectory.costs import Smoothness
from nsopt.trajectory.diagnosis import Statement, stated_row
from nsopt.trajectory.dry_friction import smoothed_by_grid
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.programs import program_settings
from nsopt.trajectory.tightening import KeptMotion, LimitedPart, Tightening
from nsopt.trajectory.transcription.base import Array, Transcription
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.verification.between_nodes import LimitsBetweenNodes


@dataclass(frozen=True, eq=False)
class StatedProgram:
    """An optimization for given conditions and parameters, and what solves it."""

    statement: Statement
    transcription: Transcription
    nlp: StructuredNlp
    settings: Settings
    program: StructuredProgram
    tie: Smoothness | None
    guess: Guess

    def limits(self) -> tuple[Array, Array]:
        """Return bounds of the unknowns, (n,) each."""
        return self.transcription.limits()

    def smoothed(self, guess: Guess, solver: Solver) -> StatedProgram:
        """Return the same with the friction that the grid resolves at the speeds of a guess."""
        x = smoothed_by_grid(self.transcription, guess)
        return replace(self, transcription=x, settings=program_settings(x, solver))

    def kept(self, solution: Solution, p: Array) -> KeptMotion | None:
        """Return a motion that keeps its limits between nodes too; None where nothing is known."""
        if not (solution.ok and isinstance(self.transcription, Collocation)):
            return None
        limits = LimitsBetweenNodes(self.transcription, self.statement)
        if not limits.rows:
            return None

        def solve(nlp: StructuredNlp, last: Solution) -> Solution:
            bounds, schedules = self.transcription.limits(), self.settings.schedules
            program = self.program.restated(nlp, ENDED)
            found = program.solve(p, *bounds, last.point, schedules)
            if found.ok or found.interrupted:
                return found
            program = self.program.restated(nlp)
            return program.solve(p, *bounds, Point.cold(last.point.x, len(nlp.lower)), schedules)

        return Tightening(self.nlp, [LimitedPart(limits)], solve).kept(solution)


def limited(now: StatedProgram, statement: Statement, steps: int) -> StructuredNlp | None:
    """Return a program with the limits of another statement; None if rows are not those stated."""
    blocks = []
    for block in now.nlp.blocks:
        lower, upper = block.lower.copy(), block.upper.copy()
        for i in range(block.rows):
            before, row = (stated_row(block, i, x, steps) for x in (now.statement, statement))
            if before is None or row is None:
                continue
            known = (before.lower, before.upper) == (lower[0, i], upper[0, i])
            # A range that closes is an equation, which no bound of an unknown is.
            if not known or (before.lower < before.upper) != (row.lower < row.upper):
                return None
            lower[:, i], upper[:, i] = row.lower, row.upper
        blocks.append(replace(block, lower=lower, upper=upper))
    return now.nlp.restated(blocks)
