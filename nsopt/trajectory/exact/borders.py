"""Contacts where phases begin and end: which of them are at the limit of their mode."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsopt.trajectory.phases import (
    ContactMode,
    ContactMotion,
    InMode,
    Open,
    PhaseProgram,
    Sliding,
    SolvedPhases,
    Sticking,
    sample,
)
from nsopt.trajectory.transcription.base import Array

NEAR = 1e-3
"""Of its largest gap, force or slip in the motion, what counts as none."""

TINY = 1e-300

ON_CONE = 0.98
"""Of the friction that a contact can give, that from which it may slide."""


@dataclass(frozen=True)
class ContactAtBorder:
    """A contact where a phase begins or ends.

    Attributes
    ----------
    phase : int
    at_end : bool
    contact : str
    mode : ContactMode
        Of the phase.
    gap, force, slip : float
        Over the largest of the motion.
    friction : float
        Over what the contact can give, of the sign of its force; NaN without friction.
    """

    phase: int
    at_end: bool
    contact: str
    mode: ContactMode
    gap: float
    force: float
    slip: float
    friction: float

    def other_modes(self) -> list[ContactMode]:
        """Return the modes that it may change to there.

        A closed gap may press, without a force it may open; what sticks slides from its cone on,
        against its friction, what slides and is slow may stick or turn round.
        """
        rubs = not np.isnan(self.friction)
        if not self.mode.closed:
            return [Sticking() if rubs else Sliding()] if self.gap <= NEAR else []
        found: list[ContactMode] = [Open()] if self.force <= NEAR else []
        if self.mode.sticks and abs(self.friction) >= ON_CONE:
            found.append(Sliding(forwards=self.friction < 0))
        if isinstance(self.mode, Sliding) and rubs and self.slip <= NEAR:
            found += [Sticking(), Sliding(not self.mode.forwards)]
        return found


def find_at_borders(solved: SolvedPhases) -> list[ContactAtBorder]:
    """Return all contacts at the start and the end of each phase."""
    linked, x = solved.linked, solved.solution.x
    known = [
        {y.forces.name: _along(phase, y, x[own]) for y in phase.in_modes}
        for phase, own in zip(linked.phases, linked.unknowns, strict=True)
    ]
    names = list(known[0])
    largest = {
        name: [max(float(part[name][i].max(initial=0.0)) for part in known) for i in range(3)]
        for name in names
    }
    found = []
    for k, phase in enumerate(linked.phases):
        for y in phase.in_modes:
            name = y.forces.name
            *sizes, friction = known[k][name]
            for point in (0, -1):
                shares = [
                    float(size[point]) / max(most, TINY)
                    for size, most in zip(sizes, largest[name], strict=True)
                ]
                gap, force, slip = shares
                where = k, point < 0, name, y.forces.mode
                found.append(ContactAtBorder(*where, gap, force, slip, float(friction[point])))
    return found


def _along(phase: PhaseProgram, y: InMode, x: Array) -> tuple[Array, Array, Array, Array]:
    """Return gap, force, slip and share of friction of a contact at all points, (n,) each.

    The largest of its gaps, forces and slips; the share where it is largest.
    """
    fine = phase.transcription.trajectory(x)[1]
    n = len(fine.q)
    rows = np.zeros((1, n)), fine.q.T, fine.v.T, fine.a.T, np.tile(phase.p[:, None], n)
    motion = dict(zip(ContactMotion._fields, y.motion.map(n)(*rows), strict=True))
    names = list(phase.transcription.inputs)
    forces = fine.inputs[:, [names.index(name) for name in y.forces.inputs]].T
    normal = forces[: len(y.forces.normal)]
    gap, slip = (_largest(np.asarray(motion[x]), n) for x in ("distance", "slip"))
    friction = _share_of_friction(phase, y, fine.q, forces)
    return gap, _largest(normal, n), slip, friction


def _largest(values: Array, n: int) -> Array:
    return np.abs(values).max(axis=0) if len(values) else np.zeros(n)


def _share_of_friction(phase: PhaseProgram, y: InMode, q: Array, forces: Array) -> Array:
    """Return the largest friction over what its gap can give, (n,); NaN without friction."""
    n, gaps = len(q), len(y.forces.normal)
    if not y.slips:
        return np.full(n, np.nan)
    if not y.forces.mode.sticks:
        return np.zeros(n)
    cone = np.asarray(y.impulse.map(n)(q.T, np.tile(phase.p[:, None], n), forces)[1])[gaps:]
    sizes = [gap.slip.numel() for gap in y.forces.contact.gaps(sample(y.dynamics).state)]
    # In the plane rows are mu f_n - f and mu f_n + f of a gap, in space mu f_n - |f|.
    rows = np.split(cone, np.cumsum([2 if size == 1 else 1 for size in sizes])[:-1])
    parts = np.split(forces[gaps:], np.cumsum(sizes)[:-1])
    shares = np.array([_share(row, part) for row, part in zip(rows, parts, strict=True)])
    k = np.abs(shares).argmax(axis=0)
    return np.asarray(shares[k, np.arange(n)])


def _share(rows: Array, friction: Array) -> Array:
    """Return the friction of a gap (k, n) over what it can give, (n,), from rows of its cone."""
    if len(friction) == 1:
        less, more = rows
        return np.asarray((more - less) / np.maximum(more + less, TINY))
    size = np.linalg.norm(friction, axis=0)
    return np.asarray(size / np.maximum(rows[0] + size, TINY))
