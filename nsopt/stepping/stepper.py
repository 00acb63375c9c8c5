"""One step after another by the solvers: their retries, their acceptance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import Evaluator, Point, Program, Solution
from nsopt.stepping.acceptance import EVENTS, Fault, StepEnd
from nsopt.stepping.bounds import StepBounds, reasons
from nsopt.stepping.control import HALF, StepControl
from nsopt.stepping.initial import Start
from nsopt.stepping.program import StepProgram
from nsopt.stepping.retry import RetryLadder, Rung
from nsopt.stepping.scheme import Scales
from nsopt.stepping.taken import Taken, objects, pressing

Array = NDArray[np.float64]
Memory = tuple[Point, ...]


class StepError(RuntimeError):
    """A step that no attempt solved; the message names what failed, where, when, what was tried.

    Attributes
    ----------
    tried : tuple of str
    """

    def __init__(self, t: float, tried: list[str]) -> None:
        super().__init__(_report(t, tried))
        self.tried = tuple(tried)


class Stepper:
    """The step program of a run, ready to be solved from any state.

    Parameters
    ----------
    program : StepProgram
    retry : RetryLadder
    control : StepControl
        Chooses h where the scheme does not.
    steps : StepBounds
        Of the run.
    scales : Scales
    p : (np,)
        Parameters of the mechanism.

    Attributes
    ----------
    trial : float [s]
        The h to try next.
    memory : tuple of Point
        Where the last step was solved, to start the next one from; empty for a cold start.
    """

    def __init__(
        self,
        program: StepProgram,
        retry: RetryLadder,
        control: StepControl,
        steps: StepBounds,
        scales: Scales,
        p: Array,
    ):
        self._program, self._p, self._force = program, p, scales.force
        self._steps, self._control = steps, control
        self._rungs = tuple(retry.rungs())
        self._solvers: dict[tuple[int, int], Program] = {}  # by identity: rungs share a few
        self._slack = 1e-9 * scales.time
        error = ca.SX.sym("error")
        outputs = [ca.SX(control.keeps(error)), control.factor(error, program.scheme.order)]
        self._rule = Evaluator(ca.Function("control", [error], outputs))
        self.trial = steps.h_max
        self.memory: Memory = ()

    def step(self, start: Start, t_end: float, shrink: bool = True) -> Taken:
        """Return the next accepted step towards ``t_end`` [s].

        Parameters
        ----------
        start : Start
        t_end : float
        shrink : bool
            Whether h may go below h_min at the end.

        Raises
        ------
        StepError
            If every attempt failed.
        """
        tried: list[str] = []
        iterations, seconds, unphysical = 0, 0.0, False
        for rung, bounds in self._attempts(t_end - start.t):
            if (rung.warm and not self.memory) or (unphysical and rung.here):
                continue
            if not shrink and not rung.here and bounds.h_max < self._steps.h_min:
                break
            solutions, end, fault = self._solve(rung, start, bounds)
            iterations += sum(s.iterations for s in solutions)
            seconds += sum(s.time for s in solutions)
            label = rung.label or "warm start"
            failed = [a for s in solutions for a in s.attempts[:-1] if not a.ok]
            tried += [f"{label}: restarted after {a.solver_word}" for a in failed]
            if fault is None:
                self.memory = tuple(s.point for s in solutions)
                self._choose(end, bounds)
                return self._taken(start, end, tuple(tried), iterations, seconds, t_end, label)
            tried.append(f"{label}: {fault.text}")
            unphysical = fault.unphysical
        self.memory = ()
        raise StepError(start.t, tried)

    def _attempts(self, remaining: float) -> Iterator[tuple[Rung, StepBounds]]:
        """Return what is tried in which bounds of h; bounds are equal where h is given."""
        run = self._steps
        if self._program.scheme.chooses_h:
            now = run.until_end(remaining)
            for rung in self._rungs:
                yield rung, rung.bounds(now, run.h_min)
            return
        h = StepBounds(min(run.h_min, self.trial), self.trial).until_end(remaining).h_max
        yield from ((rung, StepBounds(h, h)) for rung in self._rungs if rung.here)
        size = h
        while size * HALF > run.h_min:
            size *= HALF
            yield self._rungs[1].smaller(f"h = {size:.3g} s"), StepBounds(size, size)
        if size > run.h_min:
            for rung in self._rungs:
                if rung.here:
                    yield rung.smaller(f"{rung.label}, h_min"), StepBounds(run.h_min, run.h_min)
        for rung in self._rungs:
            if not rung.here:
                low = rung.bounds(StepBounds(h, h), run.h_min).h_min
                yield rung, StepBounds(low, low)

    def _solve(
        self, rung: Rung, start: Start, bounds: StepBounds
    ) -> tuple[list[Solution], StepEnd, Fault | None]:
        program = self._program
        first = program.numbers(start, self._p, bounds)
        empty = dict.fromkeys(("modes", "step"), np.zeros(0))
        numbers, solutions = first | empty, []
        for k in range(len(program.parts)):
            known = {block.name: numbers[block.name] for block in program.parts[k].parameters}
            solution = self._solver(rung, k).solve(known, self._guess(rung, k, start, bounds))
            solutions.append(solution)
            # What is not finite is refused at the end; the next part needs numbers all the same.
            found = solution.x[: program.sizes[k]]
            numbers[program.parts[k].name] = np.nan_to_num(found, posinf=0, neginf=0)
        unknowns = [s.x[:n] for s, n in zip(solutions, program.sizes, strict=True)]
        end, fault = program.judged(unknowns, first, self._force)
        h = float(end.h[0])
        lowest = 0.0 if program.scheme.ends_early else bounds.h_min
        if not lowest - self._slack <= h <= bounds.h_max + self._slack:
            word = solutions[0].status.solver_word
            fault = Fault(f"h = {h:.3g} s outside its bounds ({word})")
        if not program.scheme.chooses_h:
            # What is judged here are positions and momentum, not rates and friction.
            bad = [s for s in solutions if not s.ok]
            fault = fault or (Fault(f"{bad[0].worst()}") if bad else None)
        return solutions, end, fault or self._inexact(end)

    def _inexact(self, end: StepEnd) -> Fault | None:
        """Return the fault of a step whose local error is too large, if h can be smaller."""
        keeps = bool(self._rule(end.local_error)[0][0])
        if keeps or self._program.scheme.chooses_h or end.h[0] <= self._steps.h_min + self._slack:
            return None
        return Fault(f"local error off by {end.local_error[0]:.2g} m", unphysical=True)

    def _solver(self, rung: Rung, part: int) -> Program:
        key = (id(rung.solver), part)
        if key not in self._solvers:
            self._solvers[key] = rung.solver.build(self._program.parts[part])
        return self._solvers[key]

    def _guess(
        self, rung: Rung, part: int, start: Start, bounds: StepBounds
    ) -> Point | Mapping[str, Array] | None:
        if rung.warm:
            return self.memory[part]
        if self._program.parts[part].name != "step":
            return None
        middle = (bounds.h_min * bounds.h_max) ** 0.5
        return self._program.scheme.guess(self._program.dynamics, start.q, start.v, middle)

    def _choose(self, end: StepEnd, bounds: StepBounds) -> None:
        """Set the h to try next."""
        factor = float(self._rule(end.local_error)[1][0])
        self.trial = min(max(bounds.h_max * factor, self._steps.h_min), self._steps.h_max)

    def _taken(
        self,
        start: Start,
        end: StepEnd,
        tried: tuple[str, ...],
        iterations: int,
        seconds: float,
        t_end: float,
        label: str,
    ) -> Taken:
        h = float(end.h[0])
        t = start.t + h
        if t_end - t < 1e-6 * h:
            # Round-off in the sum of steps must not leave a step of its own.
            t = t_end
        why = reasons([h], [t_end - start.t], self._steps, self._control.word)[0]
        why = EVENTS.get(int(end.event[0]), why)
        if tried:
            why = f"{why}; {label}"
        return Taken(
            np.array([t]),
            np.array([h]),
            end.q[None],
            end.v[None],
            pressing(end.impulse, h * self._force)[None],
            end.joint_impulse[None],
            end.slip_impulse[None],
            np.array([np.max(np.abs(end.motion))]),
            end.loss[None],
            end.work,
            np.array([float(iterations)]),
            np.array([seconds]),
            np.array([float(len(tried))]),
            objects([why]),
            objects([tried]),
            np.array([self._program.scheme.forces_at_end]),
        )


def _report(t: float, tried: list[str]) -> str:
    faults = Counter(line.split(": ", 1)[1].split(" off by")[0] for line in tried)
    return (
        f"no step from t = {t:.9g} s: {faults.most_common(1)[0][0]}; tried {'; '.join(tried)}. "
        "Try smaller step bounds or another solver"
    )
