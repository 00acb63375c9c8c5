"""The motion of several phases as one, of the mechanism with its contacts: `join_phases`.

Phases have contact forces as inputs; here they are forces of contacts again, for the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsopt.arrays import Array
from nsopt.caveats import measure_alternation
from nsopt.mechanics import Dynamics
from nsopt.simulation import AcceptedSteps
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.phases import (
    SLIP,
    ContactInMode,
    PhaseProgram,
    SolvedPhases,
    compute_impact_losses,
    sample_symbols,
)
from nsopt.trajectory.transcription.base import TranscribedMotion


@dataclass(frozen=True, eq=False)
class PhaseMotion:
    """The motion of one phase."""

    solved: SolvedPhases
    k: int  # number of the phase
    dynamics: Dynamics  # with its contacts
    inputs: Sequence[str]  # of the whole motion: those of the phase without contact forces

    @property
    def program(self) -> PhaseProgram:
        """The program of the phase."""
        return self.solved.linked.phases[self.k]

    @cached_property
    def motion(self) -> TranscribedMotion:
        """The motion with contact forces as inputs, its time from zero."""
        return self.solved.motion(self.k)

    @cached_property
    def fine(self) -> Trajectory:
        """The trajectory at the nodes and midpoints of n steps, 2 n + 1 points."""
        return self.solved.trajectory(self.k)

    @cached_property
    def forces(self) -> tuple[Array, Array]:
        """Normal forces (2 n + 1, gaps) and friction (2 n + 1, tangents) [N], as of `fine`."""
        parts = [self.compute_forces(contact) for contact in self.program.contacts]
        none = np.zeros((len(self.fine.q), 0))  # of a motion without contacts
        normal, friction = (np.hstack([none, *(x[i] for x in parts)]) for i in (0, 1))
        return normal, friction

    def compute_forces(self, contact: ContactInMode) -> tuple[Array, Array]:
        """Return normal forces and friction of one contact; see `forces`."""
        inputs, n = self.program.read_forces(contact, self.fine), len(self.fine.q)
        p = np.tile(self.program.p[:, None], n)
        found = contact.gap_forces.map(n)(self.fine.q.T, p, inputs)
        normal, friction = (np.asarray(x).reshape(-1, n).T for x in found)
        return normal, friction

    @property
    def input_columns(self) -> list[int]:
        """Indices of the inputs of the whole motion among those of the phase."""
        names = list(self.program.transcription.inputs)
        return [names.index(name) for name in self.inputs]

    @property
    def start_impact(self) -> tuple[Array, Array, Array]:
        """At its start normal, tangential impulse (gaps,), (tangents,) [N s], loss (gaps,) [J]."""
        impulses = self.solved.solution.x[self.solved.linked.impulses[self.k]]
        own, by_contact = self.program, dict[str, list[Array]]()
        losses = compute_impact_losses(self.solved, self.k)
        for contact, part in own.divide_impulses(impulses):
            forces = contact.gap_forces(self.fine.q[0], own.p, part)
            by_contact[contact.name] = [np.asarray(x).ravel() for x in forces]
        none = np.zeros(0)
        found: list[tuple[Array, ...]] = [(none, none, none)]  # of a motion without contacts
        for contact in own.contacts:
            gaps, tangents = contact.motion.numel_out(0), contact.motion.numel_out(SLIP)
            impulse = by_contact.get(contact.name, [np.zeros(gaps), np.zeros(tangents)])
            found.append((*impulse, np.full(gaps, losses.get(contact.name, 0.0) / gaps)))
        normal, tangential, loss = (np.concatenate(x) for x in zip(*found, strict=True))
        return normal, tangential, loss

    def _read_multipliers(self, inputs: Array) -> Array:
        """Return multipliers of ideal joints (n, nm) of inputs (n, k)."""
        found = np.zeros((len(inputs), len(self.dynamics.multiplier_names)))
        names = list(self.program.transcription.inputs)
        for constraints in self.program.constraints:
            own = inputs[:, [names.index(name) for name in constraints.forces.inputs]]
            found += own @ constraints.forces.rows
        return found

    @property
    def joint_impact(self) -> Array:
        """Impulses of ideal joints in the impact at its start, (nm,) [N s, N m s]."""
        impulses = self.solved.solution.x[self.solved.linked.impulses[self.k]]
        found = np.zeros(len(self.dynamics.multiplier_names))
        for constraints in self.program.constraints:
            own = self.program.read_constraint_impulses(impulses)
            found += own @ constraints.forces.rows if own.size else 0
        return found

    def steps(self, begin: float, after: PhaseMotion | None) -> AcceptedSteps:
        """Return its steps, whose time begins at ``begin`` [s], with the impact at their end."""
        x = self.motion.accepted
        impulse, slip = (_integrate(x.h, f) for f in self.forces)
        joint = _integrate(x.h, self._read_multipliers(self.fine.inputs))
        impact, v, loss = np.zeros_like(impulse), x.v.copy(), self._compute_losses(x)
        if after is not None:
            normal, tangential, lost = after.start_impact
            impact[-1], v[-1] = normal, after.fine.v[0]
            impulse[-1] += normal
            slip[-1] += tangential
            joint[-1] += after.joint_impact
            loss[-1, : len(lost)] += lost
        return replace(
            x,
            t=x.t + begin,
            v=v,
            impulse=impulse,
            impact_impulse=impact,
            contact_mode=np.zeros_like(impulse),
            joint_impulse=joint,
            slip_impulse=slip,
            loss=loss,
        )

    def _compute_losses(self, x: AcceptedSteps) -> Array:
        """Return the energy lost in contacts in each step, (n, contacts) [J], rigid ones first."""
        names = list(self.program.transcription.dynamics.pressed_names)
        compliant = x.loss[:, [names.index(name) for name in self.dynamics.pressed_names]]
        none = np.zeros((2 * len(x.h) + 1, 0))
        power = np.hstack([none, *map(self._compute_friction_power, self.program.contacts)])
        return np.hstack([-_integrate(x.h, power), compliant])

    def _compute_friction_power(self, contact: ContactInMode) -> Array:
        """Return the power of the friction of each gap, (2 n + 1, gaps) [W], as of `fine`."""
        gaps = contact.forces.contact.gaps(sample_symbols(contact.dynamics).state)
        slip = contact.measure(self.fine, self.program.p)[SLIP]
        power = slip.T * self.compute_forces(contact)[1]
        parts = np.split(power, np.cumsum([gap.slip.numel() for gap in gaps])[:-1], axis=1)
        return np.column_stack([part.sum(axis=1) for part in parts])


def measure_alternation_in_bores(solved: SolvedPhases, d: Dynamics, inputs: Sequence[str]) -> float:
    """Return which part of a force in a bore alternates at most; see `measure_alternation`.

    ``d`` is the mechanism with its contacts.
    """
    return max(
        (
            measure_alternation(force)
            for k, phase in enumerate(solved.linked.phases)
            for contact in phase.closed_contacts.values()
            if contact.is_closed_in_bore
            for force in PhaseMotion(solved, k, d, inputs).compute_forces(contact)[0].T
        ),
        default=0.0,
    )


def join_phases(solved: SolvedPhases, d: Dynamics, inputs: Sequence[str]) -> TranscribedMotion:
    """Return the motion of all phases as one, its nodes closer where phases are shorter.

    The state at a border is that with which the next phase begins: an impact there belongs to the
    step before. ``d`` is the mechanism with its contacts.
    """
    parts = [PhaseMotion(solved, k, d, inputs) for k in range(len(solved.linked.phases))]
    borders = solved.borders
    followed = zip(parts, borders[:-1].tolist(), [*parts[1:], None], strict=True)
    accepted = AcceptedSteps.join([x.steps(begin, after) for x, begin, after in followed])
    n, whole = len(accepted), solved.solution  # all phases were solved together
    iterations, seconds = np.full(n, whole.iterations / n), np.full(n, whole.time / n)
    accepted = replace(accepted, iterations=iterations, solve_time=seconds)
    # Controls are drives (nv,), then inputs.
    columns = [[*range(d.nv), *(d.nv + k for k in x.input_columns)] for x in parts]
    alone = [x.motion for x in parts]
    controls = [x.step_controls[:, :, own] for x, own in zip(alone, columns, strict=True)]
    # At a border the node of the next phase counts.
    nodes = [
        (*x.nodes[:3], x.nodes.inputs[:, y.input_columns], x.drive, *(f[::2] for f in y.forces))
        for x, y in zip(alone, parts, strict=True)
    ]
    q, v, a, u, drive, normal, friction = (
        np.concatenate([*(x[:-1] for x in of_phases[:-1]), of_phases[-1]])
        for of_phases in zip(*nodes, strict=True)
    )

    def control(now: float) -> Array:
        """Return drives and inputs at a time [s], at a border those of the next phase."""
        k = min(int(np.searchsorted(borders, now, side="right")) - 1, len(parts) - 1)
        return np.asarray(alone[k].controls(now - float(borders[k])))[columns[k]]

    return TranscribedMotion(
        t=np.append(0.0, accepted.t),
        nodes=Trajectory(q, v, a, u, float(borders[-1])),
        drive=drive,
        normal_force=normal,
        friction=friction,
        accepted=accepted,
        step_controls=np.concatenate(controls),
        controls=control,
        defects=max(alone, key=lambda x: x.defect).defects,
        middle_accelerations=_join_steps([x.middle_accelerations for x in alone]),
        step_drives=_join_steps([x.step_drives for x in alone]),
        step_friction=_join_steps([x.step_friction for x in alone]),
        last_accelerations=np.concatenate([x.nodes.a[1:] for x in alone]),
    )


def _integrate(h: Array, values: Array) -> Array:
    """Return the integral over each step, (n, k), of values (2 n + 1, k) by Simpson's rule."""
    return h[:, None] / 6 * (values[:-2:2] + 4 * values[1::2] + values[2::2])


def _join_steps(values: Sequence[Array | None]) -> Array | None:
    """Return values over the steps of all phases; None unless all have them."""
    known = [x for x in values if x is not None]
    return np.concatenate(known) if len(known) == len(values) else None
