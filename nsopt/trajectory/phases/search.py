"""The program of phases, as a search solves and restates it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsopt.mpcc import Settings, Solution, Solver, StructuredProgram
from nsopt.trajectory.phases.phase import PhaseProgram
from nsopt.trajectory.phases.program import LinkedPhases
from nsopt.trajectory.search import LimitedPart, SearchedProgram
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.verification.between_nodes import LimitsBetweenNodes


@dataclass(frozen=True, eq=False)
class SearchedPhases(SearchedProgram):
    """Linked phases, and what solves them, for all parameters of their programs."""

    linked: LinkedPhases

    @classmethod
    def of(cls, linked: LinkedPhases, solver: Solver, settings: Settings) -> SearchedPhases:
        """Return the program of linked phases."""
        nlp, start = linked.nlp, linked.start()
        structured = StructuredProgram(nlp, solver.backend, settings, linked.parameters, start)
        return cls(solver, nlp, settings, structured, linked)

    @property
    def p(self) -> Array:
        return self.linked.parameters

    @property
    def by_polynomials(self) -> bool:
        return True

    @property
    def is_smoothed(self) -> bool:
        return any(any(x.transcription.creep) for x in self.linked.phases)

    def limits(self) -> tuple[Array, Array]:
        return self.linked.limits()

    def list_limited_parts(self) -> list[LimitedPart]:
        linked, phases = self.linked, self.linked.phases
        stated = [None, *(x.statement for x in phases), None]
        limits = [  # of each phase, and of what the phases before and after it state at borders
            LimitsBetweenNodes(x.transcription, x.statement, stated[k], stated[k + 2])
            for k, x in enumerate(phases)
        ]
        return [LimitedPart(*x) for x in zip(limits, linked.unknowns, linked.blocks, strict=True)]

    def is_resolved(self, solution: Solution, part: float = 1.0) -> bool:
        return all(self._are_resolved(solution, part))

    def _are_resolved(self, solution: Solution, part: float) -> list[bool]:
        return [
            phase.transcription.is_resolved(solution.x[own], phase.p, part)
            for phase, own in zip(self.linked.phases, self.linked.unknowns, strict=True)
        ]

    def with_less_tie(self, solution: Solution) -> SearchedPhases | None:
        terms = np.asarray(self.nlp.terms(solution.x, self.p)).ravel()
        pairs = zip(self.linked.phases, self.linked.cost_terms, strict=True)
        return self._restate([phase.with_less_tie(terms[own]) for phase, own in pairs])

    def with_bend(self, solution: Solution, part: float = 1.0) -> SearchedPhases | None:
        pairs = zip(self.linked.phases, self._are_resolved(solution, part), strict=True)
        return self._restate([phase if fine else phase.with_bend() for phase, fine in pairs])

    def _restate(self, phases: Sequence[PhaseProgram]) -> SearchedPhases | None:
        if all(x is y for x, y in zip(phases, self.linked.phases, strict=True)):
            return None
        return self.of(replace(self.linked, phases=phases), self.solver, self.settings)
