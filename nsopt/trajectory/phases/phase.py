"""A phase of a motion: what a user states (`MotionPhase`), and its program (`PhaseProgram`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Solver, StructuredNlp
from nsopt.trajectory.conditions import Condition, During, EndAt, FrictionMargin, StartAt
from nsopt.trajectory.costs import Cost, Smoothness, flattened
from nsopt.trajectory.diagnosis import Statement, check_arguments, check_feasible
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.phases.constraint_forces import find_constraint_forces
from nsopt.trajectory.phases.constraints import ConstraintsInPhase, state_constraints
from nsopt.trajectory.phases.given_states import GivenState, UnitAtStart
from nsopt.trajectory.phases.guessed_forces import with_contact_forces
from nsopt.trajectory.phases.impacts import check_rebounds, find_closing, find_strikes
from nsopt.trajectory.phases.implied import EndConditions, state_contacts, state_rows
from nsopt.trajectory.phases.mode_conditions import SLIP, ContactInMode
from nsopt.trajectory.phases.modes import ContactMode, Sliding, with_modes
from nsopt.trajectory.phases.period import Period
from nsopt.trajectory.phases.slip_directions import limit_turns, measure_angles, with_slip_angles
from nsopt.trajectory.programs import add_small_costs
from nsopt.trajectory.smoothing.dry_friction import compute_grid_creep
from nsopt.trajectory.smoothing.small_costs import with_bend, with_less_tie
from nsopt.trajectory.task import Task
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.polynomials import why_no_accelerations
from nsopt.trajectory.transcription.resting import RestingCollocation


@dataclass(frozen=True, eq=False)
class MotionPhase:
    """A phase of a motion.

    Parameters
    ----------
    dynamics : Dynamics
        Its mechanism, without clearances; contacts need ``modes``.
    horizon : Horizon
        Its duration, given or free within bounds, and its steps.
    costs : sequence of Cost
        The sum over all phases is minimized.
    conditions : sequence of Condition
        Times and shares of the steps are those of the phase.
    guess : Guess
        If it has no start of its own, it begins where the guess of the phase before ends. Closed
        contacts to which it gives no forces press alike, as its motion needs on the whole.
    inputs : sequence of str
        Parameters of the mechanism that are free functions of time.
    parameters : mapping of name to float, optional
        Values of other parameters.
    name : str
        For messages and results.
    modes : mapping of name to ContactMode
        What each contact does throughout the phase: `Open`, `Sticking` or `Sliding`. One that was
        open in the phase before closes by an impact without restitution, with the friction impulse
        within its cone. Joints with a drive and dry friction may have a mode too: one that slides
        does not turn round, its friction that of Coulomb's law; one that sticks rests, without
        friction. Without a mode their friction is smoothed.
    strikes : mapping of name to ContactMode
        Contacts that strike where the phase begins and are open in it, by Newton's law of impact
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
    """The program of a phase by itself."""

    phase: MotionPhase
    label: str  # number and name of the phase, for messages
    p: Array  # (np,) of its mechanism
    guess: Guess  # with a start, see `MotionPhase`
    statement: Statement  # with the conditions of its contacts
    transcription: Collocation
    nlp: StructuredNlp
    tie: Smoothness | None  # the small cost that was added to its costs as a tie-breaker
    contacts: tuple[ContactInMode, ...]
    strikes: tuple[ContactInMode, ...]  # that strike where it begins and are open in it
    constraints: tuple[ConstraintsInPhase, ...]  # none, or one for all of them
    has_impact: bool  # whether contacts close or strike where it begins

    @classmethod
    def of(
        cls,
        phase: MotionPhase,
        label: str,
        before: PhaseProgram | None,
        solver: Solver,
        resting: tuple[Collection[str], Collection[str]] = ((), ()),
        period: Period | None = None,
    ) -> PhaseProgram:
        """Return the program of a phase, checked as by `optimize`; the last one has the period.

        ``resting`` is of `find_resting`.
        """
        horizon, parameters = phase.horizon, phase.parameters
        shares = _find_shares(phase)
        d, forces = with_modes(phase.dynamics, phase.modes, phase.inputs, shares)
        of_constraints = () if (x := find_constraint_forces(d)) is None else x.inputs
        inputs = (*phase.inputs, *(name for x in forces for name in x.inputs), *of_constraints)
        conditions = tuple(x for x in phase.conditions if not isinstance(x, FrictionMargin))
        guess = phase.guess
        if before is not None and isinstance(guess, Guess):
            guess = guess.placed(d, [*conditions, StartAt(before.last_posture)], parameters)
        task = Task(d, horizon, phase.costs, conditions, guess, inputs, parameters, solver=solver)
        guess = check_arguments(task)
        if fault := why_no_accelerations(d):
            names = ", ".join(f"{x.name!r}: Open()" for x in d.contacts)
            remedy = f"; give it a mode, modes={{{names}}}" if names else ""
            raise ValueError(f"{fault}: phases are of motions by polynomials{remedy}")
        p, contacts_before = d.values(parameters), () if before is None else before.contacts
        strikes = find_strikes(phase.dynamics, d, phase.strikes, horizon.steps)
        if strikes and before is None:
            raise ValueError("no contact strikes where the first phase begins: state it at rest")
        closing = [] if before is None else find_closing(contacts_before, forces)
        has_impact = bool(closing or strikes)
        given = _find_given_states(d, phase, before, has_impact)
        postures = guess.trajectory(np.array([0.0, 1.0]), horizon.bounds, inputs).q
        ends = _state_ends(d, conditions, inputs, p, postures, before, has_impact)
        contacts = state_contacts(
            d, forces, horizon.steps, given, ends, contacts_before, p, has_impact, resting
        )
        if not has_impact:
            contacts = tuple(_carry_slip(x, contacts_before) for x in contacts)
        check_rebounds([x for x in contacts if x.name in closing], p)
        unit = UnitAtStart.of_free(d, given[0]) if before is None else ()
        constraints = state_constraints(
            phase.dynamics, d, horizon.steps, given, postures, p, before is None, has_impact
        )
        if period is not None:
            contacts = tuple(period.imply_contact(x, p) for x in contacts)
            constraints = tuple(period.imply_constraints(x, p) for x in constraints)
        conditions = (*conditions, *unit, *contacts, *constraints)
        costs = tuple(flattened(phase.costs))
        transcription = Collocation(d, horizon, costs, conditions, inputs)
        transcription = transcription.with_creep(compute_grid_creep(d, horizon, guess, inputs))
        transcription = _hold_joints(transcription, phase.modes)
        statement = Statement(d, conditions, inputs, p)
        check_feasible(statement, horizon)
        transcription, nlp, tie = add_small_costs(
            transcription, guess, p, lambda x: _state_program(x, contacts, constraints)
        )
        program = statement, transcription, nlp, tie
        return cls(phase, label, p, guess, *program, contacts, strikes, constraints, has_impact)

    @property
    def closed_contacts(self) -> dict[str, ContactInMode]:
        """The contacts that are closed, by name."""
        return {x.name: x for x in self.contacts if x.mode.closed}

    @property
    def contacts_with_impulse(self) -> dict[str, ContactInMode]:
        """The contacts with an impulse where it begins, by name."""
        strike = {x.name: x for x in self.strikes}
        return {**self.closed_contacts, **strike} if self.has_impact else {}

    def divide_impulses(self, impulses: Any) -> list[tuple[ContactInMode, Any]]:
        """Return `contacts_with_impulse`, each with its own of the impulses (k,) of all."""
        contacts = list(self.contacts_with_impulse.values())
        ends = np.cumsum([0, *(len(x.forces.inputs) for x in contacts)]).tolist()
        return [(x, impulses[a:b]) for x, (a, b) in zip(contacts, pairwise(ends), strict=True)]

    def read_forces(self, contact: ContactInMode, fine: Trajectory) -> Array:
        """Return the inputs of a contact at n points of its motion, (k, n) [N]."""
        names = list(self.transcription.inputs)
        return fine.inputs[:, [names.index(name) for name in contact.forces.inputs]].T

    def describe_open_loop(self, fine: Trajectory) -> str:
        """Return in words which joint of its loops opens within steps; empty if none does."""
        return "".join(x.describe_opening(fine, self.p) for x in self.constraints)

    def start(self) -> Array:
        """Return the unknowns (n,) of the guess, with contact forces."""
        x, contacts = self.transcription, self.contacts
        unknowns = with_contact_forces(
            x, contacts, x.start_from(self.guess), self.program_parameters
        )
        turning = [y for y in contacts if y.forces.slip_angles]
        if not turning:
            return unknowns
        fine = x.trajectory(unknowns)[1]
        slips = [y.measure(fine, self.p)[SLIP] for y in turning]
        return with_slip_angles(x, [y.forces for y in turning], slips, unknowns)

    def start_impulses(self, unknowns: Array) -> Array:
        """Return the impulses (k,) of the guess: none, with the directions in which it slips."""
        found, fine = np.zeros(self.impulse_count), self.transcription.trajectory(unknowns)[1]
        for contact, own in self.divide_impulses(found):
            if angles := len(contact.forces.slip_angles):
                own[-angles:] = measure_angles(contact.measure(fine, self.p)[SLIP])[:, 0]
        return found

    def with_less_tie(self, x: Array) -> PhaseProgram:
        """Return the phase with a tie-breaker that is small beside its costs at an optimum (n,)."""
        terms = np.asarray(self.nlp.terms(x, self.program_parameters)).ravel()
        found = with_less_tie(self.transcription, self.tie, terms)
        return self if found is None else self._with_transcription(*found)

    def with_bend(self) -> PhaseProgram:
        """Return the phase with a `StepBend` among its costs; itself if it has one."""
        x = with_bend(self.transcription, self.nlp, self.guess, self.p, self.tie)
        return self if x is None else self._with_transcription(x, self.tie)

    def _with_transcription(self, x: Collocation, tie: Smoothness | None) -> PhaseProgram:
        nlp = _state_program(x, self.contacts, self.constraints)
        return replace(self, transcription=x, nlp=nlp, tie=tie)

    @property
    def impulse_count(self) -> int:
        """Number of impulses where it begins: of `contacts_with_impulse`, then of constraints."""
        if not self.has_impact:
            return 0
        of_contacts = sum(len(x.forces.inputs) for x in self.contacts_with_impulse.values())
        return of_contacts + sum(len(x.forces.inputs) for x in self.constraints)

    def read_constraint_impulses(self, impulses: Any) -> Any:
        """Return the impulses of constraints among those (k,) where it begins."""
        own = sum(len(x.forces.inputs) for x in self.constraints) if self.has_impact else 0
        return impulses[self.impulse_count - own :]

    @property
    def program_parameters(self) -> Array:
        """Parameters of the program: of the mechanism, then speeds that smooth its friction."""
        return self.transcription.parameters(self.p)

    @property
    def costs(self) -> Sequence[Cost]:
        """The costs that the user stated."""
        return flattened(self.phase.costs)

    @property
    def last_posture(self) -> Array:
        """The coordinates (nq,) at which the guess ends."""
        start_and_end = np.array([0.0, 1.0])
        inputs, bounds = self.transcription.inputs, self.phase.horizon.bounds
        return np.asarray(self.guess.trajectory(start_and_end, bounds, inputs).q[-1])


