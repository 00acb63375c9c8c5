"""The motion of several phases as one, of the mechanism with its contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.simulation import AcceptedSteps
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.phases import (
    SLIP,
    InMode,
    PhaseProgram,
    SolvedPhases,
    losses_of_impact,
    sample,
)
from nsopt.trajectory.transcription.base import Array, TranscribedMotion


@dataclass(frozen=True, eq=False)
class PhaseMotion:
    """The motion of one phase.

    Parameters
    ----------
    solved : SolvedPhases
    k : int
        Its number.
    dynamics : Dynamics
        The mechanism with its contacts.
    inputs : sequence of str
        Of the motion.
    """

    solved: SolvedPhases
    k: int
    dynamics: Dynamics
    inputs: Sequence[str]

    @property
    def program(self) -> PhaseProgram:
        """Its program."""
        return self.solved.linked.phases[self.k]

    @cached_property
    def unknowns(self) -> Array:
        """Those of the phase."""
        x: Array = self.solved.solution.x[self.solved.linked.unknowns[self.k]]
        return x

    @cached_property
    def alone(self) -> TranscribedMotion:
        """Of the mechanism whose contacts are forces, its time from zero."""
        linked, k, own = self.solved.linked, self.k, self.program
        part = own.part(self.solved.solution, linked.unknowns[k], linked.rows[k])
        return own.transcription.motion(part, own.p)

    @cached_property
    def fine(self) -> Trajectory:
        """At nodes and midpoints."""
        return self.program.transcription.trajectory(self.unknowns)[1]

    @cached_property
    def forces(self) -> tuple[Array, Array]:
        """Normal forces (2 n + 1, ng) and friction (2 n + 1, ns) at nodes and midpoints [N]."""
        parts = [self._of_contact(y) for y in self.program.in_modes]
        normal, friction = (np.hstack([x[i] for x in parts]) for i in (0, 1))
        return normal, friction

    def _of_contact(self, y: InMode) -> tuple[Array, Array]:
        names = list(self.program.transcription.inputs)
        given = self.fine.inputs[:, [names.index(name) for name in y.forces.inputs]].T
        n = len(self.fine.q)
        found = y.gap_forces.map(n)(self.fine.q.T, np.tile(self.program.p[:, None], n), given)
        normal, friction = (np.asarray(x).reshape(-1, n).T for x in found)
        return normal, friction

    @property
    def columns(self) -> list[int]:
        """Of the inputs of the phase, those of the motion."""
        names = list(self.program.transcription.inputs)
        return [names.index(name) for name in self.inputs]

    @property
    def impact(self) -> tuple[Array, Array, Array]:
        """Impulses at its start, normal (ng,) and tangential (ns,) [N s], and losses (ng,) [J]."""
        linked, d = self.solved.linked, self.dynamics
        struck = self.solved.solution.x[linked.impulses[self.k]]
        given, losses, at = dict[str, tuple[Array, Array]](), {}, 0
        if struck.size:
            before = PhaseMotion(self.solved, self.k - 1, d, self.inputs).fine
            state = self.fine.q[0], before.v[-1], self.fine.v[0]
            losses = losses_of_impact(self.program, *state, struck)
        for name, y in self.program.striking.items():  # in the order of the impulses
            n = len(y.forces.inputs)
            parts = y.gap_forces(self.fine.q[0], self.program.p, struck[at : at + n])
            pressed, rubbed = (np.asarray(x).ravel() for x in parts)
            given[name], at = (pressed, rubbed), at + n
        normal, friction, loss = [], [], []
        for y in self.program.in_modes:
            name, gaps, slips = y.forces.name, y.motion.numel_out(0), y.motion.numel_out(SLIP)
            own = given.get(name, (np.zeros(gaps), np.zeros(slips)))
            normal.append(own[0])
            friction.append(own[1])
            loss.append(np.full(gaps, losses.get(name, 0.0) / gaps))
        return np.concatenate(normal), np.concatenate(friction), np.concatenate(loss)

    def steps(self, begin: float, after: PhaseMotion | None) -> AcceptedSteps:
        """Return its steps, the last one with the impact at the start of the phase after it."""
        x, d = self.alone.accepted, self.dynamics
        h = x.h[:, None]
        impulse, slip = (h / 6 * (f[:-2:2] + 4 * f[1::2] + f[2::2]) for f in self.forces)
        impact, v, loss = np.zeros_like(impulse), x.v.copy(), self._losses(x)
        if after is not None:
            normal, friction, taken = after.impact
            impact[-1], v[-1] = normal, after.fine.v[0]
            impulse[-1] += normal
            slip[-1] += friction
            loss[-1, : len(taken)] += taken
        return replace(
            x,
            t=x.t + begin,
            v=v,
            impulse=impulse,
            impact_impulse=impact,
            contact_mode=np.zeros_like(impulse),
            joint_impulse=np.zeros((len(x), len(d.multiplier_names))),
            slip_impulse=slip,
            loss=loss,
        )

    def _losses(self, x: AcceptedSteps) -> Array:
        """Return what contacts take in each step, (n, contacts) [J], rigid ones first."""
        names = list(self.program.transcription.dynamics.pressed_names)
        pressed = x.loss[:, [names.index(name) for name in self.dynamics.pressed_names]]
        power = np.hstack([self._power_of_friction(y) for y in self.program.in_modes])
        rigid = -x.h[:, None] / 6 * (power[:-2:2] + 4 * power[1::2] + power[2::2])
        return np.hstack([rigid, pressed])

    def _power_of_friction(self, y: InMode) -> Array:
        """Return the power of the friction of each gap at nodes and midpoints, (2 n + 1, g) [W]."""
        fine, p = self.fine, self.program.p
        n, gaps = len(fine.q), y.forces.contact.gaps(sample(y.dynamics).state)
        rows = np.zeros((1, n)), fine.q.T, fine.v.T, fine.a.T, np.tile(p[:, None], n)
        power = np.asarray(y.motion.map(n)(*rows)[SLIP]).T * self._of_contact(y)[1]
        parts = np.split(power, np.cumsum([gap.slip.numel() for gap in gaps])[:-1], axis=1)
        return np.column_stack([part.sum(axis=1) for part in parts])


def join_phases(solved: SolvedPhases, d: Dynamics, inputs: Sequence[str]) -> TranscribedMotion:
    """Return the motion of all phases as one, its nodes closer where phases are shorter.

    At a border the state is that with which the phase begins; the impact there is one of the step
    before.

    Parameters
    ----------
    solved : SolvedPhases
    d : Dynamics
        The mechanism with its contacts.
    inputs : sequence of str
        Of the motion.
    """
    parts = [PhaseMotion(solved, k, d, inputs) for k in range(len(solved.linked.phases))]
    borders = solved.borders
    followed = zip(parts, borders[:-1].tolist(), [*parts[1:], None], strict=True)
    accepted = AcceptedSteps.join([x.steps(begin, after) for x, begin, after in followed])
    n, spent = len(accepted), solved.solution  # by all phases together
    iterations, seconds = np.full(n, spent.iterations / n), np.full(n, spent.time / n)
    accepted = replace(accepted, iterations=iterations, solve_time=seconds)
    columns = [[*range(d.nv), *(d.nv + k for k in x.columns)] for x in parts]
    controls = [x.alone.step_controls[:, :, own] for x, own in zip(parts, columns, strict=True)]
    nodes = [x.alone.nodes for x in parts]
    q, v, a, u, drive, normal = (
        _at_nodes(values)
        for values in (
            [x.q for x in nodes],
            [x.v for x in nodes],
            [x.a for x in nodes],
            [x.inputs[:, y.columns] for x, y in zip(nodes, parts, strict=True)],
            [x.alone.drive for x in parts],
            [x.forces[0][::2] for x in parts],
        )
    )

    def control(now: float) -> Array:
        """Return drives and inputs, those of the phase that begins there at a border."""
        k = min(int(np.searchsorted(borders, now, side="right")) - 1, len(parts) - 1)
        return np.asarray(parts[k].alone.controls(now - float(borders[k])))[columns[k]]

    worst = max((x.alone for x in parts), key=lambda x: x.defect)
    return TranscribedMotion(
        np.append(0.0, accepted.t),
        Trajectory(q, v, a, u, float(borders[-1])),
        drive,
        normal,
        accepted,
        np.concatenate(controls),
        control,
        worst.defects,
        _over_steps([x.alone.middle_accelerations for x in parts]),
        _over_steps([x.alone.step_drives for x in parts]),
        _over_steps([x.alone.step_friction for x in parts]),
        last_accelerations=np.concatenate([x.alone.nodes.a[1:] for x in parts]),
    )


def _at_nodes(values: Sequence[Array]) -> Array:
    """Return values at nodes of phases as those of the whole, at borders of the one that begins."""
    return np.concatenate([*(x[:-1] for x in values[:-1]), values[-1]])


def _over_steps(values: Sequence[Array | None]) -> Array | None:
    known = [x for x in values if x is not None]
    return np.concatenate(known) if len(known) == len(values) else None
