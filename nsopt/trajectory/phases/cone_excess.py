"""How far friction exceeds its limit in phases: cones in space have a rounded tip.

What is found here becomes attributes of the result, of which `nsopt.caveats` warn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.trajectory.friction_cone import find_least_limit
from nsopt.trajectory.phases.mode_conditions import ContactInMode
from nsopt.trajectory.phases.modes import sample_symbols
from nsopt.trajectory.phases.phase import PhaseProgram
from nsopt.trajectory.phases.solve import SolvedPhases

BRIEF = 1e-2  # of the duration: what friction does in it at most is little beside an impulse
UNLOADED = 1e-2  # of `find_least_limit`: a contact with a lower limit all along bears nothing


class _Friction(NamedTuple):
    """Friction of a contact and its limits, (n, gaps) [N], or impulses [N s]."""

    size: Array
    limit: Array

    @property
    def excess(self) -> Array:
        """Largest excess of all gaps, (n,)."""
        return np.asarray((self.size - self.limit).max(axis=1, initial=0.0))

    @property
    def most(self) -> float:
        """The largest limit."""
        return float(self.limit.max(initial=0.0))


def find_cone_excess(solved: SolvedPhases) -> list[dict[str, Any]]:
    """Return attributes of each phase: the contact whose friction exceeds its limit by most.

    Its excess over the largest limit of the contact in all phases, at nodes and midpoints and in
    the impact at the start; its name, and the time [s] from the start of the phase. {} for none.
    """
    phases, found = solved.linked.phases, [dict[str, Any]() for _ in solved.linked.phases]
    names = dict.fromkeys(x.name for phase in phases for x in phase.contacts if x.has_friction)
    least = UNLOADED * min(_find_least_limit(x) for x in phases)
    for name in names:
        forces = [_read_forces(solved, k, name) for k in range(len(phases))]
        impulses = [_read_impulses(solved, k, name) for k in range(len(phases))]
        of_force = max(least, *(x.most for x in forces))
        brief = BRIEF * float(solved.borders[-1]) * of_force
        of_impulse = max(brief, *(x.most for x in impulses))
        for k, (force, impulse) in enumerate(zip(forces, impulses, strict=True)):
            points = force.excess / of_force
            points[0] = max(points[0], float(impulse.excess[0]) / of_impulse)
            at, lengths = int(points.argmax()), np.diff(solved.borders)
            if points[at] > found[k].get("cone_excess", 0.0):
                t = float(lengths[k]) * at / (len(points) - 1)
                values = float(points[at]), name, t
                keys = "cone_excess", "cone_excess_contact", "cone_excess_time"
                found[k] = dict(zip(keys, values, strict=True))
    return found


def join_cone_excess(solved: SolvedPhases) -> dict[str, Any]:
    """Return the attributes of the whole motion: those of the phase with the largest excess."""
    found = [
        {**x, "cone_excess_time": begin + x["cone_excess_time"]}
        for x, begin in zip(find_cone_excess(solved), solved.borders.tolist(), strict=False)
        if x
    ]
    return max(found, key=lambda x: x["cone_excess"], default={})


def _find_least_limit(phase: PhaseProgram) -> float:
    """Return `find_least_limit` of the mechanism of a phase [N]."""
    m = sample_symbols(phase.transcription.dynamics)
    return float(ca.Function("least", [m.p], [find_least_limit(m)])(phase.p))


def _read_forces(solved: SolvedPhases, k: int, name: str) -> _Friction:
    """Return the friction of a contact at all points of phase k, zero if it is not in its modes."""
    phase, fine = solved.linked.phases[k], solved.trajectory(k)
    for contact in phase.contacts:
        if contact.name == name:
            return _measure(contact, fine.q, phase.p, phase.read_forces(contact, fine))
    return _Friction(*np.zeros((2, len(fine.q), 1)))


def _read_impulses(solved: SolvedPhases, k: int, name: str) -> _Friction:
    """Return the friction of a contact in the impact with which phase k begins, zero for none."""
    phase, q = solved.linked.phases[k], solved.trajectory(k).q[:1]
    for contact, part in phase.divide_impulses(solved.solution.x[solved.linked.impulses[k]]):
        if contact.name == name:
            return _measure(contact, q, phase.p, np.asarray(part)[:, None])
    return _Friction(*np.zeros((2, 1, 1)))


def _measure(contact: ContactInMode, q: Array, p: Array, inputs: Array) -> _Friction:
    """Return the friction of a contact by postures q (n, nq) and its inputs (k, n)."""
    m, n = sample_symbols(contact.dynamics), len(q)
    gaps = contact.forces.contact.gaps(m.state)
    mu = ca.vertcat(*(m.state.value(x.law.friction) for x in gaps))
    limits = contact.forces.share * np.asarray(ca.Function("mu", [m.p], [mu])(p)).ravel()
    found = contact.gap_forces.map(n)(q.T, np.tile(p[:, None], n), inputs)
    normal, friction = (np.asarray(x).reshape(-1, n).T for x in found)
    sizes = np.cumsum([x.slip.numel() for x in gaps])[:-1]
    parts = np.split(friction, sizes, axis=1)
    size = np.column_stack([np.linalg.norm(x, axis=1) for x in parts])
    return _Friction(size, limits * np.maximum(normal, 0.0))
