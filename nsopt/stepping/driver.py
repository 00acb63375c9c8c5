"""What carries a run from block to block: the compiled chain, and the solvers where it is stuck."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Solver, Sqp
from nsopt.stepping.acceptance import Acceptance
from nsopt.stepping.attempt import STUCK
from nsopt.stepping.bounds import AT_BOUND
from nsopt.stepping.chain import Chain, Compiled
from nsopt.stepping.control import StepControl
from nsopt.stepping.initial import Run, Start
from nsopt.stepping.program import StepProgram
from nsopt.stepping.rescue import Rescue
from nsopt.stepping.retry import RetryLadder
from nsopt.stepping.scheme import Scales, Scheme
from nsopt.stepping.stepper import Memory, Stepper
from nsopt.stepping.taken import Taken

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reached:
    """Where a run is between two blocks: everything that decides the steps to come.

    Attributes
    ----------
    now : Start
    below_h_min : int
    z : (nz,) or None
        State of the compiled chain.
    waiting : tuple of str
        What attempts of the chain since the last accepted step failed by.
    steppers : tuple of (trial, memory)
        Of each `Stepper` there was need of, in the order of need.
    """

    now: Start
    below_h_min: int = 0
    z: Array | None = None
    waiting: tuple[str, ...] = ()
    steppers: tuple[tuple[float, Memory], ...] = ()


class Driver:
    """The motion as blocks of accepted steps.

    Attributes
    ----------
    now : Start
        The state reached.
    below_h_min : int
        Steps so far that were smaller, but for the last one.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        run: Run,
        scheme: Scheme,
        solver: Solver | Compiled,
        control: StepControl,
        acceptance: Acceptance,
    ) -> None:
        self.run, self.control, self.acceptance = run, control, acceptance
        if scheme.chooses_h and isinstance(solver, Compiled):
            solver = Solver(backend=Sqp(native=True))
        self._dynamics, self._scheme, self._solver = dynamics, scheme, solver
        self.now, self.below_h_min = run.start, 0
        start, steps = run.start, run.steps
        self._scales = Scales.of(dynamics, start, run.p, steps.h_max, run.t_end - start.t)
        self._waiting: tuple[str, ...] = ()
        self._steppers: list[Stepper] = []
        self._before: tuple[tuple[float, Memory], ...] = ()  # of steppers, where the run goes on
        self._chain: Chain | None = None
        if isinstance(solver, Compiled):
            self._chain = self._linked(solver)
            self._z = self._chain.restart(run.start)

    def _linked(self, options: Compiled) -> Chain:
        return Chain(
            self._dynamics,
            self._scheme,
            self.acceptance,
            self.control,
            options,
            self.run,
            self._scales,
        )

    @property
    def done(self) -> bool:
        """Whether the end is reached."""
        return self.now.t >= self.run.t_end

    @property
    def solver_name(self) -> str:
        """Name of the first choice of solver."""
        solver = self._solver
        return type(solver.backend if isinstance(solver, Solver) else solver).__name__

    @property
    def compile_time(self) -> float:
        """Time to generate and compile the chain, or to find it compiled [s]."""
        return self._chain.native.seconds if self._chain else 0.0

    @cached_property
    def _stepper(self) -> Rescue:
        chained = self._chain is not None
        return Rescue(self._scheme, self._stepper_of, self.run.steps.h_min, chained)

    def _stepper_of(self, scheme: Scheme) -> Stepper:
        solver = self._solver if isinstance(self._solver, Solver) else Solver()
        run, scales = self.run, self._scales
        program = StepProgram(self._dynamics, scheme, self.acceptance, scales)
        ladder = RetryLadder(solver)
        stepper = Stepper(program, ladder, self.control, run.steps, scales, run.p)
        if (k := len(self._steppers)) < len(self._before):
            stepper.trial, stepper.memory = self._before[k]
        self._steppers.append(stepper)
        return stepper

    @property
    def reached(self) -> Reached:
        """Where the run is; another driver of the same run goes on from there bit by bit."""
        z = None if self._chain is None else self._z
        made = [(stepper.trial, stepper.memory) for stepper in self._steppers]
        steppers = (*made, *self._before[len(made) :])
        return Reached(self.now, self.below_h_min, z, self._waiting, steppers)

    def go_on(self, reached: Reached) -> None:
        """Go on from where another driver of the same run was; to be called first."""
        self.now, self.below_h_min = reached.now, reached.below_h_min
        self._waiting, self._before = reached.waiting, reached.steppers
        if reached.z is not None:
            self._z = reached.z

    def advance(self) -> Taken:
        """Return the next accepted steps: one, or those of a call of the chain, maybe none.

        Raises
        ------
        StepError
            If every attempt at a step failed.
        """
        if self._chain is None:
            taken = self._stepper.step(self.now, self.run.t_end)
        else:
            taken = self._link(self._chain)
        if len(taken):
            self.now = Start(taken.q[-1], taken.v[-1], float(taken.t[-1]))
            small = taken.reason[taken.h < self.run.steps.h_min * (1 - AT_BOUND)]
            self.below_h_min += sum(text.startswith("below h_min") for text in small)
        return taken

    def _link(self, chain: Chain) -> Taken:
        if self._z[-1] == STUCK:
            return self._rescued(chain)
        links = chain.run(self._z, self._waiting)
        self._z, self._waiting = links.state, links.refused
        return links.taken

    def _rescued(self, chain: Chain) -> Taken:
        """Return the step by the solvers at which the chain is stuck; let it go on from there."""
        self._stepper.trial = self.run.steps.h_min
        step = self._stepper.step(self.now, self.run.t_end).after(self._waiting)
        end = Start(step.q[-1], step.v[-1], float(step.t[-1]))
        memory = chain.memory(self._z, self._stepper.trial)
        self._z, self._waiting = chain.restart(end, memory), ()
        return step
