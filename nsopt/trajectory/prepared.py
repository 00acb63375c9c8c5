"""An optimization stated once, and solved for other targets, starts, guesses and parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from nsopt.culprit import naming
from nsopt.interrupt import interrupted, interruptible, uninterrupted
from nsopt.mechanics import Dynamics
from nsopt.mpcc import (
    Solver,
)
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.trajectory.assessment import fault, figures, stopped, verified
from nsopt.trajectory.coarse_first import after, coarser
from nsopt.trajectory.conditions import Condition, ends_at_rest
from nsopt.trajectory.costs import Cost, Duration, flattened
from nsopt.trajectory.diagnosis import (
    Statement,
    check_arguments,
    check_costs,
    check_feasible,
    check_numbers,
    dependence,
    warn_outside_bores,
)
from nsopt.trajectory.dry_friction import exact_costs, smoothed_by_grid
from nsopt.trajectory.dry_friction import recorded as recorded_friction
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.least_duration import AsFast, with_least_duration
from nsopt.trajectory.optimality import what_it_is
from nsopt.trajectory.optimum import load_xarray, record
from nsopt.trajectory.other_starts import Swinging, other_starts, search_elsewhere
from nsopt.trajectory.programs import (
    schedules_from,
    starting_point,
    suit_solver,
    transcribed,
)
from nsopt.trajectory.resting_joints import Found
from nsopt.trajectory.schedules import horizon_settings
from nsopt.trajectory.single_motion import SingleMotion
from nsopt.trajectory.stated_program import StatedProgram, limited
from nsopt.trajectory.step_bend import recorded as recorded_bend
from nsopt.trajectory.step_bend import step_bend
from nsopt.trajectory.tie_breaker import recorded, tie_breaker, with_cost
from nsopt.trajectory.transcription.base import Array, Transcription
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.verification.ending import closing_at_end


class PreparedOptimization:
    """An optimization stated once, and solved for other targets, starts, guesses and parameters.

    Parameters
    ----------
    dynamics, horizon, costs, conditions, guess, inputs, parameters, scheme, solver
        As for `optimize`; what `solve` is not given otherwise is as here.
    often : bool
        Whether it is to be solved many times: then its linear systems are solved as those of many
        steps, however few there are.

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
        with interruptible(), naming(Cost, Condition):  # nothing is computed yet
            self.guess = guess = self._check(conditions, guess, parameters)
            self._search = SingleMotion(
                suit_solver(self._solver, horizon.steps, often=often), horizon
            )
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
        `Reach`, a range. Else the program is built again, by machine code that is kept where
        its structure is the same. Programs on coarser grids, and those of contacts that reach
        farther, are built for each solve that begins with them.

        Parameters
        ----------
        conditions : sequence of Condition, optional
            All of them, in place of those stated. A posture has numbers, or `FREE`, where that
            stated has numbers: NaN is refused, for it may be measured.
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
        with interruptible(), naming(Cost, Condition):
            given = conditions is not None or guess is not None or parameters is not None
            guess = self._stated_guess if guess is None else guess
            conditions = self._conditions if conditions is None else conditions
            parameters = self._parameters if parameters is None else parameters
            guess = self._check(conditions, guess, parameters) if given else self.guess
            check_numbers(self._dynamics, conditions, self._conditions)
            p = self._dynamics.values(parameters)
            now = self._program = self._restate(conditions, guess, p).smoothed(guess, self._solver)
            transcription, nlp, settings = now.transcription, now.nlp, now.settings
            start = starting_point(transcription, nlp, guess)
            warn_outside_bores(transcription, start.x, p)
            schedules = schedules_from(guess, start, transcription, settings)
            load_xarray()
            built, self._stating = self._stating + perf_counter() - begin, 0.0
        with uninterrupted("stopping after this iteration; the best motion so far is kept"):
            coarse = self._on_coarser_grids(transcription, conditions, guess, parameters)
            near = [x for x in coarse if x.completed]
            if near and (near[-1] is coarse[-1] or interrupted()):
                coarser_one = Earlier(near[-1])
                begun = starting_point(transcription, nlp, coarser_one)
                stages = schedules_from(coarser_one, begun, transcription, settings)
                now, solution = self._search.near(now, p, begun, stages)
                ended = Found(now, solution, now.kept(solution, p))
            else:
                ended = self._search.motion(now, p, start, schedules)
            ended, elsewhere = self._from_other_starts(now, p, guess, ended)
            if coarse:  # of motions with contacts, of which nothing is known between nodes
                ended = ended._replace(solution=after(ended.solution, coarse))
            now, kept, solution = ended.program, ended.kept, ended.end
            transcription, nlp = now.transcription, now.nlp
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
                **({} if elsewhere is None else {"other_start": elsewhere.swings}),
                **exact_costs(transcription, nlp, motions, p),
                **closing_at_end(self._dynamics, motion, p),
                "stationarity": what_it_is(transcription, settings, solution),
                **({} if kept is None else kept.attrs),
                "stop_reason": why or (kept.fault if kept is not None else "") or motion.unresolved,
            }
            backend = type(self._solver.backend).__name__.lower()
            result = record(transcription, solution, motion, p, backend, attrs)
            if not verify or solution.interrupted:
                return result
            try:
                with interruptible():
                    d, inputs = self._dynamics, transcription.inputs
                    return verified(result, d, inputs, motion, p, self._scheme)
            except KeyboardInterrupt:
                return stopped(result, "interrupted while it was simulated again")

    def _on_coarser_grids(
        self,
        transcription: Transcription,
        conditions: Sequence[Condition],
        guess: Guess,
        parameters: Mapping[str, float] | None,
    ) -> list[Result]:
        """Return motions on coarser grids, each from the one before; none where none is sought."""
        found, known = list[Result](), guess
        for horizon in coarser(transcription, guess, self._solver):
            given = (self._dynamics, horizon, self._costs, conditions, known)
            if interrupted():
                break
            try:
                stated = _OnOneGrid(
                    *given,
                    inputs=self._inputs,
                    parameters=parameters,
                    scheme=self._scheme,
                    solver=self._solver,
                    often=False,
                )
            except ValueError:  # such as nodes of two conditions that fall together there
                continue
            found.append(stated.solve())
            known = Earlier(found[-1]) if found[-1].completed else known
        return found

    def _from_other_starts(
        self, now: StatedProgram, p: Array, guess: Guess, ended: Found
    ) -> tuple[Found, Swinging | None]:
        """Return a motion from elsewhere, and its start, where there is none from the guess."""
        x = now.transcription
        if ended.end.feasible or interrupted() or not isinstance(x, Collocation):
            return ended, None

        def search(start: Guess) -> Found:
            begun = starting_point(x, now.nlp, start)
            schedules = schedules_from(start, begun, x, now.settings)
            return self._search.motion(now, p, begun, schedules)

        return search_elsewhere(ended, other_starts(self._dynamics, guess), search)

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

    def _built(self, conditions: Sequence[Condition], guess: Guess, p: Array) -> StatedProgram:
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
        if tie is not None or bend is not None:
            transcription = with_cost(with_cost(transcription, bend), tie)
            nlp = transcription.nlp()
        return self._search.program(statement, transcription, tie, guess, nlp)

    def _restate(self, conditions: Sequence[Condition], guess: Guess, p: Array) -> StatedProgram:
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
        nlp = None if statement is None else limited(now, statement, self._horizon.steps)
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


class _OnOneGrid(PreparedOptimization):
    """An optimization on one of the coarser grids, which is not found on still coarser ones."""

    def _on_coarser_grids(
        self,
        transcription: Transcription,
        conditions: Sequence[Condition],
        guess: Guess,
        parameters: Mapping[str, float] | None,
    ) -> list[Result]:
        del transcription, conditions, guess, parameters
        return []
