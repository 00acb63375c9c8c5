"""What a step must meet before it counts, recomputed from its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.stepping.scheme import Step, StepStart

Array = NDArray[np.float64]

ROUND_OFF = 1e-9
"""Of an impulse or energy, the part that is not told from zero."""


class StepEnd(NamedTuple):
    """A solved step in numbers (or, when stated, in expressions)."""

    h: Any  # (1,) [s]
    q: Any  # (nq,)
    v: Any  # (nv,)
    impulse: Any  # (ng,) [N s]
    joint_impulse: Any  # (nc,)
    gap: Any  # (ng,) [m] what complements the impulse
    motion: Any  # (nv,) [N, N m] residual of the equations of motion
    closure: Any  # (nc,) [m, 1] of the ideal joints
    turn: Any  # (ng,) cosine between the normals at both ends where a contact presses, 1 elsewhere
    contact_work: Any  # (1,) [J]
    kinetic_energy: Any  # (1,) [J] mean of both ends
    energy_gain: Any  # (1,) [J] less the work of applied loads
    energy_error: Any  # (1,) [J] embedded estimate
    energy_size: Any  # (1,) [J] of the energies whose difference is the gain

    @classmethod
    def stated(cls, d: Dynamics, start: StepStart, h: ca.SX, step: Step) -> StepEnd:
        """Return the end of a step as dense expressions."""
        here = (start.t, start.q, start.v, start.p)
        there = (start.t + h, step.q, step.v, start.p)
        work = h * ca.dot(d.external(*here), (start.v + step.v) / 2)
        energies = [f(*at) for f in (d.kinetic, d.potential) for at in (there, here)]
        end = cls(
            h,
            step.q,
            step.v,
            step.impulse,
            step.joint_impulse,
            step.gap,
            step.motion_residual,
            step.closure,
            _turn(d, start, h, step),
            step.contact_work,
            (energies[0] + energies[1]) / 2,
            energies[0] - energies[1] + energies[2] - energies[3] - work,
            step.energy_error,
            ca.sum1(ca.fabs(ca.vertcat(*energies))),
        )
        return cls(*(ca.densify(expression) for expression in end))


def _turn(d: Dynamics, start: StepStart, h: ca.SX, step: Step) -> ca.SX:
    before, after = (start.t, start.q, start.p), (start.t + h, step.q, start.p)
    cosine = ca.sum1(d.contact_normals(*before) * d.contact_normals(*after)).T
    momentum = d.mass(start.q, start.p) @ start.v
    load = h * d.applied(start.t, start.q, start.v, start.p)
    size = ca.norm_inf(ca.fabs(momentum) + ca.fabs(load))
    # On the axis of a bore the contact has no direction and its impulse no effect: slope 0.
    presses = d.slope(*before) * step.impulse > ROUND_OFF * size
    return ca.if_else(presses, cosine, 1)


@dataclass(frozen=True)
class Acceptance:
    """What a step must meet; a solver's word counts for nothing.

    Parameters
    ----------
    motion : float [N, N m]
        Equations of motion.
    gap : float [m]
        How far a gap may be violated.
    closure : float [m, rad]
        Ideal joints.
    complementarity : float [N m]
        Force times gap.
    contact_work : float
        Positive work of the contact impulses over the kinetic energy: inelastic contacts do none,
        but for what their directions turn in a step, (w h)^2 of the kinetic energy.
    energy : float
        Energy gained, less the work of applied loads, over the estimate of its local error.

    Notes
    -----
    Gaps and joints are judged as the scheme takes them: at the stored coordinates, or linearised
    where it was asked for the printed form. The record always shows the true ones.

    A contact that presses must still push off its wall at the end of the step: where the contact
    travels further than the clearance in one step, the direction frozen at its start can point
    into the opposite wall, and the equations have solutions that are no motion of the mechanism.
    """

    motion: float = 1e-9
    gap: float = 1e-10
    closure: float = 1e-10
    complementarity: float = 1e-9
    contact_work: float = 0.01
    energy: float = 10.0

    def fault(self, end: StepEnd, d: Dynamics) -> str:
        """Return what keeps a step from being accepted, in words; empty if nothing does."""
        if not all(np.all(np.isfinite(x)) for x in end):
            return "a number that is not finite"
        return self._residual(end, d) or self._contact(end, d) or self._energy(end)

    def _residual(self, end: StepEnd, d: Dynamics) -> str:
        force = end.impulse / end.h
        checks = (
            ("equation of motion", end.motion, d.v_names, self.motion, "N"),
            ("ideal joint", end.closure, d.closure_names, self.closure, "m"),
            ("gap", np.minimum(end.gap, 0), d.contact_names, self.gap, "m"),
            ("complementarity of", force * end.gap, d.contact_names, self.complementarity, "N m"),
            ("adhesion of", np.minimum(force, 0), d.contact_names, self.motion, "N"),
        )
        for what, residual, names, limit, unit in checks:
            if residual.size and np.max(np.abs(residual)) > limit:
                k = int(np.argmax(np.abs(residual)))
                return f"{what} {names[k]!r} off by {abs(residual[k]):.2g} {unit}"
        return ""

    def _contact(self, end: StepEnd, d: Dynamics) -> str:
        for k in np.flatnonzero(end.turn <= 0):
            return f"contact {d.contact_names[k]!r} turned by more than 90 deg"
        return ""

    def _energy(self, end: StepEnd) -> str:
        slack = ROUND_OFF * float(end.energy_size[0])
        work, kinetic = float(end.contact_work[0]), float(end.kinetic_energy[0])
        if work > self.contact_work * kinetic + slack:
            return f"energy off by {work:.2g} J of work by contacts, of {kinetic:.2g} J kinetic"
        gain, error = float(end.energy_gain[0]), float(end.energy_error[0])
        if gain <= self.energy * error + slack:
            return ""
        return f"energy off by {gain:.2g} J gained, estimated error {error:.2g} J"
