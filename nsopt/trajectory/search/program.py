"""Programs that a search solves and changes: of one motion (`StatedProgram`), or of phases.

Strategies of search see `SearchedProgram` alone, where they serve both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from nsopt.arrays import Array
from nsopt.mpcc import Settings, Solution, Solver, StructuredNlp, StructuredProgram, WarmStart
from nsopt.trajectory.costs import Smoothness
from nsopt.trajectory.diagnosis import Statement, find_row
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.programs import choose_settings
from nsopt.trajectory.search.tightening import LimitedPart
from nsopt.trajectory.smoothing.dry_friction import smooth_by_grid
from nsopt.trajectory.smoothing.small_costs import with_bend, with_less_tie
from nsopt.trajectory.transcription.base import Transcription
from nsopt.trajectory.transcription.kinds import as_polynomials
from nsopt.trajectory.verification.between_nodes import LimitsBetweenNodes


@dataclass(frozen=True, eq=False)
class SearchedProgram(ABC):
    """A program of one motion, or of phases, with what solves it."""

    solver: Solver  # its relaxation and backend
    nlp: StructuredNlp
    settings: Settings  # schedules and tolerances
    structured: StructuredProgram  # what solves ``nlp``

    @property
    @abstractmethod
    def p(self) -> Array:
        """Values of its parameters, without those of a homotopy, (np,)."""

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
        """Return the parts that have limits between nodes: motions by polynomials."""

    @abstractmethod
    def is_resolved(self, solution: Solution, share: float = 1.0) -> bool:
        """Return whether each step, integrated again under its forces, ends near the next node.

        That is within a distance of ``share`` times `Horizon.defect`.
        """

    @abstractmethod
    def with_less_tie(self, solution: Solution) -> Self | None:
        """Return a program with smaller tie-breakers; None if they are small beside the costs."""

    @abstractmethod
    def with_bend(self, solution: Solution, share: float = 1.0) -> Self | None:
        """Return a program with a small cost of how accelerations bend within steps.

        Without it light joints may move between the points at which costs are taken. None if
        `is_resolved`, or if the program has this cost already.
        """

    def restate_for(self, warm: WarmStart, nlp: StructuredNlp | None = None) -> StructuredProgram:
        """Return a program for starts nearby; of ``nlp``, with other limits, if given."""
        return self.structured.restate(self.nlp if nlp is None else nlp, warm)


@dataclass(frozen=True, eq=False)
class StatedProgram(SearchedProgram):
    """The program of one motion."""

    statement: Statement  # conditions and parameters
    transcription: Transcription
    tie: Smoothness | None  # the small cost that was added to the costs as a tie-breaker
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
        """Return the program of a motion; ``nlp`` is that of the transcription, if it is known."""
        nlp = transcription.nlp() if nlp is None else nlp
        settings = choose_settings(transcription, solver)
        # The objective is scaled by its slopes at a typical motion, the guess. Motions through
        # contacts end far from it: there is none.
        start = None if transcription.is_complementary else transcription.start_from(guess)
        typical = transcription.parameters(statement.p), start
        structured = StructuredProgram(nlp, solver.backend, settings, *typical)
        return cls(solver, nlp, settings, structured, statement, transcription, tie, guess)

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
        collocation = as_polynomials(self.transcription)
        if collocation is None:
            return []
        return [LimitedPart(LimitsBetweenNodes(collocation, self.statement))]

    def is_resolved(self, solution: Solution, share: float = 1.0) -> bool:
        return self.transcription.is_resolved(solution.x, self.p, share)

    def with_less_tie(self, solution: Solution) -> StatedProgram | None:
        terms = self.nlp.terms(solution.x, self.transcription.parameters(self.p))
        found = with_less_tie(self.transcription, self.tie, np.asarray(terms).ravel())
        return None if found is None else self.with_transcription(*found)

    def with_bend(self, solution: Solution, share: float = 1.0) -> StatedProgram | None:
        if self.is_resolved(solution, share):
            return None
        bent = with_bend(self.transcription, self.nlp, self.guess, self.p, self.tie)
        return None if bent is None else self.with_transcription(bent, self.tie)

    def with_transcription(
        self, x: Transcription, tie: Smoothness | None, solver: Solver | None = None
    ) -> StatedProgram:
        """Return the program of another transcription under the same statement."""
        return self.of(solver or self.solver, self.statement, x, tie, self.guess)

    def smooth_for(self, guess: Guess) -> StatedProgram:
        """Return the same with dry friction smoothed as the grid needs it for a guess.

        The creep is a homotopy number, a parameter of the program: ``nlp`` stays what it is.
        """
        smoothed = smooth_by_grid(self.transcription, guess)
        settings = choose_settings(smoothed, self.solver)
        return replace(self, transcription=smoothed, settings=settings)


def restate_limits(
    program: StatedProgram, statement: Statement, steps: int
) -> StructuredNlp | None:
    """Return a program with the limits of another statement; None if more than these differ.

    ``steps`` is how many steps the horizon has.
    """
    blocks = []
    for block in program.nlp.blocks:  # its bounds are (instances, rows)
        lower, upper = block.lower.copy(), block.upper.copy()
        for i in range(block.rows):
            before, row = (find_row(block, i, x, steps) for x in (program.statement, statement))
            if before is None or row is None:
                continue
            as_stated = (before.lower, before.upper) == (lower[0, i], upper[0, i])
            was_range, is_range = before.lower < before.upper, row.lower < row.upper
            if not as_stated or was_range != is_range:  # solvers treat equations differently
                return None
            lower[:, i], upper[:, i] = row.lower, row.upper
        blocks.append(replace(block, lower=lower, upper=upper))
    return program.nlp.restate(blocks)
