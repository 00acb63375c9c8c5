"""A symmetric step in which contacts that press stay closed, and those that stick do not slip."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt.schemes.contacts.accelerations import (
    find_friction_limit,
    find_viscous_friction,
    hold,
    hold_slip,
)
from nsopt.schemes.contacts.friction import (
    find_mean_slip,
    find_slip,
    repeat_by_slip,
    turn_slip,
)
from nsopt.schemes.errors import Errors, estimate_symmetric_errors
from nsopt.schemes.half_steps import HalfSteps
from nsopt.schemes.node import ContactsAtStart
from nsopt.schemes.one_step import OneStep
from nsopt.schemes.step import Transition


@dataclass(frozen=True)
class HeldMove:
    """A move in fixed modes of contact.

    Attributes
    ----------
    transition : Transition
    lam : SX (ng,) [N s]
        Contact impulses of its first half.
    slip : SX (ns,) [m/s]
        At its end.
    directions : SX (ns,)
        Of the slips there, as unit vectors.
    errors : Errors
    """

    transition: Transition
    lam: ca.SX
    slip: ca.SX
    directions: ca.SX
    errors: Errors


def state_held_move(
    one: OneStep, modes: ContactsAtStart, directions: ca.SX, slides: ca.SX
) -> HeldMove:
    """State `HalfSteps` in the modes of a step.

    Friction of what slips is along the ``directions`` (ns,) in the first half, in the second along
    those of `turn_slip`; which drags slide is (nd,), 0 or 1.
    """
    mpcc, d, start, h, scales = one.mpcc, one.dynamics, one.start, one.h, one.scales
    halves, names, pressing = HalfSteps(one), d.contact_names, modes.pressing
    lam, lam_end, dry, dry_end = (
        one.variable(name, n, scale=scales.impulse)
        for name, n in (
            *((name, len(names)) for name in ("lam", "lam_end")),
            *((name, len(d.slip_contacts)) for name in ("dry", "dry_end")),
        )
    )
    end, mean_slip = halves.end, find_mean_slip(d, start, h, halves.v, halves.end.q)
    slip = find_slip(d, end.at, end.v)
    last = turn_slip(d, directions, (mean_slip, slip), slides, scales)
    viscous = h / 2 * find_viscous_friction(d, end, pressing, mean_slip)
    x = halves.state(start.v, (lam, lam_end), (dry - viscous, dry_end - viscous), mean_slip)
    (first, second), end = x.balances, x.end
    speeds = scales.gap / scales.time
    for name, push, gap, size in (
        ("wall", lam, end.gap, scales.gap),
        ("wall_rate", lam_end, end.gap_rate(end.v), speeds),
    ):
        hold(mpcc, name + one.tag, names, push, gap, pressing, (scales.impulse, size))
    for name, node, force, normal, way, along in (
        ("stick", start, dry, lam, mean_slip, directions),
        ("stick_rate", end, dry_end, lam_end, slip, last),
    ):
        limit = find_friction_limit(d, node, normal)
        sizes = scales.impulse, scales.impulse / scales.mass
        sliding = -repeat_by_slip(d, limit) * along
        hold_slip(mpcc, name + one.tag, d, force, way, modes.sticking, sliding, sizes)
    mu = first.impulses.mu
    errors = estimate_symmetric_errors((first, second), h, first.after, mu, M=first.M)
    return HeldMove(x, lam, slip, last, errors)
