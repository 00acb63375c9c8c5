"""Impacts after which contacts are open: they strike where a phase begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.phases.mode_conditions import Ends, InMode, not_negative, zero
from nsopt.trajectory.phases.modes import ContactMode, ModeForces, Sliding, forces_of, sample
from nsopt.trajectory.transcription.base import Array


@dataclass(frozen=True, eq=False)
class Strike:
    """An impact of a contact that is open before and after it, by Newton's law.

    Parameters
    ----------
    contact : InMode
        The contact, its impulses as the forces of a mode: what slides during the impact has its
        friction impulse on the cone, what sticks does not slip after it.
    """

    contact: InMode

    def bounds(self, q: ca.SX, before: ca.SX, after: ca.SX, p: ca.SX) -> list[Bound]:
        """Return the bounds on velocities before and after it, (nv,) each, in posture q."""
        forces, zeros = self.contact.forces, ca.SX.zeros(after.numel())
        m = sample(self.contact.dynamics)
        e = ca.vertcat(
            *(m.state.value(gap.law.restitution) for gap in forces.contact.gaps(m.state))
        )
        e = ca.substitute(e, m.p, p)
        came, left = (self.contact.motion(0, q, v, zeros, p) for v in (before, after))
        distance, opening, slip = left[:3]
        name = forces.name
        bounds = [
            zero(f"{name} is closed as it strikes", distance),
            zero(f"{name} rebounds", opening + e * came[1]),
        ]
        if forces.mode.sticks:
            bounds.append(zero(f"{name} does not slip after it strikes", slip))
        elif isinstance(forces.mode, Sliding) and slip.numel():
            bounds.append(not_negative(f"slip of {name} after it strikes", forces.mode.sign * slip))
        return bounds


def find_strikes(
    stated: Dynamics, d: Dynamics, strikes: Mapping[str, ContactMode], steps: int
) -> tuple[Strike, ...]:
    """Return the impacts at the start of a phase.

    Parameters
    ----------
    stated, d : Dynamics
        The mechanism with its contacts, and with forces of modes in their place.
    strikes : mapping of name to ContactMode
        `Sliding` or `Sticking` during the impact.
    steps : int
        Of the phase.

    Raises
    ------
    TypeError, ValueError
        If one is not of a contact that is open throughout the phase, or has no mode of an impact.
    """
    if not isinstance(strikes, Mapping):
        raise TypeError(f"strikes must be a mapping of contact to mode, got {strikes!r:.60}")
    known, found = {x.name: x for x in stated.contacts}, []
    opened = {x.name for x in d.elements if isinstance(x, ModeForces) and not x.mode.closed}
    for name, mode in strikes.items():
        if name not in opened:
            raise ValueError(
                f"strikes name contact {name!r}, which is not Open() in this phase: what closes "
                "for longer strikes by its mode alone"
            )
        if not isinstance(mode, ContactMode) or not mode.closed:
            raise ValueError(
                f"contact {name!r} strikes with {mode!r}: give Sliding() or Sticking(), what it "
                "does during the impact"
            )
        forces = forces_of(stated, known[name], mode, ())
        found.append(
            Strike(InMode(d, forces, Ends(True, True, True), Ends(True, True, True), steps))
        )
    return tuple(found)


def check_rebounds(closing: Sequence[InMode], p: Array) -> None:
    """Refuse contacts that close for longer where they would rebound.

    Raises
    ------
    ValueError
    """
    for x in closing:
        m = sample(x.dynamics)
        for gap in x.forces.contact.gaps(m.state):
            e = ca.Function("e", [m.p], [ca.SX(m.state.value(gap.law.restitution))])(p)
            if float(e) != 0:
                raise ValueError(
                    f"contact {x.forces.name!r} has restitution and closes for longer, so it would "
                    "rebound: let it strike and be Open() after it, strikes={"
                    f"{x.forces.name!r}: Sliding()}}, or give its ContactLaw restitution=0"
                )
