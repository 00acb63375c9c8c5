"""An optimization stated once, and solved for other targets, starts, guesses and parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from nsopt.culprit import naming
from nsopt.interrupt import interruptible, uninterrupted
from nsopt.mechanics import Dynamics
from nsopt.mpcc import (
    Solver,
)
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.trajectory.assessment import add_simulation, fault, figures, mark_stopped
from nsopt.trajectory.conditions import Condition, ends_at_rest
from nsopt.trajectory.costs import Cost, flattened
from nsopt.trajectory.diagnosis import (
    Statement,
    check_arguments,
    check_costs,
    check_feasible,
    check_numbers,
    dependence,
    warn_outside_bores,
)
from nsopt.trajectory.dry_friction import exact_costs, record_friction, smooth_by_grid
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimality import what_it_is
from nsopt.trajectory.optimum import load_xarray, record
from nsopt.trajectory.programs import (
    schedules_from,
    starting_point,
    suit_solver,
    transcribe,
)
from nsopt.trajectory.schedules import horizon_settings
from nsopt.trajectory.search import PLAN, MotionSearch, Plan, StatedProgram, restate_limits
from nsopt.trajectory.step_bend import record_bend, step_bend
from nsopt.trajectory.tie_breaker import record_tie, tie_breaker, with_cost
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.verification.ending import closing_at_end


class PreparedOptimization:
    """An optimization stated once, and solved for other targets, starts, guesses and parameters.

    Parameters
    ----------
    dynamics, horizon, costs, conditions, guess, inputs, parameters, scheme, solver, plan
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
        plan: Plan[StatedProgram] = PLAN,
        often: bool = True,
    ) -> None:
        begin = perf_counter()
        if not isinstance(plan, Plan):
            raise TypeError(f"plan of an optimization must be a Plan, got {plan!r:.60}")
        self._dynamics, self._horizon, self._inputs = dynamics, horizon, inputs
        self._scheme, self._solver = scheme, solver or Solver()
        self._costs, self._stated_guess, self._parameters = costs, guess, parameters
        self._conditions, self._plan = conditions, plan
        with interruptible(), naming(Cost, Condition):  # nothing is computed yet
            self.guess = guess = self._check(conditions, guess, parameters)
            self._suited = suit_solver(self._solver, horizon.steps, often=often)
            self._program = self._build(conditions, guess, dynamics.values(parameters))
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
            now = self._program = self._restate(conditions, guess, p).smooth_for(guess)
            transcription, nlp, settings = now.transcription, now.nlp, now.settings
            start = starting_point(transcription, nlp, guess)
            warn_outside_bores(transcription, start.x, p)
            schedules = schedules_from(guess, start, transcription, settings)
            load_xarray()
            built, self._stating = self._stating + perf_counter() - begin, 0.0

        def solve_else(
            horizon: Horizon,
            guess: Guess,
            *,
            without: tuple[type, ...] = (),
            costs: Sequence[Cost] | None = None,
        ) -> Result | None:
            try:
                other = PreparedOptimization(
                    self._dynamics,
                    horizon,
                    self._costs if costs is None else costs,
                    conditions,
                    guess,
                    inputs=self._inputs,
                    parameters=parameters,
                    scheme=self._scheme,
                    solver=self._solver,
                    plan=self._plan.without(*without),
                    often=False,
                )
                return other.solve()
            except ValueError:
                return None

        search = MotionSearch(self._plan, start, schedules, guess, solve_else)
        with uninterrupted("stopping after this iteration; the best motion so far is kept"):
            found, ran = search.run(now)
            solution, kept, now = search.complete(found.end), found.kept, found.program
            transcription, nlp = now.transcription, now.nlp
            motion = transcription.motion(solution, p)
            numbers, costs = transcription.parameters(p), flattened(self._costs)
            why = fault(transcription, nlp, solution, motion, p, settings.tolerances)
            shown = figures(transcription, costs, nlp, solution, start, numbers)
            motions = {
                "exact_cost": (solution.x, json.loads(shown["detailed_cost"])),
                "guess_exact_cost": (start.x, json.loads(shown["guess_cost"])),
            }
            attrs = {
                "title": title,
                "solver": repr(self._solver),
                "compile_time": built,
                "search": json.dumps([run._asdict() for run in ran]),
                **shown,
                **record_tie(now.tie),
                **record_friction(transcription),
                **record_bend(transcription),
                **({} if found.swings is None else {"other_start": found.swings}),
                **exact_costs(transcription, nlp, motions, p),
                **closing_at_end(self._dynamics, motion, p),
                "stationarity": what_it_is(transcription, settings, solution),
                **({} if kept is None else kept.attrs),
                "stop_reason": (found.remark + why if why else "")
                or (kept.fault if kept is not None else "")
                or motion.unresolved,
            }
            backend = type(self._solver.backend).__name__.lower()
            result = record(transcription, solution, motion, p, backend, attrs)
            if not verify or solution.interrupted:
                return result
            try:
                with interruptible():
                    d, inputs = self._dynamics, transcription.inputs
                    return add_simulation(result, d, inputs, motion, p, self._scheme)
            except KeyboardInterrupt:
                return mark_stopped(result, "interrupted while it was simulated again")

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

    def _build(self, conditions: Sequence[Condition], guess: Guess, p: Array) -> StatedProgram:
        """Return the program of some conditions, stated anew."""
        costs = flattened(self._costs)
        transcription = transcribe(
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
        transcription = smooth_by_grid(transcription, guess)
        nlp = transcription.nlp()
        depends = dependence(nlp, len(costs))
        check_costs(costs, depends)
        tie = tie_breaker(transcription, nlp, depends, guess, p)
        bend = step_bend(transcription, nlp, guess, p) if any(transcription.creep) else None
        if tie is not None or bend is not None:
            transcription = with_cost(with_cost(transcription, bend), tie)
            nlp = transcription.nlp()
        return StatedProgram.of(self._suited, statement, transcription, tie, guess, nlp)

    def _restate(self, conditions: Sequence[Condition], guess: Guess, p: Array) -> StatedProgram:
        """Return the program of other conditions and parameters, as much of it as is the same."""
        now = self._program
        same = len(conditions) == len(now.statement.conditions) and all(
            x is y for x, y in zip(conditions, now.statement.conditions, strict=True)
        )
        moved = not np.array_equal(p, now.statement.p)
        if now.tie is not None and not (same and not moved and guess is now.guess):
            return self._build(conditions, guess, p)  # the weight of the tie-breaker depends on all
        if moved:
            if not now.transcription.any_parameters:
                return self._build(conditions, guess, p)
            now = replace(now, statement=replace(now.statement, p=p))
            if same:
                check_feasible(now.statement, self._horizon)
        if same:
            return now
        statement, d = now.statement.restate(conditions), self._dynamics
        if ends_at_rest(d, conditions) != ends_at_rest(d, now.statement.conditions):
            statement = None  # other equations at the end
        nlp = None if statement is None else restate_limits(now, statement, self._horizon.steps)
        if statement is None or nlp is None:
            return self._build(conditions, guess, p)
        check_feasible(statement, self._horizon)
        return replace(
            now,
            statement=statement,
            transcription=now.transcription.with_conditions(conditions),
            nlp=nlp,
            program=now.program.restate(nlp),
        )
