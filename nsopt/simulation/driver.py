"""The driver of a run: the next accepted steps, by the compiled chain or by what takes its place.

Where the chain is stuck, other ways follow until one has a step; the chain goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.mpcc import Solver
from nsopt.schemes import Scales, Scheme
from nsopt.simulation.chain import Chain, Compiled
from nsopt.simulation.control import FOLLOWED, LATE
from nsopt.simulation.fallback import FallbackStepper
from nsopt.simulation.fallback_chain import Backoff, Fallback, FallbackChains, FallbackSteps
from nsopt.simulation.method import Method
from nsopt.simulation.program import StepProgram
from nsopt.simulation.record.accepted_steps import AcceptedSteps, How
from nsopt.simulation.retry import RetryLevel, RetryPolicy
from nsopt.simulation.run import Run
from nsopt.simulation.step_error import FailedAttempt, StepError, has_gained_by_contacts
from nsopt.simulation.stepper import Stepper, StepperState

SHORTER = RetryPolicy.shrink[:2]
"""Parts of h_min, 0.3 and 0.1, at which compiled code tries a step before the solvers take over.
Shorter ones would make a run long where the solvers find a step of h_min."""


class StepCounts(NamedTuple):
    """Steps so far that a reader should know of."""

    below_h_min: int = 0  # those that were shorter, without the last one of the run
    by_other_schemes: int = 0  # those that the scheme itself did not solve
    # Those with another law of impact, where contacts gave energy by the scheme's own.
    by_other_laws: int = 0
    unfollowed: int = 0  # those that contacts in bores could not follow
    unplaced: float = 0.0  # [J] energy by which steps are off: `WallFigures.unplaced`, summed
    # [s] sum of the h of steps that go on past a change of contact, as too many follow each other,
    # or as h is fixed.
    time_past_changes: float = 0.0
    # [s] sum of their h, which are often longer than those of the scheme.
    time_by_other_schemes: float = 0.0

    def with_steps(self, accepted: AcceptedSteps) -> StepCounts:
        """Return the counts with more steps."""
        below, by_others, by_laws = (
            (accepted.how & flag) > 0
            for flag in (How.BELOW_H_MIN, How.BY_OTHER_SCHEME, How.BY_OTHER_LAW)
        )
        past = accepted.overdue > LATE * accepted.h
        return StepCounts(
            self.below_h_min + int(np.sum(below)),
            self.by_other_schemes + int(np.sum(by_others)),
            self.by_other_laws + int(np.sum(by_laws)),
            self.unfollowed + int(np.sum(accepted.depth > FOLLOWED)),
            self.unplaced + float(np.sum(accepted.unplaced)),
            self.time_past_changes + float(np.sum(accepted.h[past])),
            self.time_by_other_schemes + float(np.sum(accepted.h[by_others])),
        )


@dataclass(frozen=True, eq=False)
class DriverState:
    """Everything that decides the steps to come."""

    start: Start  # of the next step
    counts: StepCounts
    chain: Array | None = None  # (nz,) state of the compiled chain
    refused: tuple[FailedAttempt, ...] = ()  # attempts of the chain since the last accepted step
    backoff: Backoff = field(default_factory=Backoff)
    # Of each `Stepper` that was needed, in the order of need.
    steppers: tuple[StepperState, ...] = ()


class Driver:
    """The motion as blocks of accepted steps.

    Attributes
    ----------
    start : Start
        Of the next step.
    counts : StepCounts
    """

    def __init__(self, dynamics: Dynamics, run: Run, method: Method) -> None:
        self.run, self.method, self._dynamics = run, method, dynamics
        self.start, self.counts = run.start, StepCounts()
        duration = run.t_end - run.start.t
        self._scales = Scales.of(dynamics, run.start, run.p, run.steps.h_max, duration)
        self._refused: tuple[FailedAttempt, ...] = ()
        self._steppers: list[Stepper] = []
        self._restored: tuple[StepperState, ...] = ()  # states of steppers from a checkpoint
        self._chain: Chain | None = None
        self._backoff = Backoff()
        if isinstance(method.first_solver(dynamics), Compiled):
            self._chain = self._make_chain(method.scheme)
            self._z = self._chain.begin(run.start)  # (nz,) `ChainState`

    def _make_chain(self, scheme: Scheme) -> Chain:
        """Return the chain of this run by a scheme."""
        solver = self.method.first_solver(self._dynamics)
        assert isinstance(solver, Compiled)
        settings = (self.method.acceptance, self.method.control, solver, self.run, self._scales)
        return Chain(self._dynamics, scheme, *settings)

    @property
    def done(self) -> bool:
        """Whether the end is reached."""
        return self.start.t >= self.run.t_end

    @property
    def compile_time(self) -> float:
        """Time to make the code of the chain, next to nothing where another run has made it [s]."""
        return self._chain.seconds if self._chain else 0.0

    @property
    def warmup_time(self) -> float:
        """`Chain.warmup_time` [s]."""
        return self._chain.warmup_time if self._chain else 0.0

    @property
    def state(self) -> DriverState:
        """The state from which another driver of the same run goes on bit by bit."""
        z = None if self._chain is None else self._z
        made = [stepper.state for stepper in self._steppers]
        steppers = (*made, *self._restored[len(made) :])
        return DriverState(self.start, self.counts, z, self._refused, self._backoff, steppers)

    def restore(self, state: DriverState) -> None:
        """Go on from the state of another driver of the same run; to be called first.

        Raises
        ------
        ValueError
            If the state of the chain is of another size.
        """
        self.start, self.counts = state.start, state.counts
        self._refused, self._backoff = state.refused, state.backoff
        self._restored = state.steppers
        if self._chain is not None:
            if state.chain is None or state.chain.shape != self._z.shape:
                raise ValueError("z of the checkpoint does not fit this run: start the run anew")
            self._z = state.chain

    def advance(self) -> AcceptedSteps:
        """Return the next accepted steps: one, or those of a call of the chain, maybe none.

        Raises
        ------
        StepError
            If every attempt at a step failed.
        """
        if self._chain is None:
            accepted = self._stepper.step(self.start, self.run.t_end)
        elif self._chain.is_stuck(self._z):
            accepted = self._step_below_h_min(self._chain)
        else:
            steps = self._chain.run(self._z, self._refused)
            self._z, self._refused, accepted = steps.state, steps.refused, steps.accepted
            self._backoff = self._backoff._replace(own=self._backoff.own + len(accepted))
        if len(accepted):
            self.start = accepted.end
            self.counts = self.counts.with_steps(accepted)
        return accepted

    def _step_below_h_min(self, chain: Chain) -> AcceptedSteps:
        """Return the step at which the chain is stuck, by its code below h_min, else by others.

        The chain goes on after it.
        """
        h_min, tried = self.run.steps.h_min, self._refused
        remaining = self.run.t_end - self.start.t
        sizes = [part * h_min for part in SHORTER] if self._h_varies else []
        for h in (size for size in sizes if size < remaining):
            shorter = chain.try_step(h, self._z, self.start)
            if len(shorter.accepted):
                step = shorter.accepted.with_earlier(tried)
                self._z, self._refused = chain.resume(shorter.state, step.end, h_min), ()
                return step
            tried = (*tried, *shorter.refused)
        return self._step_by_others(chain, tried)

    def _step_by_others(self, chain: Chain, tried: tuple[FailedAttempt, ...]) -> AcceptedSteps:
        """Return steps by Newton with other schemes or another law of impact, or by a stepper.

        Where h is fixed, what keeps it and the scheme comes before other schemes.
        """
        trial, others = self.run.steps.h_min, self._fallbacks.others
        law = self._fallbacks.law if has_gained_by_contacts(tried) else ()
        first, last = ((*others, *law), ()) if self._h_varies else (law, others)
        if self._backoff.lasts:
            first = tuple(sorted(first, key=lambda fallback: fallback not in law))  # law first
        taken = self._try_fallbacks(first, tried)
        if not len(taken.accepted):
            tried = taken.refused
            self._stepper.trial = trial
            try:
                step = self._stepper.step(self.start, self.run.t_end)
                taken, trial = FallbackSteps(step.with_earlier(tried)), self._stepper.trial
            except StepError as error:
                taken = self._try_fallbacks(last, (*tried, *error.tried))
                if not len(taken.accepted) and not law and has_gained_by_contacts(taken.refused):
                    taken = self._try_fallbacks(self._fallbacks.law, taken.refused)
                if not len(taken.accepted):
                    raise error.among(taken.refused) from None
        self._z, self._refused = chain.resume(self._z, taken.accepted.end, trial), taken.refused
        return taken.accepted

    def _try_fallbacks(
        self, fallbacks: tuple[Fallback, ...], tried: tuple[FailedAttempt, ...]
    ) -> FallbackSteps:
        backoff = self._backoff.after_jam
        taken = self._fallbacks.steps(fallbacks, self.start, backoff.steps)
        if not len(taken.accepted):
            return FallbackSteps(taken.accepted, (*tried, *taken.refused))
        self._backoff = backoff
        return FallbackSteps(taken.accepted.with_earlier(tried), taken.refused)

    @cached_property
    def _fallbacks(self) -> FallbackChains:
        return FallbackChains(self._dynamics, self.method.scheme, self.run.steps, self._make_chain)

    @cached_property
    def _stepper(self) -> FallbackStepper:
        method, first = self.method, tuple(RetryLevel)
        if self._chain is not None and method.scheme.ends_early:
            first = ()  # an event is many pairs, which the solvers seldom solve
        elif self._chain is not None and self._h_varies:
            first = (RetryLevel.FIRST,)  # compiled code has tried shorter steps
        return FallbackStepper(method.scheme, self._make_stepper, self.run.steps.h_min, first)

    @property
    def _h_varies(self) -> bool:
        """Whether h is free: a fixed one is left only when all attempts at it have failed."""
        return self.run.steps.h_min < self.run.steps.h_max

    def _make_stepper(self, scheme: Scheme) -> Stepper:
        method, run, d = self.method, self.run, self._dynamics
        program = StepProgram(d, scheme, method.acceptance, self._scales)
        solver = method.first_solver(d)
        retry = RetryPolicy(solver if isinstance(solver, Solver) else Solver())
        stepper = Stepper(program, retry, method.control, run, self._scales)
        if (k := len(self._steppers)) < len(self._restored):
            stepper.state = self._restored[k]
        self._steppers.append(stepper)
        return stepper