def _find_shares(phase: MotionPhase) -> dict[str, float]:
    """Return the share of its limit that each margin leaves the friction of a contact."""
    found = dict[str, float]()
    for x in phase.conditions:
        if isinstance(x, During) and isinstance(x.condition, FrictionMargin):
            raise ValueError(
                "FrictionMargin is of whole phases: divide the phase in place of During"
            )
        if isinstance(x, FrictionMargin):
            x.check(phase.dynamics)
            for name in x.list_contacts(phase.dynamics):
                found[name] = min(1 - x.margin, found.get(name, 1.0))
    return found


def _carry_slip(x: ContactInMode, before: Sequence[ContactInMode]) -> ContactInMode:
    """Return a contact whose slip goes on from the phase before, if it does."""
    carries = any(y.name == x.name and y.slips_on_in(x) for y in before)
    return replace(x, carries=(carries, x.carries[1]))


def _hold_joints(x: Collocation, modes: Mapping[str, ContactMode]) -> Collocation:
    """Return a motion whose joints with dry friction slide or rest as their modes say."""
    d = x.dynamics
    owners = [d.joint_names[k] for k in d.friction_joints]
    signs = [
        _find_sign(modes.get(name)) if rubs else np.nan
        for name, rubs in zip(owners, x.creep, strict=True)
    ]
    if np.isnan(signs).all():
        return x
    if d.nq != d.nv:
        raise ValueError(
            "joints with dry friction have no modes beside bodies and ball joints that turn: leave "
            f"out {', '.join(set(owners).intersection(modes))}"
        )
    return RestingCollocation.of(x, np.tile(signs, (x.horizon.steps, 1)))


