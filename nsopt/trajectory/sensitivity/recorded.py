"""Steps simulated with all their unknowns kept, to be differentiated afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import repeated
from nsopt.mechanics import Dynamics, Start
from nsopt.mpcc import Evaluator, NativeFunction, Newton, compile_native
from nsopt.schemes import Scales, Scheme
from nsopt.simulation import (
    Acceptance,
    ChainParameters,
    ChainStatus,
    LargestStep,
    StepAttempt,
    StepBounds,
    StepProgram,
    until_end,
)

Array = NDArray[np.float64]

CHUNK = 100
"""Attempts in one call."""


class SensitivityError(RuntimeError):
    """A motion without derivatives; the message says where, when, why and what to do.

    Attributes
    ----------
    t : float [s]
    """

    def __init__(self, t: float, text: str) -> None:
        super().__init__(f"at t = {t:.9g} s {text}")
        self.t = t


@dataclass(frozen=True, eq=False)
class Steps:
    """Solved steps one after another.

    Attributes
    ----------
    t, q, v : (n + 1,), (n + 1, nq), (n + 1, nv)
        Start of the first step, then the ends of all.
    given : (n,) [s]
        The h that each step was given; those of `ContactAligned` may end before.
    slope : (n,)
        By what ``given`` changes with the time at which the step starts: the last steps before a
        stated time share what is left.
    x : (n, nx)
        Scaled unknowns of all parts of each step.
    scales : (ns,)
        `Scales.numbers` of the run.
    stops : (k,) of int
        Which of the states are those at the times that were asked for.
    touched : (n,) of bool
        Whether a contact took an impulse.
    seconds : float
        Of the simulation.
    """

    t: Array
    q: Array
    v: Array
    given: Array
    slope: Array
    x: Array
    scales: Array
    stops: NDArray[np.intp]
    touched: NDArray[np.bool_]
    seconds: float

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.given)


class Recorder:
    """The compiled chain of `simulate`, which also tells the unknowns of its steps.

    Parameters
    ----------
    dynamics : Dynamics
    scheme : Scheme
        One whose h is given.
    acceptance : Acceptance
    newton : Newton

    Attributes
    ----------
    program : StepProgram
    """

    def __init__(
        self, dynamics: Dynamics, scheme: Scheme, acceptance: Acceptance, newton: Newton
    ) -> None:
        self.program = StepProgram(dynamics, scheme, acceptance)
        self._attempt = StepAttempt(self.program, LargestStep(contacts=None), newton)
        t, trial, run = ca.SX.sym("t"), ca.SX.sym("trial"), ca.SX.sym("run", 3)
        h = until_end(run[2] - t, trial, ca.fmin(run[0], trial))
        self._size = ca.Function("size", [t, trial, run], [h, ca.jacobian(h, t)])

    @cached_property
    def native(self) -> NativeFunction:
        """The chain as compiled code."""
        made = self._attempt.function
        z, p = (ca.MX.sym(name, made.numel_in(i)) for i, name in enumerate("zp"))
        after, record = made(z, p)
        kept = ca.Function("recorded", [z, p], [after, ca.vertcat(record, after)])
        return compile_native(repeated(kept, CHUNK))

    @cached_property
    def _call(self) -> Evaluator:
        return Evaluator(self.native.function)

    def run(self, start: Start, p: Array, steps: StepBounds, times: Sequence[float]) -> Steps:
        """Return the steps from ``start`` through ``times``; one ends exactly at each of them.

        Raises
        ------
        SensitivityError
            If Newton solves no step somewhere, at any h down to h_min.
        """
        begin = perf_counter()
        scales = Scales.of(
            self.program.dynamics, start, p, steps.h_max, times[-1] - start.t
        ).numbers
        layout = self._attempt.layout
        z = layout.begin(start, steps.h_max)
        rows: list[Array] = []
        states, ends = [z[None]], [np.zeros(0)]
        stops, count = [], 0
        for stop in times:
            z = layout.restarted(z)
            bounds = (steps.h_min, steps.h_max, stop)
            while layout.state(z).status == ChainStatus.RUNNING:
                z, attempts = self._call(z, ChainParameters(p, bounds, scales).vector)
                attempts = attempts.reshape(-1, self._attempt.record + len(z))
                accepted = attempts[attempts[:, 0] > 0]
                rows.append(accepted[:, : self._attempt.record])
                states.append(accepted[:, self._attempt.record :])
                ends.append(np.full(len(accepted), stop))
                count += int(np.sum(self._good(rows[-1])))
            if layout.state(z).status == ChainStatus.STUCK:
                refusal = self._attempt.refusal(rows[-1][-1])
                raise SensitivityError(
                    z[0],
                    f"no step was solved by Newton ({refusal}): take a smaller h_min, or other "
                    "values of the parameters, with which a linkage gets further",
                )
            stops.append(count)
        return self._steps(
            np.vstack(states), np.vstack(rows), np.concatenate(ends), steps, scales, stops, begin
        )

    def _good(self, rows: Array) -> NDArray[np.bool_]:
        good: NDArray[np.bool_] = self._attempt.fields(rows)["good"][:, 0] > 0
        return good

    def _steps(
        self,
        states: Array,
        rows: Array,
        ends: Array,
        steps: StepBounds,
        scales: Array,
        stops: list[int],
        begin: float,
    ) -> Steps:
        good, layout = self._good(rows), self._attempt.layout
        after, before = states[1:][good], layout.state(states[:-1][good])
        reached = layout.state(np.vstack([states[:1], after]))
        run = np.column_stack([np.full((len(after), 2), [steps.h_min, steps.h_max]), ends[good]])
        h, slope = self._size.map(len(after))(before.t.T, before.h.T, run.T)
        fields = self._attempt.fields(rows[good])
        return Steps(
            reached.t[:, 0],
            reached.q,
            reached.v,
            np.asarray(h).ravel(),
            np.asarray(ca.densify(slope)).ravel(),
            reached.x[1:],
            scales,
            np.array(stops, dtype=np.intp),
            np.any(fields["impulse"] > 0, axis=1),
            perf_counter() - begin,
        )
