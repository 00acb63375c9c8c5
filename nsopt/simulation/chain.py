"""Many steps in one call of machine code: the `Chain` of a run, and the option `Compiled`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from time import perf_counter

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.mpcc import Newton
from nsopt.schemes import ContactEvent, Scales, Scheme
from nsopt.simulation.acceptance import EVENTS, Acceptance
from nsopt.simulation.bounds import are_below, name_reasons
from nsopt.simulation.chain_state import ChainParameters, ChainStatus
from nsopt.simulation.control import LATE, StepControl
from nsopt.simulation.program import StepProgram
from nsopt.simulation.record.accepted_steps import AcceptedSteps, How, objects
from nsopt.simulation.run import Run
from nsopt.simulation.step_error import FailedAttempt
from nsopt.simulation.step_kernel import StepKernel

SAVED = 0.9
"""Part of the time of interpreted steps that machine code saves: it is 10 to 28 times as fast."""


@dataclass(frozen=True)
class Compiled:
    """Steps solved by Newton in machine code, many in one call.

    For schemes whose h is given by a `StepControl`; for `PaperStep` that finds h itself it means
    `Sqp`, step by step. A step that Newton does not solve, or that is
    not accepted at any h down to h_min, is tried a little below it, unless h is fixed, then in the
    ways of `FallbackChains` and by the solvers; the chain goes on from there. No C compiler is
    needed.

    Parameters
    ----------
    newton : Newton
    chunk : int
        Attempts in one call; between calls progress is shown, checkpoints are written and Ctrl-C
        is heard.
    """

    newton: Newton = field(default_factory=Newton)
    chunk: int = 2000

    def __post_init__(self) -> None:
        if self.chunk < 1:
            raise ValueError(f"chunk must be 1 or more, got {self.chunk}")


@lru_cache(maxsize=16)
def _make_kernel(
    dynamics: Dynamics,
    scheme: Scheme,
    acceptance: Acceptance,
    control: StepControl,
    newton: Newton,
) -> tuple[StepKernel, float]:
    """Return the kernel of a model, good for all of its runs, and the seconds it took to make."""
    begin = perf_counter()
    kernel = StepKernel(StepProgram(dynamics, scheme, acceptance), control, newton)
    return kernel, perf_counter() - begin


class Chain:
    """The chain of one run.

    Bounds of h, the end of the run and scales are parameters beside those of the mechanism, so the
    code is made once for all runs of a sweep.

    Attributes
    ----------
    seconds : float
        Time it took to make the code.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        scheme: Scheme,
        acceptance: Acceptance,
        control: StepControl,
        options: Compiled,
        run: Run,
        scales: Scales,
    ) -> None:
        self._kernel, self.seconds = _make_kernel(
            dynamics, scheme, acceptance, control, options.newton
        )
        self._interpreted_before = self._kernel.interpreted  # [s] in other runs of the model
        self._chunk = options.chunk
        self._forces_at_end = scheme.forces_at_end
        self._run, self._reason, self._force = run, control.description, scales.force
        self._scales = scales
        self._parameters = self._pack(run.steps.h_min, run.steps.h_max, run.t_end)

    @property
    def warmup_time(self) -> float:
        """Time of the processor [s] that machine code from the beginning would have saved."""
        return SAVED * (self._kernel.interpreted - self._interpreted_before)

    def begin(self, start: Start, h: float | None = None) -> Array:
        """Return the state (nz,) of a chain at the start of its run, by default with h_max."""
        return self._kernel.layout.begin(start, h or self._run.steps.h_max)

    def resume(self, z: Array, start: Start, h: float) -> Array:
        """Return the state of a chain that goes on from ``start``, where others took it, with h."""
        return self._kernel.layout.begin(start, h, self._kernel.layout.state(z).x)

    def choose_h(self, z: Array) -> float:
        """Return the h of the next attempt [s]."""
        state, steps = self._kernel.layout.state(z), self._run.steps
        bounds = [steps.h_min, steps.h_max, self._run.t_end, steps.part]
        return float(self._kernel.size(state.t, state.h, bounds))

    def _pack(self, h_min: float, h_max: float, t_end: float) -> Array:
        """Return the parameters of the code, with these bounds [s]."""
        bounds = (h_min, h_max, t_end, self._run.steps.part)
        return ChainParameters(self._run.p, bounds, self._scales.numbers).vector

    def try_step(self, h: float, z: Array, start: Start) -> ChainRun:
        """Return a single step of ``h`` [s], or less at the end of the run, if it is accepted."""
        # The step is what is left to this end; bounds above that, so that no round-off matters.
        end, bound = min(start.t + h, self._run.t_end), 2 * h
        parameters = self._pack(bound, bound, end)
        run = self._attempt(self.resume(z, start, bound), parameters, (), self._chunk)
        # Where an event ended the step, more of them were taken.
        return replace(run, accepted=run.accepted.at(slice(1)))

    def is_stuck(self, z: Array) -> bool:
        """Tell whether no step was accepted at any h down to h_min."""
        return bool(self._kernel.layout.state(z).status == ChainStatus.STUCK)

    def has_ended(self, z: Array) -> bool:
        """Tell whether the chain is stuck, or has reached the end."""
        return bool(self._kernel.layout.state(z).status != ChainStatus.RUNNING)

    def run(
        self, z: Array, earlier: tuple[FailedAttempt, ...], count: int | None = None
    ) -> ChainRun:
        """Return what the next attempts came to.

        Parameters
        ----------
        z : (nz,)
        earlier : tuple of FailedAttempt
            Since the last accepted step in the call before.
        count : int, optional
            Attempts at most; by default `Compiled.chunk`.
        """
        return self._attempt(z, self._parameters, earlier, count or self._chunk)

    def _attempt(
        self, z: Array, parameters: Array, earlier: tuple[FailedAttempt, ...], count: int
    ) -> ChainRun:
        """Return what up to ``count`` attempts came to, read off their records."""
        begin = perf_counter()
        state, rows = self._kernel(z, parameters, count)
        seconds = perf_counter() - begin
        attempts = self._kernel.fields(rows)
        good = attempts["good"][:, 0] > 0  # which attempts were accepted
        n = int(good.sum())
        refused = [earlier, *[()] * n]  # before each accepted step, and after the last
        failed = zip(np.cumsum(good)[~good], self._kernel.refusals(rows[~good]), strict=True)
        for i, attempt in failed:
            refused[i] = (*refused[i], attempt)
        tried = objects(tuple(map(str, x)) for x in refused[:n])
        of = {name: values[good] for name, values in attempts.items()}
        # Why each accepted step has its h.
        h, t = of["h"][:, 0], of["t"][:, 0]
        remaining, event = self._run.t_end - (t - h), of["event"][:, 0]
        why = name_reasons(h, remaining, self._run.steps, self._reason)
        for key, text in EVENTS.items():
            why[event == key] = text
        retried = np.fromiter(map(bool, tried), dtype=bool)
        late, overdue = of["late"][:, 0], of["overdue"][:, 0]
        # Tried again so that they end at a change of contact.
        shortened = retried & (overdue > 0) & (overdue <= LATE * h)
        why[shortened & (late > 0)] = EVENTS[ContactEvent.CLOSING]
        why[shortened & (late == 0)] = EVENTS[ContactEvent.STICK_SLIP]
        why[retried] = [f"{text}; smaller h" for text in why[retried]]
        below = are_below(h, remaining, self._run.steps) & (event == 0) & ~shortened
        accepted = AcceptedSteps.of_ends(
            of,
            self._force,
            t=t,
            motion_residual=of["motion"][:, 0],
            iterations=of["iterations"][:, 0],
            solve_time=np.full(n, seconds / max(n, 1)),
            reason=why,
            tried=tried,
            at_end=np.full(n, self._forces_at_end),
            how=np.where(below, How.BELOW_H_MIN, How.AS_ASKED),
        )
        solved = bool(np.all(attempts["solved"][-1:] > 0))
        return ChainRun(state, accepted, refused[n], solved)


@dataclass(frozen=True, eq=False)
class ChainRun:
    """The steps of one call of a chain."""

    state: Array  # (nz,) from where the chain goes on
    accepted: AcceptedSteps
    refused: tuple[FailedAttempt, ...]  # attempts since the last accepted step
    solved: bool  # whether Newton converged in the last attempt