def _find_sign(mode: ContactMode | None) -> float:
    """Return the sign of the slip in a mode, zero at rest, NaN without a mode."""
    if isinstance(mode, Sliding):
        return mode.sign
    return np.nan if mode is None else 0.0


def _state_program(
    x: Collocation, contacts: Sequence[ContactInMode], constraints: Sequence[ConstraintsInPhase]
) -> StructuredNlp:
    """Return the program of a phase, with what these state at some points alone."""
    nlp, last = x.nlp(), 2 * x.horizon.steps
    blocks = list(nlp.blocks)
    held: list[ContactInMode | ConstraintsInPhase] = [y for y in contacts if y.mode.sticks]
    held += [y for y in constraints if y.forces.rolling]
    if held:
        middle = np.array([last - 1])
        blocks.append(
            x.constrain_points(
                "held", middle, lambda m: [b for y in held for b in y.limit_last_middle(m)]
            )
        )
    if any(y.is_closed_in_bore or y.forces.slip_angles for y in contacts):
        for first in (1, 2):  # midpoints, then nodes
            inner = np.arange(first, last, 2)
            blocks.append(
                x.constrain_points(
                    "closed", inner, lambda m: [b for y in contacts for b in y.inside(m)]
                )
            )
    blocks += limit_turns(x, [y.forces for y in contacts])
    return StructuredNlp(blocks, x.size, len(x.dynamics.parameters) + len(x.creep))


