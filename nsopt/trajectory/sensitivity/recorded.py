"""Steps simulated with all their unknowns on record, for `ChainRule`, which differentiates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.mpcc import Newton
from nsopt.schemes import Scales, Scheme
from nsopt.simulation import (
    Acceptance,
    ChainParameters,
    ChainStatus,
    LargestStep,
    StepBounds,
    StepKernel,
    StepProgram,
)

CHUNK = 100  # attempts at steps in one call of the compiled chain


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
    """n solved steps one after another.

    The last steps before a stated time share what is left, so that their h depends on the time at
    which they start: ``slope`` is its derivative.
    """

    t: Array  # (n + 1,) [s] the start of the first step, then the ends of all, as are the next
    q: Array  # (n + 1, nq)
    v: Array  # (n + 1, nv)
    given: Array  # (n,) [s] the h of each step; those of `ContactAligned` may end before
    slope: Array  # (n,) of ``given`` by the time at the start of the step
    x: Array  # (n, nx) scaled unknowns of all parts of each step
    scales: Array  # (4 + ng,) `Scales.numbers` of the run
    stops: NDArray[np.intp]  # (k,) which of the states are those at the times that were asked for
    closed: NDArray[np.bool_]  # (n,) whether a contact closed: pressed, but not in the step before
    seconds: float  # of the simulation

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.given)


class Recorder:
    """The chain of steps of `simulate`, of given h, with the unknowns of each step on record."""

    def __init__(
        self, dynamics: Dynamics, scheme: Scheme, acceptance: Acceptance, newton: Newton
    ) -> None:
        self.program = StepProgram(dynamics, scheme, acceptance)
        control = LargestStep(contacts=None)
        self._kernel = StepKernel(self.program, control, newton, states=True)
        # The step that is given at t, where `trial` is wanted, within `ChainParameters.bounds`:
        # h_min, h_max, the stop ahead, and 1, as these steps repeat none in shorter ones.
        t, trial, bounds = ca.SX.sym("t"), ca.SX.sym("trial"), ca.SX.sym("bounds", 4)
        h = self._kernel.size(t, trial, bounds)
        self._size = ca.Function("size", [t, trial, bounds], [h, ca.jacobian(h, t)])

    def run(self, start: Start, p: Array, steps: StepBounds, times: Sequence[float]) -> Steps:
        """Return the steps from ``start`` through ``times``; one ends exactly at each of them."""
        begin = perf_counter()
        scales = Scales.of(
            self.program.dynamics, start, p, steps.h_max, times[-1] - start.t
        ).numbers
        layout = self._kernel.layout
        z = layout.begin(start, steps.h_max)
        first, rows, ends = z, [np.zeros((0, self._kernel.record))], [np.zeros(0)]
        stops, count = [], 0
        for stop in times:
            z = layout.restart(z)  # another status, all else of the state stays
            limits = (steps.h_min, steps.h_max, stop, 1)
            while layout.state(z).status == ChainStatus.RUNNING:
                z, made = self._kernel(z, ChainParameters(p, limits, scales).vector, CHUNK)
                rows.append(made)
                ends.append(np.full(len(made), stop))
                count += int(np.sum(self._find_good(made)))
            if layout.state(z).status == ChainStatus.STUCK:
                (refusal,) = self._kernel.refusals(rows[-1][-1:])
                raise SensitivityError(
                    z[0],  # the time
                    f"no step was solved by Newton ({refusal}): take a smaller h_min, or "
                    "other values of the parameters, with which a linkage gets further",
                )
            stops.append(count)
        # The accepted steps among attempts on record, each with the stop ahead of it.
        attempts = np.vstack(rows)
        good, fields = self._find_good(attempts), self._kernel.fields(attempts)
        states = np.vstack([first, fields["state"]])
        after, before = states[1:][good], layout.state(states[:-1][good])
        reached = layout.state(np.vstack([states[:1], after]))
        sizes = np.full((len(after), 2), [steps.h_min, steps.h_max])
        bounds = np.column_stack([sizes, np.concatenate(ends)[good], np.ones(len(after))])
        presses = fields["impulse"][good] > 0
        h, slope = self._size.map(len(after))(before.t.T, before.h.T, bounds.T)
        return Steps(
            reached.t[:, 0],
            reached.q,
            reached.v,
            np.asarray(h).ravel(),
            np.asarray(ca.densify(slope)).ravel(),
            reached.x[1:],
            scales,
            np.array(stops, dtype=np.intp),
            np.any(np.diff(presses, axis=0, prepend=presses[:1]) & presses, axis=1),
            perf_counter() - begin,
        )

    def _find_good(self, rows: Array) -> NDArray[np.bool_]:
        """Return which of the attempts on record (n, record) were accepted, (n,)."""
        good: NDArray[np.bool_] = self._kernel.fields(rows)["good"][:, 0] > 0
        return good
