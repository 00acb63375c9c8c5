"""One step after another by solvers of programs, such as IPOPT, each accepted or tried again.

Where there is no chain, or it is stuck: `Stepper.step` goes through the attempts of `RetryPolicy`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Start
from nsopt.mpcc import STEP, Evaluator, Point, Program, Solution
from nsopt.schemes import ContactEvent, Scales
from nsopt.simulation.acceptance import EVENTS, Fault, StepEnd
from nsopt.simulation.bounds import ROUND_OFF, StepBounds, are_below, name_reasons
from nsopt.simulation.control import (
    EARNED,
    HALF,
    LEAST_CHANGE,
    MOST,
    OVERDUE,
    StepControl,
    StepFigures,
    explain_refusal,
)
from nsopt.simulation.program import StepProgram
from nsopt.simulation.record.accepted_steps import AcceptedSteps, How, objects
from nsopt.simulation.retry import Retry, RetryLevel, RetryPolicy
from nsopt.simulation.run import Run
from nsopt.simulation.step_error import FailedAttempt, StepError, has_gained_by_contacts
from nsopt.simulation.step_rules import WALLS


@dataclass(frozen=True)
class StepperState:
    """The memory of a stepper from step to step."""

    trial: float  # [s] the h to try next
    # The solution of the last step, part by part, to start the next one from; empty for a cold
    # start.
    points: tuple[Point, ...] = ()
    # Attempts that may be spent on ending steps where contacts change; see `control.EARNED`.
    credit: float = MOST


class Stepper:
    """The step program of a run, ready to be solved from any state.

    Parameters
    ----------
    program : StepProgram
    retry : RetryPolicy
    control : StepControl
        Chooses h where the scheme does not.
    run : Run
        Its bounds of h and parameters.
    scales : Scales

    Attributes
    ----------
    state : StepperState
    """

    def __init__(
        self,
        program: StepProgram,
        retry: RetryPolicy,
        control: StepControl,
        run: Run,
        scales: Scales,
    ):
        self._program, self._p, self._force = program, run.p, scales.force
        self._steps, self._control = run.steps, control
        self._retries = tuple(retry.attempts())
        self._solvers: dict[
            tuple[int, int], Program
        ] = {}  # by id(solver), which retries share; part
        self._slack = 1e-9 * scales.time  # [s] by which h may be off
        x = ca.SX.sym("figures", len(StepFigures._fields))
        order = program.scheme.error_order
        step = StepFigures(*ca.vertsplit(x)).at_full_size(run.steps.part, order)
        outputs = [ca.SX(control.keeps(step)), ca.SX(control.factor(step, order))]
        self._evaluate_control = Evaluator(ca.Function("control", [x], outputs))
        self.state = StepperState(run.steps.h_max)
        self._shorter = HALF  # part of h, to be tried next

    @property
    def trial(self) -> float:
        """The h to try next [s]."""
        return self.state.trial

    @trial.setter
    def trial(self, h: float) -> None:
        self.state = replace(self.state, trial=h)

    def step(
        self, start: Start, t_end: float, levels: Collection[RetryLevel] = tuple(RetryLevel)
    ) -> AcceptedSteps:
        """Return the next accepted step towards ``t_end`` [s].

        Parameters
        ----------
        start : Start
        t_end : float
        levels : collection of RetryLevel
            Of the attempts to make.

        Raises
        ------
        StepError
            If every attempt failed.
        """
        tried: list[FailedAttempt] = []
        iterations, seconds, unphysical = 0, 0.0, False
        for retry, bounds in self._plan_attempts(t_end - start.t):
            if (retry.warm and not self.state.points) or (unphysical and retry.keeps_bounds):
                continue
            if retry.level not in levels:
                continue
            solutions, end, fault = self._solve(retry, start, bounds)
            iterations += sum(s.iterations for s in solutions)
            seconds += sum(s.time for s in solutions)
            label = retry.label or "warm start"
            failed = [a for s in solutions for a in s.stages[:-1] if not a.ok]
            tried += [
                FailedAttempt(Fault(f"restarted after {a.solver_status}", of_solver=True), label)
                for a in failed
            ]
            if fault is None:
                points = tuple(s.point for s in solutions)
                credit = min(self.state.credit + EARNED * end.h[0] / self.trial, MOST)
                following = bounds.h_max * float(self._ask_control(end)[1][0])
                trial = min(max(following, self._steps.h_min), self._steps.h_max)
                self.state = StepperState(trial, points, credit)
                return self._make_step(start, end, tried, iterations, seconds, t_end, label)
            tried.append(FailedAttempt(fault, label, sized=retry.sized))
            unphysical = fault.unphysical
        self.state = replace(self.state, points=())
        scheme, d = self._program.scheme, self._program.dynamics
        remedy = scheme.gain_remedy(d, self._p) if has_gained_by_contacts(tried) else ""
        raise StepError(start.t, tuple(tried), remedy)

    def _plan_attempts(self, remaining: float) -> Iterator[tuple[Retry, StepBounds]]:
        """Yield retries and their bounds of h, with ``remaining`` [s] to the end of the run.

        Where h is given: at the h to try, at its halves, at h_min, and below h_min.
        """
        h_min, (_, cold, *_) = self._steps.h_min, self._retries  # the first is warm, the next cold
        if self._program.scheme.chooses_h:
            bounds = self._steps.until_end(remaining)
            yield from ((retry, retry.bounds(bounds, h_min)) for retry in self._retries)
            return
        h = StepBounds(min(h_min, self.trial), self.trial).until_end(remaining).h_max
        ordinary = [retry for retry in self._retries if retry.keeps_bounds]
        for retry in ordinary:
            yield retry, StepBounds(h, h)
        size = h
        while size * self._shorter > h_min:
            size *= self._shorter
            yield cold.at_given_h(f"h = {size:.3g} s", sized=True), StepBounds(size, size)
        if h > h_min:
            for retry in (x for x in ordinary if not x.warm):
                yield retry.at_given_h(f"{retry.label}, h_min"), StepBounds(h_min, h_min)
        for retry in self._retries:
            if not retry.keeps_bounds:
                low = retry.bounds(StepBounds(h, h), h_min).h_min
                yield retry, StepBounds(low, low)

    def _solve(
        self, retry: Retry, start: Start, bounds: StepBounds
    ) -> tuple[list[Solution], StepEnd, Fault | None]:
        """Return the solutions of the programs of a step, its end, and why it is refused."""
        program, self._shorter = self._program, HALF
        given = program.numbers(start, self._p, bounds)
        numbers, solutions = given | dict.fromkeys(program.empty, np.zeros(0)), []
        for k in range(len(program.parts)):
            known = {block.name: numbers[block.name] for block in program.parts[k].parameters}
            solution = self._solver(retry, k).solve(known, self._guess(retry, k, start, bounds))
            solutions.append(solution)
            # A value that is not finite is refused at the end; the next part needs numbers.
            x = solution.x[: program.sizes[k]]
            numbers[program.parts[k].name] = np.nan_to_num(x, posinf=0, neginf=0)
        unknowns = [s.x[:n] for s, n in zip(solutions, program.sizes, strict=True)]
        end, fault = program.judge(unknowns, given, self._force)
        h = float(end.h[0])
        shortest = 0.0 if program.scheme.ends_early else bounds.h_min
        if not shortest - self._slack <= h <= bounds.h_max + self._slack:
            status = solutions[0].status.solver_status
            fault = Fault("h outside its bounds", f"({h:.3g} s, {status})", of_solver=True)
        if not program.scheme.chooses_h:
            # The program judges positions and momentum only, the solver rates and friction too.
            bad = [s for s in solutions if not s.ok]
            if bad and not fault:
                worst = bad[0].worst()
                fault = Fault(f"{worst.name}:", worst.sizes)
        return solutions, end, fault or self._check_control(end)

    def _check_control(self, end: StepEnd) -> Fault | None:
        """Return the fault of a step that the control refuses, if h can be smaller."""
        keeps, factor = (float(x[0]) for x in self._ask_control(end))
        if keeps or self._program.scheme.chooses_h or end.h[0] <= self._steps.h_min + self._slack:
            return None
        self._shorter = min(factor, LEAST_CHANGE)
        if end.overdue[0] > OVERDUE * end.h[0]:
            self.state = replace(self.state, credit=max(self.state.credit - 1, 0))
        figures = (getattr(end, name) for name in ("local_error", *WALLS))
        return explain_refusal(*(float(x[0]) for x in figures))

    def _ask_control(self, end: StepEnd) -> list[Array]:
        """Return whether the control keeps a step, and its factor on h."""
        # The last three figures are of the run, the others of the step.
        smallest = end.h <= self._steps.h_min + self._slack
        figures = (getattr(end, name) for name in StepFigures._fields[:-3])
        memory = max(end.h[0], self.trial), self.state.credit
        return self._evaluate_control(np.concatenate([*figures, memory, smallest]))

    def _solver(self, retry: Retry, part: int) -> Program:
        """Return what solves a part of the step in an attempt, compiled at its first use."""
        key = (id(retry.solver), part)
        if key not in self._solvers:
            self._solvers[key] = retry.solver.build(self._program.parts[part], STEP)
        return self._solvers[key]

    def _guess(
        self, retry: Retry, part: int, start: Start, bounds: StepBounds
    ) -> Point | Mapping[str, Array] | None:
        """Return where an attempt at a part of the step begins; None for its own guess."""
        if retry.warm:
            return self.state.points[part]
        if self._program.parts[part].name != "step":
            return None
        mean_h = (bounds.h_min * bounds.h_max) ** 0.5
        return self._program.scheme.guess(self._program.dynamics, start.q, start.v, mean_h)

    def _make_step(
        self,
        start: Start,
        end: StepEnd,
        tried: Sequence[FailedAttempt],
        iterations: int,
        seconds: float,
        t_end: float,
        label: str,
    ) -> AcceptedSteps:
        """Return a step as accepted; ``label`` is of the attempt that led to it."""
        h = float(end.h[0])
        t = start.t + h
        if t_end - t < ROUND_OFF * h:  # which must not leave a step of its own
            t = t_end
        finds_h = self._program.scheme.chooses_h
        otherwise = "found by the scheme" if finds_h else self._control.description
        remaining, event = t_end - start.t, ContactEvent(int(end.event[0]))
        reason = EVENTS.get(event, name_reasons([h], [remaining], self._steps, otherwise)[0])
        below = event == ContactEvent.NONE and bool(are_below(h, remaining, self._steps))
        if tried:
            reason = f"{reason}; {label}"
        return AcceptedSteps.of_ends(
            {name: x[None] for name, x in end._asdict().items()},
            self._force,
            t=np.array([t]),
            motion_residual=np.array([np.max(np.abs(end.motion))]),
            iterations=np.array([float(iterations)]),
            solve_time=np.array([seconds]),
            reason=objects([reason]),
            tried=objects([tuple(map(str, tried))]),
            at_end=np.array([self._program.scheme.forces_at_end]),
            how=np.array([How.BELOW_H_MIN if below else How.AS_ASKED]),
        )
