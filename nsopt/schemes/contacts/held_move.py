"""A symmetric step in which contacts that press stay closed, and those that stick do not slip."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from nsopt.schemes.contacts.accelerations import (
    find_friction_limit,
    find_viscous_friction,
    state_held_gaps,
    state_held_slips,
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


class HeldMove:
    """`HalfSteps` in fixed modes of contact.

    The constructor adds the unknowns of the halves, `add_impulses` those of contacts; `state` the
    equations, `hold` the rows of contacts, in the order of their unknowns.
    """

    # (ng,) [N s] of contacts in the first half; made by `add_impulses`, as are the next.
    lam: ca.SX
    slip: ca.SX  # (ns,) [m/s] at the end
    directions: ca.SX  # (ns,) of the slips there, as unit vectors

    def __init__(self, one: OneStep) -> None:
        self._one, self._halves = one, HalfSteps(one)
        self.end = self._halves.end  # the node to which the move leads

    def add_impulses(self, modes: ContactsAtStart, begin: ca.SX, slides: ca.SX) -> None:
        """Add the unknowns of contacts.

        Friction of what slips is along the directions ``begin`` (ns,) in the first half, in the
        second along those of `turn_slip`; which drags slide is (nd,), 0 or 1.
        """
        one, d, end = self._one, self._one.dynamics, self.end
        numbers = {"lam": len(d.contact_names), "dry": len(d.slip_contacts)}
        self.lam, self._lam_end, self._dry, self._dry_end = (
            one.variable(name + half, n, scale=one.scales.impulse)
            for name, n in numbers.items()
            for half in ("", "_end")
        )
        self._modes, self._begin = modes, begin
        self._mean_slip = find_mean_slip(d, one.start, one.h, self._halves.v, end.q)
        self.slip = find_slip(d, end.at, end.v)
        slips = self._mean_slip, self.slip
        self.directions = turn_slip(d, begin, slips, slides, one.scales)

    def state(self) -> tuple[Transition, Errors]:
        """State the equations; return the transition, and estimates of its errors."""
        one, pressing, mean_slip = self._one, self._modes.pressing, self._mean_slip
        viscous = one.h / 2 * find_viscous_friction(one.dynamics, self.end, pressing, mean_slip)
        friction = self._dry - viscous, self._dry_end - viscous
        x = self._halves.state(one.start.v, (self.lam, self._lam_end), friction, mean_slip)
        first, second = x.balances
        mu, M = first.impulses.mu, first.M
        return x, estimate_symmetric_errors((first, second), one.h, first.after, mu, M=M)

    def hold(self) -> None:
        """State that pressing contacts stay closed, sticking ones in place; slipping ones rub."""
        one, end, modes = self._one, self.end, self._modes
        d, scales = one.dynamics, one.scales
        for name, lam, gap, size in (
            ("wall", self.lam, end.gap, scales.gap),
            ("wall_rate", self._lam_end, end.gap_rate(end.v), scales.gap / scales.time),
        ):
            sizes = (scales.impulse, size)
            state_held_gaps(
                one.mpcc, name + one.tag, d.contact_names, lam, gap, modes.pressing, sizes
            )
        sizes = scales.impulse, scales.speed
        for name, node, dry, lam, slip, directions in (
            ("stick", one.start, self._dry, self.lam, self._mean_slip, self._begin),
            ("stick_rate", end, self._dry_end, self._lam_end, self.slip, self.directions),
        ):
            sliding = -repeat_by_slip(d, find_friction_limit(d, node, lam)) * directions
            state_held_slips(one.mpcc, name + one.tag, d, dry, slip, modes.sticking, sliding, sizes)


def add_impulses(moves: Sequence[HeldMove], modes: ContactsAtStart, slides: ca.SX) -> None:
    """Add the unknowns of contacts of moves that follow each other, in the modes of their start."""
    begin = modes.directions
    for move in moves:
        move.add_impulses(modes, begin, slides)
        begin = move.directions
