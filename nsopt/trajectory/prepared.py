"""An optimization stated once, and solved for other targets, starts, guesses and parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from nsopt.interrupt import interruptible, uninterrupted
from nsopt.mechanics import Dynamics
from nsopt.mpcc import (
    BESIDE,
    NEAR,
    Point,
    Settings,
    Solution,
    Solver,
    StructuredNlp,
    StructuredProgram,
)
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.trajectory.assessment import fault, figures, stopped, verified
from nsopt.trajectory.conditions import Condition, ends_at_rest
from nsopt.trajectory.costs import Cost, Duration, Smoothness, flattened
from nsopt.trajectory.diagnosis import (
    Statement,
    check_arguments,
    check_costs,
    check_feasible,
    dependence,
    stated_row,
)
from nsopt.trajectory.dry_friction import exact_costs, smoothed_by_grid, solved
from nsopt.trajectory.dry_friction import recorded as recorded_friction
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.least_duration import AsFast, with_least_duration
from nsopt.trajectory.optimality import what_it_is
from nsopt.trajectory.optimum import record
from nsopt.trajectory.programs import (
    compiled_from,
    program_settings,
    schedules_from,
    starting_point,
    transcribed,
)
from nsopt.trajectory.schedules import horizon_settings
from nsopt.trajectory.step_bend import bends, step_bend
from nsopt.trajectory.step_bend import recorded as recorded_bend
from nsopt.trajectory.tie_breaker import recorded, smaller, tie_breaker, with_cost
from nsopt.trajectory.tightening import KeptMotion, LimitedPart, Tightening
from nsopt.trajectory.transcription.base import Array, Transcription
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.verification.between_nodes import LimitsBetweenNodes
from nsopt.trajectory.verification.reintegration import explain_defect


class PreparedOptimization:
    """An optimization stated once, and solved for other targets, starts, guesses and parameters.

    Parameters
    ----------
    dynamics, horizon, costs, conditions, guess, inputs, parameters, scheme, solver
        As for `optimize`; what `solve` is not given otherwise is as here.
    often : bool
        Whether it is to be solved many times: then functions are compiled, however few steps there
        are, if there is a compiler and ``solver`` does not say otherwise.

    Attributes
    ----------
    guess : Guess
        With the postures that conditions give it.

    Raises
    ------
    TypeError, ValueError, KeyboardInterrupt
        As for `optimize`.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        horizon: Horizon,
        costs: Sequence[Cost],
        conditions: Sequence[Condition],
        guess: Guess,
        *,
        inputs: Sequence[str] = (),
        parameters: Mapping[str, float] | None = None,
        scheme: Scheme | None = None,
        solver: Solver | None = None,
        often: bool = True,
    ) -> None:
        begin = perf_counter()
        self._dynamics, self._horizon, self._inputs = dynamics, horizon, inputs
        self._scheme, self._solver = scheme, solver or Solver()
        self._costs, self._stated_guess, self._parameters = costs, guess, parameters
        self._conditions = conditions
        with interruptible():  # nothing is computed yet
            self.guess = guess = self._check(conditions, guess, parameters)
            self._compiled = compiled_from(self._solver, horizon.steps, often=often)
            self._program = self._built(conditions, guess, dynamics.values(parameters))
        self._stating = perf_counter() - begin  # counts as time of the first solve

    def solve(
        self,
        *,
        conditions: Sequence[Condition] | None = None,
        guess: Guess | None = None,
        parameters: Mapping[str, float] | None = None,
        verify: bool = False,
        title: str = "optimum",
    ) -> Result:
        """Return the best motion.

        Nothing is built anew where only numbers differ: parameters, the guess, and those numbers of
        conditions that are limits, such as a posture at the start or end, the position of a
        `Reach`, a range. Else the program is built again, by code that is compiled already where
        its structure is the same.

        Parameters
        ----------
        conditions : sequence of Condition, optional
            All of them, in place of those stated.
        guess : Guess, optional
        parameters : mapping of name to float, optional
        verify, title
            As for `optimize`.

        Returns
        -------
        Result

        Raises
        ------
        TypeError, ValueError, KeyboardInterrupt
            As for `optimize`.
        """
        begin = perf_counter()
        with interruptible():
            given = conditions is not None or guess is not None or parameters is not None
            guess = self._stated_guess if guess is None else guess
            conditions = self._conditions if conditions is None else conditions
            parameters = self._parameters if parameters is None else parameters
            guess = self._check(conditions, guess, parameters) if given else self.guess
            p = self._dynamics.values(parameters)
            now = self._program = self._restated(conditions, guess, p).smoothed(guess, self._solver)
            transcription, nlp, settings = now.transcription, now.nlp, now.settings
            start = starting_point(transcription, nlp, guess)
            schedules = schedules_from(guess, start, transcription, settings)
            built, self._stating = self._stating + perf_counter() - begin, 0.0
        with uninterrupted("stopping after this iteration; the best motion so far is kept"):
            solution = solved(now.program, transcription, p, start, schedules)
            now, solution = self._settled(now, solution, p)
            now, solution = self._resolved(now, solution, p)
            transcription, nlp = now.transcription, now.nlp
            kept = now.kept(solution, p)
            solution = solution if kept is None else kept.solution
            motion = transcription.motion(solution, p)
            numbers, costs = transcription.parameters(p), flattened(self._costs)
            why = fault(transcription, nlp, solution, motion, p, settings.tolerances)
            broken = not (solution.interrupted or solution.feasible)
            if why and broken and isinstance(transcription, Collocation):
                why = with_least_duration(
                    why, self._horizon, lambda x: self._fastest(x, conditions, guess, parameters)
                )
            found = figures(transcription, costs, nlp, solution, start, numbers)
            motions = {
                "exact_cost": (solution.x, json.loads(found["detailed_cost"])),
                "guess_exact_cost": (start.x, json.loads(found["guess_cost"])),
            }
            attrs = {
                "title": title,
                "solver": repr(self._solver),
                "compile_time": built,
                **found,
                **recorded(now.tie),
                **recorded_friction(transcription),
                **recorded_bend(transcription),
                **exact_costs(transcription, motions, p),
                "stationarity": what_it_is(transcription, settings, solution),
                **({} if kept is None else kept.attrs),
                "stop_reason": why
                or (kept.fault if kept is not None else "")
                or explain_defect(motion.defect, self._horizon.defect),
            }
            backend = type(self._solver.backend).__name__.lower()
            result = record(transcription, solution, motion, p, backend, attrs)
            if not verify or solution.interrupted:
                return result
            try:
                with interruptible():
                    return verified(result, transcription, motion, p, self._scheme)
            except KeyboardInterrupt:
                return stopped(result, "interrupted while it was simulated again")

    def _fastest(
        self,
        horizon: Horizon,
        conditions: Sequence[Condition],
        guess: Guess,
        parameters: Mapping[str, float] | None,
    ) -> Result | None:
        """Return the fastest motion; None if there is none by these conditions."""
        known = AsFast(guess, self._horizon.bounds)
        given = (self._dynamics, horizon, [Duration()], conditions, known)
        inputs, solver = self._inputs, self._solver
        try:
            fastest = PreparedOptimization(
                *given, inputs=inputs, parameters=parameters, solver=solver, often=False
            )
            return fastest.solve()
        except (ValueError, KeyboardInterrupt):  # what failed is told in any case
            return None

    def _check(
        self,
        conditions: Sequence[Condition],
        guess: Guess,
        parameters: Mapping[str, float] | None,
    ) -> Guess:
        return check_arguments(
            self._dynamics,
            self._horizon,
            self._costs,
            conditions,
            guess,
            inputs=self._inputs,
            parameters=parameters,
            scheme=self._scheme,
            solver=self._solver,
        )

    def _built(self, conditions: Sequence[Condition], guess: Guess, p: Array) -> _Program:
        """Return the program of some conditions, stated anew."""
        costs = flattened(self._costs)
        transcription = transcribed(
            self._dynamics,
            self._horizon,
            costs,
            conditions,
            inputs=self._inputs,
            p=p,
            scheme=self._scheme,
            relaxation=horizon_settings(self._solver).relaxation,
        )
        statement = Statement(self._dynamics, conditions, self._inputs, p)
        check_feasible(statement, self._horizon)
        transcription = smoothed_by_grid(transcription, guess)
        nlp = transcription.nlp()
        depends = dependence(nlp, len(costs))
        check_costs(costs, depends)
        tie = tie_breaker(transcription, nlp, depends, guess, p)
        smoothed = isinstance(transcription, Collocation) and any(transcription.creep)
        bend = step_bend(transcription, nlp, guess, p) if smoothed else None
        transcription = with_cost(with_cost(transcription, bend), tie)
        return self._compiled_program(statement, transcription, tie, guess)

    def _compiled_program(
        self,
        statement: Statement,
        transcription: Transcription,
        tie: Smoothness | None,
        guess: Guess,
    ) -> _Program:
        """Return the program of a motion with its tie-breaker, if there is one."""
        nlp, settings = transcription.nlp(), program_settings(transcription, self._solver)
        typical = None
        if not transcription.unilateral:  # others begin far from where they end
            typical = transcription.start_from(guess), transcription.parameters(statement.p)
        program = StructuredProgram(nlp, self._solver.backend, settings, self._compiled, typical)
        return _Program(statement, transcription, nlp, settings, program, tie, guess)

    def _settled(self, now: _Program, solution: Solution, p: Array) -> tuple[_Program, Solution]:
        """Return program and solution in which a tie-breaker decides between equals alone."""
        terms = np.asarray(now.nlp.terms(solution.x, now.transcription.parameters(p))).ravel()
        tie = smaller(now.tie, terms) if solution.ok else None
        if tie is None:
            return now, solution
        costs = (*now.transcription.costs[:-1], tie)
        transcription = replace(now.transcription, costs=costs)
        other = self._compiled_program(now.statement, transcription, tie, now.guess)
        start = Point.cold(solution.x, len(other.nlp.lower))
        found = other.program.solve(p, *transcription.limits(), start)
        return (other, found) if found.ok else (now, solution)

    def _resolved(self, now: _Program, solution: Solution, p: Array) -> tuple[_Program, Solution]:
        """Return program and solution of which steps are resolved, by a little cost of their bends.

        Without it light joints may move between the points that costs are taken at, so that a step
        under the same forces does not end at the next node.
        """
        x, usable = now.transcription, solution.feasible and not solution.interrupted
        if not (usable and isinstance(x, Collocation)) or bends(x):
            return now, solution
        if not x.defect(solution.x, p) > self._horizon.defect:
            return now, solution
        bend, k = step_bend(x, now.nlp, now.guess, p), len(x.costs) - (now.tie is not None)
        transcription = replace(x, costs=(*x.costs[:k], bend, *x.costs[k:]))
        other = self._compiled_program(now.statement, transcription, now.tie, now.guess)
        cold, last = Point.cold(solution.x, len(other.nlp.lower)), solution
        # From beside it is a third of the iterations; it may end beside, with steps not resolved.
        for starts, start in ((BESIDE, solution.point), (None, cold)):
            program = other.program.restated(other.nlp, starts)
            last = program.solve(p, *transcription.limits(), start).after(last)
            resolved = last.ok and not transcription.defect(last.x, p) > self._horizon.defect
            if last.interrupted or resolved:
                break
        return (other, last) if last.ok or last.interrupted else (now, solution)

    def _restated(self, conditions: Sequence[Condition], guess: Guess, p: Array) -> _Program:
        """Return the program of other conditions and parameters, as much of it as is the same."""
        now = self._program
        same = len(conditions) == len(now.statement.conditions) and all(
            x is y for x, y in zip(conditions, now.statement.conditions, strict=True)
        )
        moved = not np.array_equal(p, now.statement.p)
        if now.tie is not None and not (same and not moved and guess is now.guess):
            return self._built(conditions, guess, p)  # the weight of the tie-breaker depends on all
        if moved:
            if not now.transcription.any_parameters:
                return self._built(conditions, guess, p)
            now = replace(now, statement=replace(now.statement, p=p))
            if same:
                check_feasible(now.statement, self._horizon)
        if same:
            return now
        statement, d = now.statement.restated(conditions), self._dynamics
        if ends_at_rest(d, conditions) != ends_at_rest(d, now.statement.conditions):
            statement = None  # other equations at the end
        nlp = None if statement is None else _limited(now, statement, self._horizon.steps)
        if statement is None or nlp is None:
            return self._built(conditions, guess, p)
        check_feasible(statement, self._horizon)
        return replace(
            now,
            statement=statement,
            transcription=now.transcription.with_conditions(conditions),
            nlp=nlp,
            program=now.program.restated(nlp),
        )


@dataclass(frozen=True, eq=False)
class _Program:
    """An optimization for given conditions and parameters, and what solves it."""

    statement: Statement
    transcription: Transcription
    nlp: StructuredNlp
    settings: Settings
    program: StructuredProgram
    tie: Smoothness | None
    guess: Guess

    def smoothed(self, guess: Guess, solver: Solver) -> _Program:
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
            program = self.program.restated(nlp, NEAR)
            found = program.solve(p, *bounds, last.point, schedules)
            if found.ok or found.interrupted:
                return found
            program = self.program.restated(nlp)
            return program.solve(p, *bounds, Point.cold(last.point.x, len(nlp.lower)), schedules)

        return Tightening(self.nlp, [LimitedPart(limits)], solve).kept(solution)


def _limited(now: _Program, statement: Statement, steps: int) -> StructuredNlp | None:
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
