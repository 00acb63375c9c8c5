"""Programs that a search solves, and states anew: of one motion, or of phases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from nsopt.mpcc import Settings, Solution, Solver, StructuredNlp, StructuredProgram, WarmStart
from nsopt.trajectory.costs import Smoothness
from nsopt.trajectory.diagnosis import Statement, find_row
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.programs import program_settings
from nsopt.trajectory.search.tightening import LimitedPart
from nsopt.trajectory.smoothing.dry_friction import smooth_by_grid
from nsopt.trajectory.smoothing.step_bend import with_bend
from nsopt.trajectory.smoothing.tie_breaker import with_less_tie
from nsopt.trajectory.transcription.base import Array, Transcription
from nsopt.trajectory.transcription.kinds import as_polynomials
from nsopt.trajectory.verification.between_nodes import LimitsBetweenNodes


@dataclass(frozen=True, eq=False)
class SearchedProgram(ABC):
    """A program with what solves it, and others like it.

    Parameters
    ----------
    solver : Solver
    nlp : StructuredNlp
    settings : Settings
        Its schedules and tolerances.
    program : StructuredProgram
        What solves it.
    """

    solver: Solver
    nlp: StructuredNlp
    settings: Settings
    program: StructuredProgram

    @property
    @abstractmethod
    def p(self) -> Array:
        """The parameters that it is solved for."""

    @property
    @abstractmethod
    def by_polynomials(self) -> bool:
        """Whether motions are by polynomials, without complementarity."""

    @property
    @abstractmethod
    def is_smoothed(self) -> bool:
        """Whether the grid smooths dry friction."""

    @abstractmethod
    def limits(self) -> tuple[Array, Array]:
        """Return bounds of the unknowns, (n,) each."""

    @abstractmethod
    def list_limited_parts(self) -> list[LimitedPart]:
        """Return the parts of which limits between nodes are known."""

    @abstractmethod
    def is_resolved(self, solution: Solution, part: float = 1.0) -> bool:
        """Return whether each step, under its forces, ends at the next node.

        As near as the horizon allows, or within ``part`` of that.
        """

    @abstractmethod
    def with_less_tie(self, solution: Solution) -> Self | None:
        """Return a program whose tie-breakers decide between equals alone; None if they do."""

    @abstractmethod
    def with_bend(self, solution: Solution, part: float = 1.0) -> Self | None:
        """Return a program with a little cost of bends where steps are not resolved.

        Without it light joints may move between the points that costs are taken at. None if all
        steps are resolved, or the program has this cost already.
        """

    def near(self, starts: WarmStart, nlp: StructuredNlp | None = None) -> StructuredProgram:
        """Return what solves it, or one that differs by its limits, from a start nearby."""
        return self.program.restate(self.nlp if nlp is None else nlp, starts)


@dataclass(frozen=True, eq=False)
class StatedProgram(SearchedProgram):
    """An optimization for given conditions and parameters, and what solves it."""

    statement: Statement
    transcription: Transcription
    tie: Smoothness | None
    guess: Guess

    @classmethod
    def of(
        cls,
        solver: Solver,
        statement: Statement,
        transcription: Transcription,
        tie: Smoothness | None,
        guess: Guess,
        nlp: StructuredNlp | None = None,
    ) -> StatedProgram:
        """Return the program of a motion, with its tie-breaker if any; ``nlp`` where known."""
        nlp = transcription.nlp() if nlp is None else nlp
        settings = program_settings(transcription, solver)
        # Motions through contacts begin far from where they end.
        start = None if transcription.unilateral else transcription.start_from(guess)
        typical = transcription.parameters(statement.p), start
        program = StructuredProgram(nlp, solver.backend, settings, *typical)
        return cls(solver, nlp, settings, program, statement, transcription, tie, guess)

    @property
    def p(self) -> Array:
        return self.statement.p

    @property
    def by_polynomials(self) -> bool:
        return self.transcription.by_polynomials

    @property
    def is_smoothed(self) -> bool:
        return any(self.transcription.creep)

    def limits(self) -> tuple[Array, Array]:
        return self.transcription.limits()

    def list_limited_parts(self) -> list[LimitedPart]:
        x = as_polynomials(self.transcription)
        return [] if x is None else [LimitedPart(LimitsBetweenNodes(x, self.statement))]

    def is_resolved(self, solution: Solution, part: float = 1.0) -> bool:
        return self.transcription.is_resolved(solution.x, self.p, part)

    def with_less_tie(self, solution: Solution) -> StatedProgram | None:
        terms = self.nlp.terms(solution.x, self.transcription.parameters(self.p))
        found = with_less_tie(self.transcription, self.tie, np.asarray(terms).ravel())
        return None if found is None else self.with_motion(*found)

    def with_bend(self, solution: Solution, part: float = 1.0) -> StatedProgram | None:
        if self.is_resolved(solution, part):
            return None
        x = with_bend(self.transcription, self.nlp, self.guess, self.p, self.tie)
        return None if x is None else self.with_motion(x, self.tie)

    def with_motion(
        self, x: Transcription, tie: Smoothness | None, solver: Solver | None = None
    ) -> StatedProgram:
        """Return the program of another motion under the same statement."""
        return self.of(solver or self.solver, self.statement, x, tie, self.guess)

    def smooth_for(self, guess: Guess) -> StatedProgram:
        """Return the same with the friction that the grid resolves at the speeds of a guess."""
        x = smooth_by_grid(self.transcription, guess)
        return replace(self, transcription=x, settings=program_settings(x, self.solver))


def restate_limits(now: StatedProgram, statement: Statement, steps: int) -> StructuredNlp | None:
    """Return a program with the limits of another statement; None if rows are not those stated."""
    blocks = []
    for block in now.nlp.blocks:
        lower, upper = block.lower.copy(), block.upper.copy()
        for i in range(block.rows):
            before, row = (find_row(block, i, x, steps) for x in (now.statement, statement))
            if before is None or row is None:
                continue
            known = (before.lower, before.upper) == (lower[0, i], upper[0, i])
            # A range that closes is an equation, which no bound of an unknown is.
            if not known or (before.lower < before.upper) != (row.lower < row.upper):
                return None
            lower[:, i], upper[:, i] = row.lower, row.upper
        blocks.append(replace(block, lower=lower, upper=upper))
    return now.nlp.restate(blocks)
