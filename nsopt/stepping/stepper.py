"""One step after another: the compiled step program, its retries, its acceptance."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc, Program, Solution
from nsopt.stepping.bounds import StepBounds
from nsopt.stepping.history import Taken
from nsopt.stepping.initial import Start
from nsopt.stepping.retry import Attempt, RetryLadder
from nsopt.stepping.scheme import Scales, Scheme, Step, StepStart

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Acceptance:
    """What a step must meet, recomputed from its numbers; a solver's word counts for nothing.

    Parameters
    ----------
    motion : float [N, N m]
        Equations of motion.
    gap : float [m]
        How far a gap may be violated.
    closure : float [m, rad]
        Ideal joints.
    complementarity : float [N m]
        Force times gap.
    """

    motion: float = 1e-9
    gap: float = 1e-10
    closure: float = 1e-10
    complementarity: float = 1e-9


class StepError(RuntimeError):
    """A step that no attempt solved; the message names what failed, where, when, what was tried."""


class Stepper:
    """The step program of a mechanism, ready to be solved from any state.

    Parameters
    ----------
    dynamics : Dynamics
    scheme : Scheme
    retry : RetryLadder
    acceptance : Acceptance
    h_max : float [s]
        Typical step, for scaling.
    p : (np,)
        Parameters of the mechanism.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        scheme: Scheme,
        retry: RetryLadder,
        acceptance: Acceptance,
        h_max: float,
        p: Array,
    ):
        self.dynamics, self.scheme, self.p = dynamics, scheme, p
        self.acceptance = acceptance
        self.attempts = tuple(retry.attempts())
        self.mpcc = Mpcc("step")
        self._state_end = self._state_step(Scales.of(dynamics, h_max, p))
        self._programs: dict[int, Program] = {}  # by identity: attempts share a few solvers
        self.previous: Solution | None = None

    def _state_step(self, scales: Scales) -> ca.Function:
        """State the step on the program; return its end as a function of (x, parameters)."""
        m, d = self.mpcc, self.dynamics
        start = StepStart(m.parameter("t", 1), m.parameter("q", d.nq), m.parameter("v", d.nv),
                          m.parameter("p", len(d.parameters)))
        low, high = m.parameter("h_min", 1), m.parameter("h_max", 1)
        h = m.variable("h", 1, lower=low, upper=high, scale=scales.time, guess=high)
        step = self.scheme.add_step(m, d, start, h, scales)
        x = ca.vertcat(*(variable.scaled for variable in m.variables))
        parameters = ca.vertcat(*(block.symbol for block in m.parameters))
        return ca.Function("end", [x, parameters], self._outputs(start, h, step))

    def _outputs(self, start: StepStart, h: ca.SX, step: Step) -> list[ca.SX]:
        at_end = (start.t + h, step.q, start.p)
        closure, distance = self.dynamics.closure(*at_end), self.dynamics.distance(*at_end)
        outputs = [h, step.q, step.v, step.impulse, step.joint_impulse, step.gap,
                   step.motion_residual, closure, distance]
        return [ca.densify(output) for output in outputs]

    def step(self, start: Start, bounds: StepBounds) -> Taken:
        """Return the next accepted step.

        Raises
        ------
        StepError
            If every attempt failed.
        """
        tried: list[str] = []
        iterations, seconds = 0, 0.0
        for attempt in self.attempts:
            if attempt.warm and self.previous is None:
                continue
            solution, given = self._solve(attempt, start, bounds)
            iterations, seconds = iterations + solution.iterations, seconds + solution.time
            end = [np.asarray(x).ravel() for x in self._state_end(solution.x, given)]
            fault = self._fault(solution, end)
            if not fault:
                self.previous = solution
                return self._taken(start, bounds, attempt, end, len(tried), iterations, seconds)
            tried.append(f"{attempt.label or 'warm start'}: {fault}")
        self.previous = None
        raise StepError(self._report(start, tried))

    def _solve(
        self, attempt: Attempt, start: Start, bounds: StepBounds
    ) -> tuple[Solution, Array]:
        key = id(attempt.solver)
        if key not in self._programs:
            self._programs[key] = attempt.solver.build(self.mpcc)
        low = bounds.h_min * attempt.shrink
        high = bounds.h_max if attempt.shrink == 1 else bounds.h_min
        numbers: dict[str, Any] = {"t": [start.t], "q": start.q, "v": start.v, "p": self.p,
                                   "h_min": [low], "h_max": [high]}
        guess = self.previous if attempt.warm else self.scheme.guess(
            self.dynamics, start.q, start.v, (low * high) ** 0.5)
        solution = self._programs[key].solve(numbers, guess)
        return solution, np.concatenate([np.ravel(x) for x in numbers.values()])

    def _fault(self, solution: Solution, end: list[Array]) -> str:
        """Return what keeps a step from being accepted, empty if nothing does."""
        h, q, v, lam, mu, gap, motion, closure, distance = end
        limits = self.acceptance
        if not all(np.all(np.isfinite(x)) for x in end):
            return f"not finite ({solution.status.solver_word})"
        d = self.dynamics
        checks = (
            ("equation of motion", motion, d.v_names, limits.motion, "N"),
            ("ideal joint", closure, d.closure_names, limits.closure, "m"),
            ("gap", np.minimum(distance, 0), d.contact_names, limits.gap, "m"),
            ("complementarity", lam / h * gap, d.contact_names, limits.complementarity, "N m"),
            ("adhesion", np.minimum(lam / h, 0), d.contact_names, limits.motion, "N"),
        )
        for what, residual, names, limit, unit in checks:
            if residual.size and np.max(np.abs(residual)) > limit:
                k = int(np.argmax(np.abs(residual)))
                return f"{what} {names[k]!r} off by {abs(residual[k]):.2g} {unit}"
        bounds_error = solution.residuals.bounds.get("h", 0.0)
        return f"h outside its bounds by {bounds_error:.2g} s" if bounds_error > 1e-9 * h[0] else ""

    def _taken(
        self,
        start: Start,
        bounds: StepBounds,
        attempt: Attempt,
        end: list[Array],
        retries: int,
        iterations: int,
        seconds: float,
    ) -> Taken:
        h, q, v, lam, mu, gap, motion, _, _ = end
        reason = "; ".join(filter(None, [_which(float(h[0]), bounds), attempt.label]))
        # Round-off below zero is no adhesion.
        return Taken(start.t + float(h[0]), float(h[0]), q, v, np.maximum(lam, 0), mu, gap,
                     float(np.max(np.abs(motion))), iterations, retries, seconds, reason)

    def _report(self, start: Start, tried: list[str]) -> str:
        worst = Counter(line.split(": ", 1)[1].split(" off by")[0] for line in tried)
        return (
            f"no step from t = {start.t:.9g} s: {worst.most_common(1)[0][0]} could not be met; "
            f"tried {'; '.join(tried)}. Try a smaller h_min, a larger h_max or another solver"
        )


def _which(h: float, bounds: StepBounds) -> str:
    if h < bounds.h_min * (1 - 1e-6):
        return "below h_min"
    if h > bounds.h_max * (1 - 1e-6):
        return "h_max"
    return "h_min" if h < bounds.h_min * (1 + 1e-6) else "objective"
