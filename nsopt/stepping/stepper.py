"""One step after another: the compiled step program, its retries, its acceptance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Evaluator, Mpcc, Program, Solution
from nsopt.stepping.acceptance import Acceptance, Fault, StepEnd
from nsopt.stepping.bounds import StepBounds
from nsopt.stepping.initial import Start
from nsopt.stepping.retry import RetryLadder, Rung
from nsopt.stepping.scheme import Scales, Scheme, StepStart
from nsopt.stepping.taken import Taken

Array = NDArray[np.float64]

AT_BOUND = 1e-4
"""Part of h by which an interior-point solver may stay off a bound that it is at."""


class StepError(RuntimeError):
    """A step that no attempt solved; the message names what failed, where, when, what was tried."""


class Stepper:
    """The step program of a run, ready to be solved from any state.

    Parameters
    ----------
    dynamics : Dynamics
    scheme : Scheme
    retry : RetryLadder
    acceptance : Acceptance
    steps : StepBounds
        Of the run.
    scales : Scales
    p : (np,)
        Parameters of the mechanism.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        scheme: Scheme,
        retry: RetryLadder,
        acceptance: Acceptance,
        steps: StepBounds,
        scales: Scales,
        p: Array,
    ):
        self.dynamics, self.scheme, self.acceptance, self.p = dynamics, scheme, acceptance, p
        self.steps, self._scales = steps, scales
        self.rungs = tuple(retry.rungs())
        self.mpcc = Mpcc("step")
        self._end_of = self._state_step()
        self._programs: dict[int, Program] = {}  # by identity: rungs share a few solvers
        self._previous: Solution | None = None

    def _state_step(self) -> Evaluator:
        """State the step on the program; return its end as a function of (x, parameters)."""
        m, d = self.mpcc, self.dynamics
        start = StepStart(
            m.parameter("t", 1),
            m.parameter("q", d.nq),
            m.parameter("v", d.nv),
            m.parameter("p", len(d.parameters)),
        )
        low, high = m.parameter("h_min", 1), m.parameter("h_max", 1)
        h = m.variable("h", 1, lower=low, upper=high, scale=self._scales.time, guess=high)
        step = self.scheme.add_step(m, d, start, h, self._scales)
        x = ca.vertcat(*(variable.scaled for variable in m.variables))
        parameters = ca.vertcat(*(block.symbol for block in m.parameters))
        end = ca.Function("end", [x, parameters], list(StepEnd.stated(d, start, h, step)))
        return Evaluator(end)

    def step(self, start: Start, t_end: float) -> Taken:
        """Return the next accepted step towards ``t_end`` [s].

        Raises
        ------
        StepError
            If every attempt failed.
        """
        now = self.steps.until_end(t_end - start.t)
        tried: list[str] = []
        iterations, seconds, unphysical = 0, 0.0, False
        for rung in self.rungs:
            if (rung.warm and self._previous is None) or (unphysical and rung.below is None):
                continue
            bounds = rung.bounds(now, self.steps.h_min)
            solution, end = self._solve(rung, start, bounds)
            iterations, seconds = iterations + solution.iterations, seconds + solution.time
            fault = self._fault(solution, end, bounds)
            label = rung.label or "warm start"
            failed = [a for a in solution.attempts[:-1] if not a.ok]
            tried += [f"{label}: restarted after {a.solver_word}" for a in failed]
            if fault is None:
                self._previous = solution
                reason = self._reason(float(end.h[0]), t_end - start.t)
                if tried:
                    reason = f"{reason}; {label}"
                return self._taken(start, end, tuple(tried), iterations, seconds, reason)
            tried.append(f"{label}: {fault.text}")
            unphysical = fault.unphysical
        self._previous = None
        raise StepError(_report(start.t, tried))

    def _solve(self, rung: Rung, start: Start, bounds: StepBounds) -> tuple[Solution, StepEnd]:
        key = id(rung.solver)
        if key not in self._programs:
            self._programs[key] = rung.solver.build(self.mpcc)
        numbers = {
            "t": np.array([start.t]),
            "q": start.q,
            "v": start.v,
            "p": self.p,
            "h_min": np.array([bounds.h_min]),
            "h_max": np.array([bounds.h_max]),
        }
        solution = self._programs[key].solve(numbers, self._guess(rung, start, bounds))
        return solution, StepEnd(*self._end_of(solution.x, np.concatenate(list(numbers.values()))))

    def _guess(
        self, rung: Rung, start: Start, bounds: StepBounds
    ) -> Solution | Mapping[str, Array] | None:
        if rung.warm:
            return self._previous
        middle = (bounds.h_min * bounds.h_max) ** 0.5
        return self.scheme.guess(self.dynamics, start.q, start.v, middle)

    def _fault(self, solution: Solution, end: StepEnd, bounds: StepBounds) -> Fault | None:
        h, slack = float(end.h[0]), 1e-9 * bounds.h_max
        if not bounds.h_min - slack <= h <= bounds.h_max + slack:
            return Fault(f"h = {h:.3g} s outside its bounds ({solution.status.solver_word})")
        return self.acceptance.fault(end, self.dynamics, self._scales.force)

    def _reason(self, h: float, remaining: float) -> str:
        """Return what decided h."""
        if h > remaining * (1 - AT_BOUND):
            return "end"
        if h < self.steps.h_min * (1 - AT_BOUND):
            return "below h_min"
        if h > self.steps.until_end(remaining).h_max * (1 - AT_BOUND):
            return "h_max"
        return "h_min" if h < self.steps.h_min * (1 + AT_BOUND) else "objective"

    def _taken(
        self,
        start: Start,
        end: StepEnd,
        tried: tuple[str, ...],
        iterations: int,
        seconds: float,
        reason: str,
    ) -> Taken:
        h = float(end.h[0])
        # An open contact is left with a round-off of impulse.
        impulse = np.where(end.impulse > 1e-14 * self._scales.impulse, end.impulse, 0.0)
        motion = float(np.max(np.abs(end.motion)))
        return Taken(
            start.t + h,
            h,
            end.q,
            end.v,
            impulse,
            end.joint_impulse,
            end.gap,
            motion,
            iterations,
            tried,
            seconds,
            reason,
        )


def _report(t: float, tried: list[str]) -> str:
    faults = Counter(line.split(": ", 1)[1].split(" off by")[0] for line in tried)
    return (
        f"no step from t = {t:.9g} s: {faults.most_common(1)[0][0]}; tried {'; '.join(tried)}. "
        "Try smaller step bounds or another solver"
    )
