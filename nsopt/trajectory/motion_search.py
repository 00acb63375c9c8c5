"""How the motion of an optimization is found: its programs, and in which order they are solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsopt.mpcc import BESIDE, ROUGHLY, Code, Point, Schedule, Solution, Solver, StructuredProgram
from nsopt.trajectory.costs import Smoothness
from nsopt.trajectory.diagnosis import Statement
from nsopt.trajectory.from_afar import solved_from_afar, sought_from_afar
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.programs import program_settings, schedules_from, starting_point
from nsopt.trajectory.stated_program import StatedProgram
from nsopt.trajectory.step_bend import bends, step_bend
from nsopt.trajectory.tie_breaker import smaller
from nsopt.trajectory.transcription.base import Array, Transcription
from nsopt.trajectory.transcription.collocation import Collocation

ACCEPTABLE = "Solved_To_Acceptable_Level"
"""What IPOPT says of a point from which it makes no more progress."""


@dataclass(frozen=True, eq=False)
class MotionSearch:
    """What programs of an optimization are made and solved with.

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

    def found(
        self, now: StatedProgram, p: Array, start: Point, schedules: Sequence[Schedule]
    ) -> tuple[StatedProgram, Solution]:
        """Return program and solution, before limits are kept between nodes.

        A rough solution shows already whether joints are light, at half of the iterations.
        """
        given, last = (start, schedules), None
        if self._roughly_first(now, start):
            limits = now.transcription.limits()
            first = now.program.rough.solve(p, *limits, *given)
            if not first.ok:
                return now, first
            now, last = self._resolved(now, first, p)
            if last is first:
                further = now.program.restated(now.nlp, ROUGHLY)
                last = further.solve(p, *limits, first.point, schedules).after(first)
        if last is None or not (last.ok or last.interrupted):
            again = solved_from_afar(now, self.solver, self.compiled, p, *given)
            last = again if last is None else again.after(last)
        last = self._finished(now, last, p, schedules)
        return self._resolved(*self._settled(now, last, p), p)

    def _finished(
        self, now: StatedProgram, solution: Solution, p: Array, schedules: Sequence[Schedule]
    ) -> Solution:
        """Return a solution that its solver only found acceptable solved again from there.

        Costs of flat optima may be off by 1e-4 of themselves then, though no slope shows.
        """
        x = now.transcription
        if not solution.ok or x.unilateral or solution.status.solver_status != ACCEPTABLE:
            return solution
        beside = now.program.restated(now.nlp, BESIDE)
        again = beside.solve(p, *x.limits(), solution.point, schedules).after(solution)
        return again if again.ok and again.objective <= solution.objective else solution

    def at_once(self, now: StatedProgram, p: Array, guess: Guess) -> tuple[StatedProgram, Solution]:
        """Return program and solution from a guess that is near."""
        x = now.transcription
        point = starting_point(x, now.nlp, guess)
        schedules = schedules_from(guess, point, x, now.settings)
        solution = now.program.solve(p, *x.limits(), point, schedules)
        return self._resolved(*self._settled(now, solution, p), p)

    def _roughly_first(self, now: StatedProgram, start: Point) -> bool:
        """Return whether a first solution is to be rough: one with limits, which take stages."""
        x, backend = now.transcription, self.solver.backend
        if not isinstance(x, Collocation) or any(x.creep) or start.warm:
            return False
        if sought_from_afar(x, self.solver, start):
            return False
        limited = bool(np.any(now.nlp.lower < now.nlp.upper))
        return limited and backend.rough != backend

    def _settled(
        self, now: StatedProgram, solution: Solution, p: Array
    ) -> tuple[StatedProgram, Solution]:
        """Return program and solution in which a tie-breaker decides between equals alone."""
        terms = np.asarray(now.nlp.terms(solution.x, now.transcription.parameters(p))).ravel()
        tie = smaller(now.tie, terms) if solution.ok else None
        if tie is None:
            return now, solution
        costs = (*now.transcription.costs[:-1], tie)
        transcription = replace(now.transcription, costs=costs)
        other = self.program(now.statement, transcription, tie, now.guess)
        start = Point.cold(solution.x, len(other.nlp.lower))
        found = other.program.solve(p, *transcription.limits(), start)
        return (other, found) if found.ok else (now, solution)

    def _resolved(
        self, now: StatedProgram, solution: Solution, p: Array
    ) -> tuple[StatedProgram, Solution]:
        """Return program and solution of which steps are resolved, by a little cost of their bends.

        Without it light joints may move between the points that costs are taken at, so that a step
        under the same forces does not end at the next node.
        """
        x, usable = now.transcription, solution.feasible and not solution.interrupted
        if not (usable and isinstance(x, Collocation)) or bends(x):
            return now, solution
        if not x.defect(solution.x, p) > self.horizon.defect:
            return now, solution
        bend, k = step_bend(x, now.nlp, now.guess, p), len(x.costs) - (now.tie is not None)
        transcription = replace(x, costs=(*x.costs[:k], bend, *x.costs[k:]))
        other = self.program(now.statement, transcription, now.tie, now.guess)
        cold, last = Point.cold(solution.x, len(other.nlp.lower)), solution
        # From beside it is a third of the iterations; it may end beside, with steps not resolved.
        for starts, start in ((BESIDE, solution.point), (None, cold)):
            program = other.program.restated(other.nlp, starts)
            last = program.solve(p, *transcription.limits(), start).after(last)
            resolved = last.ok and not transcription.defect(last.x, p) > self.horizon.defect
            if last.interrupted or resolved:
                break
        return (other, last) if last.ok or last.interrupted else (now, solution)
