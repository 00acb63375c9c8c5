"""The search for a motion of one program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsopt.interrupt import interrupted
from nsopt.mpcc import BESIDE, Code, Point, Schedule, Solution, Solver, StructuredProgram
from nsopt.trajectory.costs import Smoothness
from nsopt.trajectory.diagnosis import Statement
from nsopt.trajectory.from_afar import solved_from_afar, sought_from_afar
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.motion_search import MotionSearch
from nsopt.trajectory.programs import program_settings
from nsopt.trajectory.resting_joints import SPEEDS, Found, cheaper, halted, modes, rests_sought
from nsopt.trajectory.stated_program import StatedProgram
from nsopt.trajectory.step_bend import bends, step_bend
from nsopt.trajectory.tie_breaker import smaller
from nsopt.trajectory.transcription.base import Array, Transcription
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.resting import RestingCollocation


@dataclass(frozen=True, eq=False)
class SingleMotion(MotionSearch[StatedProgram]):
    """The search for a motion of one program, for parameters (np,) of its mechanism.

    Parameters
    ----------
    solver : Solver
    horizon : Horizon
    compiled : Code or None
        What functions of many steps are compiled from; None to interpret them.
    """

    solver: Solver
    horizon: Horizon
    compiled: Code | None

    def program(
        self,
        statement: Statement,
        transcription: Transcription,
        tie: Smoothness | None,
        guess: Guess,
    ) -> StatedProgram:
        """Return the program of a motion with its tie-breaker, if there is one."""
        nlp, settings = transcription.nlp(), program_settings(transcription, self.solver)
        # Motions through contacts begin far from where they end.
        start = None if transcription.unilateral else transcription.start_from(guess)
        typical = transcription.parameters(statement.p), start
        program = StructuredProgram(nlp, self.solver.backend, settings, self.compiled, *typical)
        return StatedProgram(statement, transcription, nlp, settings, program, tie, guess)

    def first(
        self, now: StatedProgram, p: Array, start: Point, schedules: Sequence[Schedule]
    ) -> Solution:
        return solved_from_afar(now, self.solver, self.compiled, p, start, schedules)

    def at_once(self, now: StatedProgram, start: Point) -> bool:
        x = now.transcription
        stages = isinstance(x, Collocation) and any(x.creep)
        return stages or start.warm or sought_from_afar(x, self.solver, start)

    def by_polynomials(self, now: StatedProgram) -> bool:
        return isinstance(now.transcription, Collocation)

    def settled(self, now: StatedProgram, solution: Solution, p: Array) -> StatedProgram | None:
        terms = np.asarray(now.nlp.terms(solution.x, now.transcription.parameters(p))).ravel()
        tie = smaller(now.tie, terms)
        if tie is None:
            return None
        costs = (*now.transcription.costs[:-1], tie)
        transcription = replace(now.transcription, costs=costs)
        return self.program(now.statement, transcription, tie, now.guess)

    def resolved(self, now: StatedProgram, solution: Solution, p: Array) -> bool:
        x = now.transcription
        return not (isinstance(x, Collocation) and x.defect(solution.x, p) > self.horizon.defect)

    def bent(self, now: StatedProgram, solution: Solution, p: Array) -> StatedProgram | None:
        x = now.transcription
        if bends(x) or self.resolved(now, solution, p):
            return None
        bend, k = step_bend(x, now.nlp, now.guess, p), len(x.costs) - (now.tie is not None)
        transcription = replace(x, costs=(*x.costs[:k], bend, *x.costs[k:]))
        return self.program(now.statement, transcription, now.tie, now.guess)

    def rested(self, found: Found, p: Array) -> Found:
        """Return a motion in which joints rest that crept, if it costs less by exact friction."""
        if interrupted() or not rests_sought(found, p):
            return found
        best, x, known = found, found.program.transcription, found.end.x
        assert isinstance(x, Collocation)
        for speed in SPEEDS:
            rests = RestingCollocation.of(x, modes(x, known, speed))
            tried = self._in_modes(rests, best, p)
            if tried is not None:
                rests = rests.of(x, halted(rests, tried.end.x))
                again = self._in_modes(rests, tried, p)
                tried = tried if again is None else cheaper(tried, again, p)
            if interrupted():
                break
            if tried is not None and cheaper(best, tried, p) is tried:
                best = tried
            elif best is not found:
                break
        return best

    def _in_modes(self, rests: RestingCollocation, near: Found, p: Array) -> Found | None:
        """Return the best motion of known modes near another; None if there is none, or no new."""
        now, backend = near.program, self.solver.backend.brief
        if isinstance(now.transcription, RestingCollocation) and rests.alike(now.transcription):
            return None
        brief = replace(self, solver=replace(self.solver, backend=backend))
        other = brief.program(now.statement, rests, now.tie, now.guess)
        beside = other.program.restated(other.nlp, BESIDE)
        solution = beside.solve(p, *rests.limits(), near.end.point).after(near.end)
        if not solution.ok:
            return None
        ended = Found(other, solution, other.kept(solution, p))
        return ended if rests.defect(ended.end.x, p) <= self.horizon.defect else None
