"""Contacts where phases begin and end: which of them are at the limit of their mode.

There a neighbouring sequence, with one more phase in another mode, may cost less: `ExactContacts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nsopt.arrays import Array
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.phases import (
    ContactInMode,
    ContactMode,
    Open,
    PhaseProgram,
    Sliding,
    SolvedPhases,
    Sticking,
    sample_symbols,
)
from nsopt.trajectory.smoothing.dry_friction import find_rubbing_joints

NEAR_ZERO = 1e-3  # of the largest gap, force or slip of the motion: less counts as zero
TINY = 1e-300  # a divisor in place of zero
AT_CONE = 0.98  # of mu f_n: with more friction sliding is tried; a wrong try costs one solve


@dataclass(frozen=True)
class ContactAtBorder:
    """A contact, or a joint with dry friction, where a phase begins or ends."""

    phase: int  # number of the phase
    at_end: bool  # of the phase, else at its start
    contact: str  # name of the contact or joint
    mode: ContactMode
    in_space: bool  # whether it slides in any direction of a plane
    gap: float  # this, force and slip are divided by the largest ones of the motion
    force: float
    slip: float
    friction: float  # over mu f_n, in the plane with its sign; NaN without friction

    def other_modes(self) -> list[ContactMode]:
        """Return the modes that it may change to there.

        An open contact may close where its gap is zero, a closed one open where its force is. One
        that sticks may slide where its friction is at the cone; one that slides may stick or
        reverse where its slip is zero.
        """
        has_friction = not np.isnan(self.friction)
        if not self.mode.closed:
            closes = self.gap <= NEAR_ZERO
            return [Sticking() if has_friction else Sliding()] if closes else []
        modes: list[ContactMode] = [Open()] if self.force <= NEAR_ZERO else []
        if self.mode.sticks and abs(self.friction) >= AT_CONE:
            # Friction is against the slip.
            modes.append(Sliding(forwards=self.in_space or self.friction < 0))
        if isinstance(self.mode, Sliding) and has_friction and self.slip <= NEAR_ZERO:
            modes += (
                [Sticking()] if self.in_space else [Sticking(), Sliding(not self.mode.forwards)]
            )
        return modes


def find_at_borders(solved: SolvedPhases) -> list[ContactAtBorder]:
    """Return all contacts at the start and the end of each phase."""
    phases = solved.linked.phases
    measured = [
        {x.name: _measure_contact(phase, x, solved.trajectory(k)) for x in phase.contacts}
        for k, phase in enumerate(phases)
    ]
    largest = {  # gap, force and slip over the whole motion
        name: [max(float(phase[name][i].max(initial=0.0)) for phase in measured) for i in range(3)]
        for name in measured[0]
    }
    found = []
    for k, phase in enumerate(phases):
        for contact in phase.contacts:
            *values, friction = measured[k][contact.name]
            for point, at_end in ((0, False), (-1, True)):
                gap, force, slip = (
                    float(value[point]) / max(most, TINY)
                    for value, most in zip(values, largest[contact.name], strict=True)
                )
                where = k, at_end, contact.name, contact.mode, contact.is_in_space
                found.append(ContactAtBorder(*where, gap, force, slip, float(friction[point])))
    return [*found, *_list_joints_at_borders(solved)]


def _list_joints_at_borders(solved: SolvedPhases) -> Iterator[ContactAtBorder]:
    """Yield the joints with dry friction at the start and the end of each phase, as contacts.

    One that rests may slide either way.
    """
    phases = [x.phase.modes for x in solved.linked.phases]
    d = solved.linked.phases[0].transcription.dynamics
    for joint in find_rubbing_joints(d):
        column = d.v_owners.index(joint)
        speeds = [np.abs(solved.trajectory(k).v[:, column]) for k in range(len(phases))]
        most = max(float(x.max()) for x in speeds)
        for k, (modes, v) in enumerate(zip(phases, speeds, strict=True)):
            for point, at_end in ((0, False), (-1, True)):
                slip = float(v[point]) / max(most, TINY)
                # At the cone, on either side: so it is tried whether it slides, either way.
                for friction in (1.0, -1.0) if modes[joint].sticks else (0.0,):
                    where = k, at_end, joint, modes[joint], False
                    yield ContactAtBorder(*where, 0.0, 1.0, slip, friction)


def _measure_contact(
    phase: PhaseProgram, contact: ContactInMode, fine: Trajectory
) -> tuple[Array, Array, Array, Array]:
    """Return gap [m], force [N], slip [m/s] and friction over mu f_n at n points of a phase, (n,).

    Each is the largest of all gaps of the contact.
    """
    gap, _, slip, *_ = contact.measure(fine, phase.p)
    n, forces = len(fine.q), phase.read_forces(contact, fine)
    normal = forces[: len(contact.forces.normal)]
    friction = _measure_friction(phase, contact, fine.q, forces)
    return _find_largest(gap, n), _find_largest(normal, n), _find_largest(slip, n), friction


def _find_largest(values: Array, n: int) -> Array:
    """Return the largest magnitude of values (gaps, n) at each point, (n,); zero without any."""
    return np.abs(values).max(axis=0) if len(values) else np.zeros(n)


def _measure_friction(
    phase: PhaseProgram, contact: ContactInMode, q: Array, forces: Array
) -> Array:
    """Return friction over mu f_n of the gap nearest to its cone, (n,).

    NaN without friction, zero unless the contact sticks and may slide.
    """
    n, gaps = len(q), len(contact.forces.normal)
    if not contact.has_friction:
        return np.full(n, np.nan)
    if not contact.mode.sticks or contact.forces.share < 1:
        return np.zeros(n)
    margins = contact.force_margins.map(n)(q.T, np.tile(phase.p[:, None], n), forces)
    of_friction = np.asarray(margins)[gaps:]
    symbols = sample_symbols(contact.dynamics).state
    sizes = [gap.slip.numel() for gap in contact.forces.contact.gaps(symbols)]
    # A gap in the plane has the margins mu f_n - f and mu f_n + f, one in space mu f_n - |f|.
    rows = np.split(of_friction, np.cumsum([2 if size == 1 else 1 for size in sizes])[:-1])
    parts = np.split(forces[gaps:], np.cumsum(sizes)[:-1])
    shares = np.array([_divide_by_limit(f, row) for f, row in zip(parts, rows, strict=True)])
    k = np.abs(shares).argmax(axis=0)
    return np.asarray(shares[k, np.arange(n)])


def _divide_by_limit(friction: Array, margins: Array) -> Array:
    """Return the friction (1 or 2, n) of a gap divided by mu f_n, (n,), from its margins."""
    if len(friction) == 1:
        minus, plus = margins  # mu f_n - f, mu f_n + f
        return np.asarray((plus - minus) / np.maximum(plus + minus, TINY))
    size = np.linalg.norm(friction, axis=0)
    return np.asarray(size / np.maximum(margins[0] + size, TINY))
