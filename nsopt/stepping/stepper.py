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

ROUND_OFF = 1e-9
"""Of an impulse or energy, the part that is not told from zero."""


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
    energy : float
        Energy gained, less the work from outside, over the embedded estimate of its local error.

    Notes
    -----
    A contact that presses must still push off its wall at the end of the step: where the contact
    travels further than the clearance in one step, the direction frozen at its start can point
    into the opposite wall, and the equations have solutions that are no motion of the mechanism.
    """

    motion: float = 1e-9
    gap: float = 1e-10
    closure: float = 1e-10
    complementarity: float = 1e-9
    energy: float = 10.0


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
        d = self.dynamics
        at_start, at_end = (start.t, start.q, start.p), (start.t + h, step.q, start.p)
        turn = ca.sum1(d.contact_normals(*at_start) * d.contact_normals(*at_end)).T
        outputs = [h, step.q, step.v, step.impulse, step.joint_impulse, step.gap,
                   step.motion_residual, d.closure(*at_end), d.distance(*at_end),
                   turn, self._energy_gain(start, h, step), step.energy_error]
        return [ca.densify(output) for output in outputs]

    def _energy_gain(self, start: StepStart, h: ca.SX, step: Step) -> ca.SX:
        """Return the energy gained over the step less the work of applied loads [J]."""
        d = self.dynamics
        before = (start.t, start.q, start.v, start.p)
        after = (start.t + h, step.q, step.v, start.p)
        work = h * ca.dot(d.external(*before), (start.v + step.v) / 2)
        return d.kinetic(*after) + d.potential(*after) - d.kinetic(*before) - d.potential(*before) - work

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
        h = attempt.bounds(bounds)
        numbers: dict[str, Any] = {"t": [start.t], "q": start.q, "v": start.v, "p": self.p,
                                   "h_min": [h.h_min], "h_max": [h.h_max]}
        guess = self.previous if attempt.warm else self.scheme.guess(
            self.dynamics, start.q, start.v, (h.h_min * h.h_max) ** 0.5)
        solution = self._programs[key].solve(numbers, guess)
        return solution, np.concatenate([np.ravel(x) for x in numbers.values()])

    def _fault(self, solution: Solution, end: list[Array]) -> str:
        """Return what keeps a step from being accepted, empty if nothing does."""
        h, q, v, lam, _, gap, motion, closure, distance, turn, gain, error = end
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
        pulled = np.flatnonzero((lam > ROUND_OFF * np.max(lam, initial=0)) & (turn <= 0))
        if pulled.size:
            return f"contact {d.contact_names[pulled[0]]!r} turned by more than 90 deg in one step"
        if gain[0] > limits.energy * error[0] + ROUND_OFF * self._energy_scale(end):
            return f"energy gained, off by {gain[0]:.2g} J, {gain[0] / error[0]:.2g} times its estimate"
        bounds_error = solution.residuals.bounds.get("h", 0.0)
        return f"h outside its bounds by {bounds_error:.2g} s" if bounds_error > 1e-9 * h[0] else ""

    def _energy_scale(self, end: list[Array]) -> float:
        """Return the size of the energies whose difference is judged [J]."""
        state = (0.0, end[1], end[2], self.p)
        return abs(float(self.dynamics.kinetic(*state))) + abs(float(self.dynamics.potential(*state)))

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
        h, q, v, lam, mu, gap, motion = end[:7]
        retry = attempt.label if retries else ""
        reason = "; ".join(filter(None, [_which(float(h[0]), bounds), retry]))
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
