"""Impacts after which contacts are open: they strike where a phase begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.phases.mode_conditions import ALL_EQUATIONS, ContactInMode, ContactMotion
from nsopt.trajectory.phases.modes import (
    ContactMode,
    ModeForces,
    Sliding,
    make_mode_forces,
    sample_symbols,
)
from nsopt.trajectory.transcription.base import Array, not_negative, zero


def state_strike(
    contact: ContactInMode, q: ca.SX, before: ca.SX, after: ca.SX, p: ca.SX
) -> list[Bound]:
    """Return the bounds of an impact of a contact that is open before and after it.

    By Newton's law, on velocities before and after it, (nv,) each, in posture q (nq,). Its impulses
    are as the forces of its mode: what slides during the impact has its friction impulse on the
    cone, what sticks does not slip after it.
    """
    m, no_acceleration = sample_symbols(contact.dynamics), ca.SX.zeros(after.numel())
    gaps = contact.forces.contact.gaps(m.state)
    e = ca.vertcat(*(m.state.value(gap.law.restitution) for gap in gaps))
    e = ca.substitute(e, m.p, p)
    earlier, later = (
        ContactMotion(*contact.motion(0, q, v, no_acceleration, p)) for v in (before, after)
    )
    name, mode = contact.name, contact.mode
    bounds = [
        zero(f"{name} is closed as it strikes", later.distance),
        zero(f"{name} rebounds", later.opening + e * earlier.opening),
    ]
    if mode.sticks:
        bounds.append(zero(f"{name} does not slip after it strikes", later.slip))
    elif isinstance(mode, Sliding) and later.slip.numel():
        bounds.append(not_negative(f"slip of {name} after it strikes", mode.sign * later.slip))
    return bounds


def find_strikes(
    stated: Dynamics, d: Dynamics, strikes: Mapping[str, ContactMode], steps: int
) -> tuple[ContactInMode, ...]:
    """Return the contacts that strike at the start of a phase of n steps and are open after that.

    ``stated`` is the mechanism with its contacts, ``d`` with forces of modes in their place.

    Raises
    ------
    TypeError, ValueError
        If one is not of a contact that is open throughout the phase, or its mode is not closed.
    """
    if not isinstance(strikes, Mapping):
        raise TypeError(f"strikes must be a mapping of contact to mode, got {strikes!r:.60}")
    contacts, found = {x.name: x for x in stated.contacts}, []
    open_ones = {x.name for x in d.elements if isinstance(x, ModeForces) and not x.mode.closed}
    for name, mode in strikes.items():
        if name not in open_ones:
            raise ValueError(
                f"strikes name contact {name!r}, which is not Open() in this phase: what closes "
                "for longer strikes by its mode alone"
            )
        if not isinstance(mode, ContactMode) or not mode.closed:
            raise ValueError(
                f"contact {name!r} strikes with {mode!r}: give Sliding() or Sticking(), what it "
                "does during the impact"
            )
        forces = make_mode_forces(stated, contacts[name], mode, ())
        found.append(ContactInMode(d, forces, ALL_EQUATIONS, ALL_EQUATIONS, steps))
    return tuple(found)


def check_rebounds(closing: Sequence[ContactInMode], p: Array) -> None:
    """Refuse contacts with restitution that close for more than an impact: they would rebound."""
    for x in closing:
        m = sample_symbols(x.dynamics)
        for gap in x.forces.contact.gaps(m.state):
            e = ca.Function("e", [m.p], [ca.SX(m.state.value(gap.law.restitution))])(p)
            if float(e) != 0:
                raise ValueError(
                    f"contact {x.name!r} has restitution and closes for longer, so it would "
                    "rebound: let it strike and be Open() after it, strikes={"
                    f"{x.name!r}: Sliding()}}, or give its ContactLaw restitution=0"
                )
