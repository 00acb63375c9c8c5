"""A phase of a motion: as it is stated, and as a part of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nsopt.culprit import naming
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Point, Solution, Solver, StructuredNlp
from nsopt.trajectory.conditions import Condition, EndAt, StartAt
from nsopt.trajectory.costs import Cost, Smoothness, flattened
from nsopt.trajectory.diagnosis import (
    Statement,
    check_arguments,
    check_feasible,
)
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.phases.mode_conditions import (
    GivenState,
    InMode,
    UnitAtStart,
    contacts_in_modes,
    find_closing,
)
from nsopt.trajectory.phases.modes import ContactMode, with_modes
from nsopt.trajectory.phases.strikes import Strike, check_rebounds, find_strikes
from nsopt.trajectory.programs import add_small_costs
from nsopt.trajectory.smoothing.dry_friction import grid_creep
from nsopt.trajectory.smoothing.step_bend import with_bend
from nsopt.trajectory.smoothing.tie_breaker import with_less_tie
from nsopt.trajectory.task import Task
from nsopt.trajectory.transcription.accelerations import why_no_accelerations
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.transcription.collocation import Collocation


@dataclass(frozen=True, eq=False)
class MotionPhase:
    """A phase of a motion.

    Parameters
    ----------
    dynamics : Dynamics
        Its mechanism; without clearances and closed loops, its contacts in modes that are given.
    horizon : Horizon
        Its duration, given or free within bounds, and its steps.
    costs : sequence of Cost
        The sum over all phases is minimized.
    conditions : sequence of Condition
        Times and shares of the steps are those of the phase.
    guess : Guess
        What it leaves out at the start is where the guess of the phase before ends.
    inputs : sequence of str
        Parameters of the mechanism that are chosen anew at every moment.
    parameters : mapping of name to float, optional
        Values of the others.
    name : str
        For messages and results.
    modes : mapping of name to ContactMode
        What each contact does throughout the phase: `Open`, `Sticking` or `Sliding`. Contacts that
        close where a phase begins close by an impact without restitution, in which friction
        impulses are within the cone too.
    strikes : mapping of name to ContactMode
        Contacts that strike where the phase begins and are open after it, by Newton's law of impact
        with their restitution; `Sliding` or `Sticking` is what they do during the impact.
    """

    dynamics: Dynamics
    horizon: Horizon
    costs: Sequence[Cost]
    conditions: Sequence[Condition]
    guess: Guess
    inputs: Sequence[str] = ()
    parameters: Mapping[str, float] | None = None
    name: str = ""
    modes: Mapping[str, ContactMode] = field(default_factory=dict)
    strikes: Mapping[str, ContactMode] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PhaseProgram:
    """The program of a phase by itself.

    Attributes
    ----------
    phase : MotionPhase
    label : str
        Its number and name, in messages.
    p : (np,)
        Values of its parameters.
    guess : Guess
        As placed.
    tie : Smoothness or None
        The tie-breaker among its costs.
    in_modes : sequence of InMode
        Its contacts.
    strikes : sequence of Strike
        Contacts that strike where it begins, and are open after it.
    impact : bool
        Whether contacts close or strike where it begins.
    """

    phase: MotionPhase
    label: str
    p: Array
    guess: Guess
    statement: Statement
    transcription: Collocation
    nlp: StructuredNlp
    tie: Smoothness | None
    in_modes: tuple[InMode, ...]
    strikes: tuple[Strike, ...]
    impact: bool

    @classmethod
    def of(
        cls, phase: MotionPhase, label: str, before: PhaseProgram | None, solver: Solver
    ) -> PhaseProgram:
        """Return the program of a phase, checked as by `optimize`.

        Raises
        ------
        TypeError, ValueError
            As of `optimize`, the phase named first.
        """
        try:
            with naming(Cost, Condition):
                return cls._of(phase, label, before, solver)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{label}: {error}") from None

    @classmethod
    def _of(
        cls, phase: MotionPhase, label: str, before: PhaseProgram | None, solver: Solver
    ) -> PhaseProgram:
        d, horizon, inputs, parameters = (
            getattr(phase, x) for x in ("dynamics", "horizon", "inputs", "parameters")
        )
        stated, (d, forces) = d, with_modes(d, phase.modes, inputs)
        inputs = (*inputs, *(name for x in forces for name in x.inputs))
        conditions, guess = tuple(phase.conditions), phase.guess
        if before is not None and isinstance(guess, Guess):
            guess = guess.placed(d, [*conditions, StartAt(before.last_posture)], parameters)
        task = Task(d, horizon, phase.costs, conditions, guess, inputs, parameters, solver=solver)
        guess = check_arguments(task)
        if fault := why_no_accelerations(d):
            raise ValueError(f"{fault}: phases are of motions by polynomials{_remedy(d)}")
        p, earlier = d.values(parameters), () if before is None else before.in_modes
        strikes = find_strikes(stated, d, phase.strikes, horizon.steps)
        if strikes and before is None:
            raise ValueError("no contact strikes where the first phase begins: state it at rest")
        closing = find_closing(earlier, forces) if before is not None else []
        impact = bool(closing or strikes)
        known = _find_end_states(d, phase, before, impact)
        in_modes = contacts_in_modes(d, forces, horizon.steps, known, earlier, p, impact)
        check_rebounds([x for x in in_modes if x.forces.name in closing], p)
        unit = () if before is not None else UnitAtStart.of_free(d, known[0])
        conditions = (*conditions, *unit, *in_modes)
        costs = tuple(flattened(phase.costs))
        transcription = Collocation(d, horizon, costs, conditions, tuple(inputs))
        transcription = transcription.with_creep(grid_creep(d, horizon, guess, inputs))
        statement = Statement(d, conditions, inputs, p)
        check_feasible(statement, horizon)
        transcription, nlp, tie = add_small_costs(
            transcription, guess, p, lambda x: _program(x, in_modes)
        )
        made = phase, label, p, guess, statement, transcription, nlp, tie, in_modes
        return cls(*made, strikes, impact)

    @property
    def closed(self) -> dict[str, InMode]:
        """The contacts that are closed, by name."""
        return {x.forces.name: x for x in self.in_modes if x.forces.mode.closed}

    @property
    def striking(self) -> dict[str, InMode]:
        """The contacts with an impulse where it begins, by name."""
        struck = {x.contact.forces.name: x.contact for x in self.strikes}
        return {**self.closed, **struck} if self.impact else {}

    def with_less_tie(self, terms: Array) -> PhaseProgram:
        """Return the phase with a tie-breaker that decides between equals alone.

        Parameters
        ----------
        terms : (k,)
            Its costs at an optimum, that of the tie-breaker last.
        """
        found = with_less_tie(self.transcription, self.tie, terms)
        return self if found is None else self._with_motion(*found)

    def with_bend(self) -> PhaseProgram:
        """Return the phase with a little cost of what accelerations do within steps."""
        x = with_bend(self.transcription, self.nlp, self.guess, self.p, self.tie)
        return self if x is None else self._with_motion(x, self.tie)

    def _with_motion(self, x: Collocation, tie: Smoothness | None) -> PhaseProgram:
        return replace(self, transcription=x, nlp=_program(x, self.in_modes), tie=tie)

    @property
    def numbers(self) -> Array:
        """Parameters of the program: of the mechanism, then of the friction that is smoothed."""
        return self.transcription.parameters(self.p)

    @property
    def costs(self) -> Sequence[Cost]:
        """The costs that are stated."""
        return flattened(self.phase.costs)

    @property
    def last_posture(self) -> Array:
        """Where the guess ends, (nq,)."""
        phase = self.phase
        known = (np.array([0.0, 1.0]), phase.horizon.bounds, self.transcription.inputs)
        posture: Array = self.guess.trajectory(*known).q[-1]
        return posture

    def part(self, solution: Solution, unknowns: slice, rows: slice) -> Solution:
        """Return what a solution of all phases is of this one."""
        point, residuals = solution.point, solution.residuals
        own = Point(point.x[unknowns], point.lam_x[unknowns], point.lam_g[rows])
        return replace(solution, point=own, residuals=replace(residuals, rows=residuals.rows[rows]))


def _program(x: Collocation, in_modes: Sequence[InMode]) -> StructuredNlp:
    """Return the program of a phase, its contacts included."""
    nlp, last = x.nlp(), 2 * x.horizon.steps - 1
    if not any(y.forces.mode.sticks for y in in_modes):
        return nlp
    held = x.at_point("held", last, lambda m: [b for y in in_modes for b in y.last_middle(m)])
    return StructuredNlp([*nlp.blocks, held], x.size, len(x.dynamics.parameters) + len(x.creep))


def _remedy(d: Dynamics) -> str:
    names = ", ".join(f"{x.name!r}: Open()" for x in d.contacts)
    return f"; give it a mode, modes={{{names}}}" if names else ""


def _find_end_states(
    d: Dynamics, phase: MotionPhase, before: PhaseProgram | None, impact: bool
) -> tuple[GivenState, GivenState]:
    """Return what is given at the start and at the end, also by the end of the phase before."""
    start = GivenState.of(d, [x for x in phase.conditions if isinstance(x, StartAt)])
    if before is not None:
        ended = GivenState.of(d, [x for x in before.phase.conditions if isinstance(x, EndAt)])
        q = np.where(np.isnan(start.q), ended.q, start.q)
        v = np.where(np.isnan(start.v) & (not impact), ended.v, start.v)
        start = GivenState(q, v)
    return start, GivenState.of(d, [x for x in phase.conditions if isinstance(x, EndAt)])
