"""The search for a motion in phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsopt.mpcc import (
    Point,
    Schedule,
    Settings,
    Solution,
    Solver,
    StructuredNlp,
    StructuredProgram,
)
from nsopt.trajectory.motion_search import MotionSearch
from nsopt.trajectory.phases.program import LinkedPhases
from nsopt.trajectory.transcription.base import Array


@dataclass(frozen=True, eq=False)
class PhasesProgram:
    """Linked phases, and what solves them."""

    linked: LinkedPhases
    program: StructuredProgram

    @property
    def nlp(self) -> StructuredNlp:
        """The program of all phases."""
        return self.linked.nlp

    def limits(self) -> tuple[Array, Array]:
        """Return bounds of the unknowns, (n,) each."""
        return self.linked.limits()


@dataclass(frozen=True, eq=False)
class PhasesMotion(MotionSearch[PhasesProgram]):
    """The search for a motion in phases, for all parameters of their programs.

    Parameters
    ----------
    solver : Solver
    settings : Settings
    """

    solver: Solver
    settings: Settings

    def program(self, linked: LinkedPhases) -> PhasesProgram:
        """Return the program of linked phases."""
        made = linked.nlp, self.solver.backend, self.settings
        return PhasesProgram(linked, StructuredProgram(*made, linked.parameters, linked.start()))

    def first(
        self, now: PhasesProgram, p: Array, start: Point, schedules: Sequence[Schedule]
    ) -> Solution:
        return now.program.solve(p, *now.limits(), start, schedules)

    def at_once(self, now: PhasesProgram, start: Point) -> bool:
        return start.warm or any(any(x.transcription.creep) for x in now.linked.phases)

    def by_polynomials(self, now: PhasesProgram) -> bool:
        del now
        return True

    def settled(self, now: PhasesProgram, solution: Solution, p: Array) -> PhasesProgram | None:
        terms = np.asarray(now.nlp.terms(solution.x, p)).ravel()
        return self._restate(now, now.linked.settled(terms))

    def resolved(self, now: PhasesProgram, solution: Solution, p: Array, part: float = 1.0) -> bool:
        del p
        return all(now.linked.resolved(solution.x, part))

    def bent(
        self, now: PhasesProgram, solution: Solution, p: Array, part: float = 1.0
    ) -> PhasesProgram | None:
        del p
        return self._restate(now, now.linked.bent(now.linked.resolved(solution.x, part)))

    def _restate(self, now: PhasesProgram, linked: LinkedPhases) -> PhasesProgram | None:
        return None if linked is now.linked else self.program(linked)
