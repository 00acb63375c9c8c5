"""An optimization stated once, and solved again and again: `PreparedOptimization`.

It checks the arguments of `optimize`, states the program, runs the plan of search and records what
was found. `optimize` solves one once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from nsopt.arrays import Array
from nsopt.culprit import naming
from nsopt.interrupt import guard, interruptible
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Solver
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.simulation import Check
from nsopt.trajectory.assessment import (
    add_simulation,
    describe_stationarity,
    explain_fault,
    mark_stopped,
    record_costs,
)
from nsopt.trajectory.conditions import Condition, ends_at_rest
from nsopt.trajectory.costs import Cost, flattened
from nsopt.trajectory.diagnosis import (
    Statement,
    check_arguments,
    check_feasible,
    check_no_new_nan,
    warn_outside_bores,
)
from nsopt.trajectory.exact import PLAN
from nsopt.trajectory.grid_error import explain_unknown_error
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimum import import_xarray, record
from nsopt.trajectory.other_grids import OtherGrids, refuse_other_checks
from nsopt.trajectory.programs import (
    add_small_costs,
    choose_schedules,
    choose_start,
    suit_solver,
    transcribe,
)
from nsopt.trajectory.search import (
    MotionSearch,
    Plan,
    StatedProgram,
    restate_limits,
)
from nsopt.trajectory.smoothing.dry_friction import smooth_by_grid
from nsopt.trajectory.smoothing.small_costs import record_tie
from nsopt.trajectory.task import Task
from nsopt.trajectory.verification.contacts import find_closing_at_end
from nsopt.trajectory.verification.switching_limits import find_switching_limits


class PreparedOptimization:
    """An optimization stated once, and solved for other targets, starts, guesses and parameters.

    Parameters
    ----------
    dynamics, horizon, costs, conditions, guess, inputs, parameters, scheme, solver, plan
        As for `optimize`; the defaults of `solve`.
    often : bool
        Whether it is to be solved many times: then its linear systems are solved as those of many
        steps, however few there are (`Backend.of_many_steps`).

    Attributes
    ----------
    guess : Guess
        Its ends completed by the postures of conditions.

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
        if scheme is not None and not dynamics.contact_names:
            plan = plan.on_the_way()  # steps that are asked for stay
        stated = dynamics, horizon, costs, conditions, guess, inputs, parameters, scheme
        self._task, self._plan = Task(*stated, solver or Solver()), plan
        with interruptible(), naming(Cost, Condition):  # nothing is computed yet
            self.guess = check_arguments(self._task)
            for strategy in plan.strategies:
                strategy.check(dynamics)
            self._solver = suit_solver(self._task.solver, horizon.steps, often=often)
            self._program = self._state(self._task, self.guess)
        self._seconds = perf_counter() - begin  # of stating, counted in the first solve

    def solve(
        self,
        *,
        conditions: Sequence[Condition] | None = None,
        guess: Guess | None = None,
        parameters: Mapping[str, float] | None = None,
        verify: bool = False,
        check: Check | None = None,
        title: str = "",
    ) -> Result:
        """Return the best motion.

        Nothing is stated anew where only numbers differ: parameters, the guess, and numbers of
        conditions that are limits, such as a posture at the start or end, the position of a
        `Reach`, a range. Otherwise the program is stated again; its machine code is reused if its
        structure is the same. Strategies that state other programs do so in each solve, as
        `ExactContacts` where there are contacts or loops: ``plan=IN_STEPS`` leaves that one out.

        Parameters
        ----------
        conditions : sequence of Condition, optional
            All of them, in place of those stated. A posture must not have NaN where the stated one
            has a number, for it may be measured: `FREE` says that a coordinate is free.
        guess : Guess, optional
        parameters : mapping of name to float, optional
        verify, check, title
            As for `optimize`; without a check by default.

        Returns
        -------
        Result

        Raises
        ------
        TypeError, ValueError, KeyboardInterrupt
            As for `optimize`.
        """
        refuse_other_checks(check)
        begin = perf_counter()
        with interruptible(), naming(Cost, Condition):
            given = {"conditions": conditions, "guess": guess, "parameters": parameters}
            changes: dict[str, Any] = {name: x for name, x in given.items() if x is not None}
            task = replace(self._task, **changes)
            guess = check_arguments(task) if changes else self.guess
            d, p, inputs = task.dynamics, task.dynamics.values(task.parameters), task.inputs
            check_no_new_nan(d, task.conditions, self._task.conditions)
            program = self._program = self._restate(task, guess, p).smooth_for(guess)
            transcription, settings = program.transcription, program.settings
            start = choose_start(transcription, program.nlp, guess)
            warn_outside_bores(transcription, start.x, p)
            schedules = choose_schedules(guess, start, transcription, settings)
            import_xarray()
            # Those of the statement count once.
            seconds, self._seconds = self._seconds + perf_counter() - begin, 0.0

        def solve_else(
            horizon: Horizon,
            guess: Guess,
            *,
            without: tuple[type, ...] = (),
            costs: Sequence[Cost] | None = None,
        ) -> Result | None:
            other = vars(replace(task, horizon=horizon, guess=guess, costs=costs or task.costs))
            plan = self._plan.on_the_way().without(*without)
            try:
                return PreparedOptimization(**other, plan=plan, often=False).solve()
            except ValueError:
                return None

        search = MotionSearch(self._plan, start, schedules, guess, solve_else)
        begin = thread_time()  # not of the clock: other programs run meanwhile
        with guard():
            found, ran = search.run(program)
            solution, excess = search.with_all_stages(found.end), found.excess
            x, nlp = found.program.transcription, found.program.nlp
            motion = x.motion(solution, p)
            fault = explain_fault(x, nlp, solution, motion, p, settings.tolerances)
            attrs = {
                "title": title or task.dynamics.mechanism.name or "optimum",
                "solver": repr(task.solver),
                "compile_time": seconds,
                "search": json.dumps([run._asdict() for run in ran]),
                **record_costs(x, nlp, flattened(task.costs), solution, start, p),
                **record_tie(found.program.tie),
                **({} if found.swings is None else {"other_start": found.swings}),
                **find_closing_at_end(d, motion, p),
                "stationarity": describe_stationarity(x, settings, solution),
                **({} if excess is None else excess.attrs),
                "stop_reason": (found.remark + fault if fault else "")
                or (excess.fault if excess is not None else "")
                or motion.unresolved,
            }
            if found.exact is not None:
                motion = found.exact.motion
                result = found.exact.record(motion, p, attrs)
            else:
                attrs |= {"not_exact": found.not_exact} if found.not_exact else {}
                limits = find_switching_limits(nlp, solution.point.lam_g)
                attrs |= {"switching_limits": ", ".join(limits)} if limits else {}
                result = record(x, solution, motion, p, task.solver.backend, attrs)

            if check is None:
                result = explain_unknown_error(result, "not asked for")
            elif result.completed:
                limit = settings.tolerances.rows
                own = OtherGrids(result, d, p, task.horizon, limit, solve_else, found.exact, attrs)
                result = own.check(check, thread_time() - begin, seconds)
            if not verify or solution.interrupted:
                return result
            try:
                with interruptible():
                    return add_simulation(result, d, inputs, motion, p, task.scheme)
            except KeyboardInterrupt:
                return mark_stopped(result, "interrupted while it was simulated again")

    def _state(self, task: Task, guess: Guess) -> StatedProgram:
        """Return the program of a task."""
        p = task.dynamics.values(task.parameters)
        transcription = transcribe(task, p)
        statement = Statement(task.dynamics, task.conditions, task.inputs, p)
        check_feasible(statement, task.horizon)
        x, nlp, tie = add_small_costs(smooth_by_grid(transcription, guess), guess, p)
        return StatedProgram.of(self._solver, statement, x, tie, guess, nlp)

    def _restate(self, task: Task, guess: Guess, p: Array) -> StatedProgram:
        """Return the program of a task, the last one with other numbers if that is possible."""
        program, conditions, horizon = self._program, task.conditions, task.horizon
        stated = program.statement.conditions
        same_conditions = len(conditions) == len(stated) and all(
            x is y for x, y in zip(conditions, stated, strict=True)
        )
        same_parameters = np.array_equal(p, program.statement.p)
        same = same_conditions and same_parameters and guess is program.guess
        if program.tie is not None and not same:
            return self._state(task, guess)  # the weight of the tie-breaker depends on all
        if not same_parameters:
            if not program.transcription.fits_any_parameters:
                return self._state(task, guess)
            program = replace(program, statement=replace(program.statement, p=p))
            if same_conditions:
                check_feasible(program.statement, horizon)
        if same_conditions:
            return program
        statement, d = program.statement.restate(conditions), task.dynamics
        if ends_at_rest(d, conditions) != ends_at_rest(d, stated):
            statement = None  # other equations at the end
        nlp = None if statement is None else restate_limits(program, statement, horizon.steps)
        if statement is None or nlp is None:
            return self._state(task, guess)
        check_feasible(statement, horizon)
        return replace(
            program,
            statement=statement,
            transcription=program.transcription.with_conditions(conditions),
            nlp=nlp,
            structured=program.structured.restate(nlp),
        )
