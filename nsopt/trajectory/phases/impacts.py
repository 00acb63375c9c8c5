"""Impacts where phases begin: contacts that close there, and those that strike and open again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.phases.mode_conditions import (
    ALL_EQUATIONS,
    ContactInMode,
    ContactMotion,
)
from nsopt.trajectory.phases.modes import (
    ContactMode,
    ModeForces,
    Sliding,
    make_mode_forces,
    sample_symbols,
)
from nsopt.trajectory.transcription.base import not_negative, zero


def find_closing(before: Sequence[ContactInMode], forces: Sequence[ModeForces]) -> list[str]:
    """Return the names of contacts that are closed in a phase and were open in that before."""
    were_closed = {x.name for x in before if x.mode.closed}
    return [x.name for x in forces if x.mode.closed and x.name not in were_closed]


def state_strike(
    contact: ContactInMode, q: ca.SX, before: ca.SX, after: ca.SX, p: ca.SX
) -> list[Bound]:
    """Return the bounds of an impact of a contact that is open before and after it.

    Newton's law for the velocities ``before`` and ``after`` it, (nv,), in posture q (nq,), with the
    parameters p (np,) of the mechanism. Impulses are like forces of its mode: if it slides during
    the impact, friction is on the cone; if it sticks, it does not slip after it.
    """
    m, no_acceleration = sample_symbols(contact.dynamics), ca.SX.zeros(after.numel())
    gaps = contact.forces.contact.gaps(m.state)
    e = ca.vertcat(*(m.state.value(gap.law.restitution) for gap in gaps))
    e = ca.substitute(e, m.p, ca.vec(ca.SX(p)))
    t = 0  # any time: contacts that move with time are refused by `make_mode_forces`
    earlier, later = (
        ContactMotion(*contact.motion(t, q, v, no_acceleration, p)) for v in (before, after)
    )
    name, mode = contact.name, contact.mode
    bounds = [
        zero(f"{name} is closed as it strikes", later.distance),
        zero(f"{name} rebounds", later.opening + e * earlier.opening),
    ]
    if mode.sticks:
        bounds.append(zero(f"{name} does not slip after it strikes", later.slip))
    elif isinstance(mode, Sliding) and later.slip.numel() and not contact.forces.slip_angles:
        bounds.append(not_negative(f"slip of {name} after it strikes", mode.sign * later.slip))
    return bounds


def find_strikes(
    stated: Dynamics, d: Dynamics, strikes: Mapping[str, ContactMode], steps: int
) -> tuple[ContactInMode, ...]:
    """Return the contacts that strike at the start of a phase and are open in it.

    ``stated`` is the mechanism with its contacts, ``d`` with forces of modes in their place;
    ``steps`` is how many steps the phase has. Refuses contacts that are not open throughout the
    phase, and modes that are not closed.
    """
    if not isinstance(strikes, Mapping):
        raise TypeError(f"strikes must be a mapping of contact to mode, got {strikes!r:.60}")
    contacts, found = {x.name: x for x in stated.contacts}, []
    forces_of_modes = (x for x in d.elements if isinstance(x, ModeForces))
    open_ones = {x.name: x for x in forces_of_modes if not x.mode.closed}
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
        inputs = ()  # that it moves with none of the phase was checked for its mode Open()
        share = open_ones[name].share  # of friction's limit, up to which the contact sticks
        forces = make_mode_forces(stated, contacts[name], mode, inputs, share)
        found.append(ContactInMode(d, forces, ALL_EQUATIONS, ALL_EQUATIONS, steps))
    return tuple(found)


def check_rebounds(closing: Sequence[ContactInMode], p: Array) -> None:
    """Refuse contacts that close at the start of a phase with restitution: they would rebound."""
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
