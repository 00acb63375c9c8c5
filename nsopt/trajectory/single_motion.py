"""The search for a motion of one program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsopt.interrupt import interrupted
from nsopt.mpcc import (
    AT_ONCE,
    BESIDE,
    Point,
    Schedule,
    Solution,
    Solver,
    StructuredNlp,
    StructuredProgram,
)
from nsopt.trajectory.costs import Smoothness
from nsopt.trajectory.diagnosis import Statement
from nsopt.trajectory.dry_friction import fairly_solved, in_stages, solved_further
from nsopt.trajectory.from_afar import solved_from_afar, sought_from_afar
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.motion_search import MotionSearch
from nsopt.trajectory.programs import program_settings
from nsopt.trajectory.resting_joints import (
    SPEEDS,
    Found,
    cheaper,
    clearly_cheaper,
    halted,
    halts_sought,
    modes,
    rests_sought,
)
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
    """

    solver: Solver
    horizon: Horizon

    def program(
        self,
        statement: Statement,
        transcription: Transcription,
        tie: Smoothness | None,
        guess: Guess,
        nlp: StructuredNlp | None = None,
    ) -> StatedProgram:
        """Return the program of a motion, with its tie-breaker if any; ``nlp`` where known."""
        nlp = transcription.nlp() if nlp is None else nlp
        settings = program_settings(transcription, self.solver)
        # Motions through contacts begin far from where they end.
        start = None if transcription.unilateral else transcription.start_from(guess)
        typical = transcription.parameters(statement.p), start
        program = StructuredProgram(nlp, self.solver.backend, settings, *typical)
        return StatedProgram(statement, transcription, nlp, settings, program, tie, guess)

    def first(
        self, now: StatedProgram, p: Array, start: Point, schedules: Sequence[Schedule]
    ) -> Solution:
        return solved_from_afar(now, self.solver, p, start, schedules)

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

    def resolved(self, now: StatedProgram, solution: Solution, p: Array, part: float = 1.0) -> bool:
        x = now.transcription
        return not isinstance(x, Collocation) or x.resolved(solution.x, p, part)

    def bent(
        self, now: StatedProgram, solution: Solution, p: Array, part: float = 1.0
    ) -> StatedProgram | None:
        x = now.transcription
        if bends(x) or self.resolved(now, solution, p, part):
            return None
        bend, k = step_bend(x, now.nlp, now.guess, p), len(x.costs) - (now.tie is not None)
        transcription = replace(x, costs=(*x.costs[:k], bend, *x.costs[k:]))
        return self.program(now.statement, transcription, now.tie, now.guess)

    def motion(
        self, now: StatedProgram, p: Array, start: Point, schedules: Sequence[Schedule]
    ) -> Found:
        """Return the best motion, its limits kept between nodes.

        Where joints creep in a fair solution rests are sought from there, and it is solved further
        only where they do not cost clearly less.
        """
        x = now.transcription
        if not in_stages(x, start) or sought_from_afar(x, self.solver, start):
            return self.rested(_keep(*self.found(now, p, start, schedules), p), p)
        given = now.program, x, p, start, schedules
        crept = Found(now, fairly_solved(*given), None)
        settled = crept.good and self.settled(now, crept.end, p) is None
        sought = settled and rests_sought(crept, p)
        rests = self.rested(crept, p) if sought else crept
        if clearly_cheaper(crept, rests, p):
            return rests
        solution = solved_further(*given, crept.having_spent(rests).end)
        ended = _keep(*self._completed(now, solution, p, schedules), p)
        if rests.program is not now:
            return cheaper(ended, rests, p).having_spent(ended)
        return ended if sought else self.rested(ended, p)

    def rested(self, found: Found, p: Array) -> Found:
        """Return a motion in which joints rest that crept, if it costs less by exact friction.

        Trials are solved roughly, to be compared; the best of them then to its end.
        """
        if interrupted() or not rests_sought(found, p):
            return found
        best = last = found
        x, known = found.program.transcription, found.end.x
        assert isinstance(x, Collocation)
        for speed in SPEEDS:
            before = best
            rests = RestingCollocation.of(x, modes(x, known, speed))
            if not rests.alike(best.program.transcription):
                last = self._in_modes(rests, found, last, p)
                best = self._cheaper(best, last, p)
            if interrupted() or (best is before and best is not found):
                break
        best, rough = found, best
        while rough is not found and not interrupted():
            last = self._ended_in_modes(rough, last, p)
            before, best = best, self._cheaper(best, last, p)
            if best is before or not halts_sought(best, p):
                break
            rests = halted(best)
            if rests.alike(best.program.transcription):
                break
            rough = last = self._in_modes(rests, best, last, p)
        return best.having_spent(last)

    def _in_modes(self, rests: RestingCollocation, near: Found, last: Found, p: Array) -> Found:
        """Return a rough motion of known modes near another, after the last."""
        now, backend = near.program, self.solver.backend.brief
        brief = replace(self, solver=replace(self.solver, backend=backend))
        other = brief.program(now.statement, rests, now.tie, now.guess)
        beside = other.program.rough.restated(other.nlp, BESIDE)
        solution = beside.solve(p, *rests.limits(), near.end.point)
        return Found(other, solution.after(last.end), None)

    def _ended_in_modes(self, rough: Found, last: Found, p: Array) -> Found:
        """Return a rough motion solved to its end, its limits kept between nodes."""
        now = rough.program
        further = now.program.restated(now.nlp, AT_ONCE)
        solution = further.solve(p, *now.limits(), rough.end.point).after(last.end)
        return _keep(now, solution, p)

    def _cheaper(self, one: Found, other: Found, p: Array) -> Found:
        """Return the second motion where it is better, and its steps are resolved."""
        better = cheaper(one, other, p) is other
        return other if better and self.resolved(other.program, other.end, p) else one


def _keep(now: StatedProgram, solution: Solution, p: Array) -> Found:
    """Return a motion with its limits kept between nodes."""
    return Found(now, solution, now.kept(solution, p))