def _find_given_states(
    d: Dynamics, phase: MotionPhase, before: PhaseProgram | None, has_impact: bool
) -> tuple[GivenState, GivenState]:
    """Return what is given at the start and at the end, also by the end of the phase before."""
    start = GivenState.of(d, [x for x in phase.conditions if isinstance(x, StartAt)])
    if before is not None:
        end_before = GivenState.of(d, [x for x in before.phase.conditions if isinstance(x, EndAt)])
        q = np.where(np.isnan(start.q), end_before.q, start.q)
        # In an impact velocities jump.
        v = np.where(np.isnan(start.v) & (not has_impact), end_before.v, start.v)
        start = GivenState(q, v)
    return start, GivenState.of(d, [x for x in phase.conditions if isinstance(x, EndAt)])


def _state_ends(
    d: Dynamics,
    conditions: Sequence[Condition],
    inputs: Sequence[str],
    p: Array,
    postures: Array,
    before: PhaseProgram | None,
    has_impact: bool,
) -> tuple[EndConditions, EndConditions]:
    """Return what is stated at the start and at the end, also at the end of the phase before.

    ``postures`` (2, nq) are those of the guess at its start and end.
    """
    rows = [state_rows(d, conditions, "start", inputs, p)]
    if before is not None:
        x, known = before.transcription, not has_impact  # in an impact velocities jump
        stated = [y for y in before.phase.conditions if not isinstance(y, FrictionMargin)]
        rows.append(
            state_rows(x.dynamics, stated, "end", x.inputs, before.p, with_velocities=known)
        )
    of_ends = rows, [state_rows(d, conditions, "end", inputs, p)]
    start, end = (
        EndConditions.of(d, own, np.append(q, np.zeros(d.nv)))
        for own, q in zip(of_ends, postures, strict=True)
    )
    return start, end
