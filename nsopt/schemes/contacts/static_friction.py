"""Static friction of contacts: which hold in a step, and when one lets go.

Where a contact rests, both holding it and letting it slide can be solutions, so that each half of a
step is tried first: what slips there slides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance
from nsopt.schemes.contacts.friction import (
    SLOW,
    find_drags,
    find_slip,
    is_turned,
    measure_slip,
    select_drags,
)
from nsopt.schemes.node import Node
from nsopt.schemes.scales import Scales
from nsopt.schemes.terms import solve_mass

QUIET = 1e-10  # of the speed that a typical impulse gives, the slip that may be round-off
SURE, NEAR = 1e-7, 1e-3
"""Parts of static friction left out where the start and the end of a step are tried, so that what
needs all of it slips by more than round-off."""

BREAKING_LIMIT = 2.0
"""Limit of the force of a contact in the second half of a step in which it may let go, over static
friction. By how much more than static friction it needs there tells when it let go."""

TINY = 1e-300  # limit of friction [N s] where nothing presses

TryHalf = Callable[[Mpcc, ca.SX], ca.SX]
"""States a half of a step in a program that is solved before that of the step, with coefficients of
friction (nd,), and returns its slip (ns,): what would happen if these were those of the half."""


def has_static_friction(d: Dynamics) -> bool:
    """Return whether a contact has static friction of its own."""
    return any(drag.has_static for drag in d.drags)


class Grip(NamedTuple):
    """The friction of a half of a step."""

    coefficients: ca.SX  # (nd,)
    held: ca.SX  # (nd,) 0 or 1: what has rested and holds
    # (ns,) [m/s] in a second half, the slip with which what is held would let go; else zero.
    breaking: ca.SX

    @classmethod
    def at_start(
        cls, mpcc: Mpcc, d: Dynamics, node: Node, lasting: ca.SX, scales: Scales, try_half: TryHalf
    ) -> Grip:
        """Return the friction of the first half of a step from a node.

        What rests there holds if static friction suffices; what slides does so where its slip stops
        or turns round. Of contacts that are ``lasting`` (ng,).
        """
        kinetic, static = d.drag(node.p), d.static_drag(node.p)
        none = ca.SX.zeros(len(d.slip_contacts))
        if not has_static_friction(d):
            return cls(kinetic, kinetic, none)
        speed, before = ca.SX(scales.speed), find_slip(d, node.at, node.v)
        lasts = select_drags(d, lasting)
        rests = lasts * (static > kinetic) * (measure_slip(d, before) < SLOW * speed)
        with mpcc.before("holding") as trial:
            slip = try_half(trial, ca.if_else(rests, (1 - SURE) * static, kinetic))
        still = measure_slip(d, slip) < QUIET * speed
        holds = ca.logic_or(still, (1 - rests) * is_turned(d, before, slip))
        return cls(ca.if_else(lasts * holds, static, kinetic), rests * holds, none)

    def at_end(
        self, mpcc: Mpcc, d: Dynamics, end: Node, mean: ca.SX, scales: Scales, try_half: TryHalf
    ) -> Grip:
        """Return the friction of the second half; that of the first has the mean slip (ns,).

        What is held stays so to the end of the step.
        """
        if not has_static_friction(d):
            return self
        static, speed = d.static_drag(end.p), ca.SX(scales.speed)
        with mpcc.before("ending") as trial:
            slip = try_half(trial, (1 - NEAR * self.held) * self.coefficients)
        still = measure_slip(d, slip) < QUIET * speed
        stops = ca.logic_or(still, is_turned(d, mean, slip))
        breaks = self.held * (1 - still)
        return Grip(
            ca.if_else(self.held, BREAKING_LIMIT, 1) * ca.if_else(stops, static, self.coefficients),
            self.held,
            slip * ca.vertcat(ca.SX(0, 1), *(breaks[i] for i in find_drags(d))),
        )

    def within_impact(self, d: Dynamics, impact: ca.SX, p: ca.SX) -> ca.SX:
        """Return the coefficients (nd,), in impacts (1 or 0) static ones of what is held alone."""
        if not has_static_friction(d):
            return self.coefficients
        struck = ca.if_else(self.held, d.static_drag(p), d.drag(p))
        return ca.if_else(impact, struck, self.coefficients)

    def find_breakaway(self, first: Balance, second: Balance, h: ca.SX) -> ca.SX:
        """Return how long before the end of a step with these halves what is held let go [s].

        From how much of static friction is needed along the slip with which it does so: what feet
        have of a load is open, but not what they have together.
        """
        if not has_static_friction(first.dynamics):
            return ca.SX(0)
        start, end = (self._find_part(half) for half in (first, second))
        late = (end - 1) / ca.fmax(end - ca.fmin(start, 1), TINY)
        return ca.if_else(end > 1, h * ca.fmin(late, 1), 0)

    def _find_part(self, half: Balance) -> ca.SX:
        """Return the friction of a half over static friction, along the slip that breaks."""
        d, node = half.dynamics, half.node
        pushes = d.static_drag(node.p) * select_drags(d, d.slope(*node.at) * half.impulses.lam)
        most = ca.dot(pushes, measure_slip(d, self.breaking) * (self.held > 0))
        return -ca.dot(half.impulses.slip, self.breaking) / ca.fmax(most, TINY)


def hold_at_rest(d: Dynamics, node: Node, scales: Scales) -> ca.SX:
    """Return coefficients of friction (nd,), static ones of what rests at a node."""
    kinetic, static = d.drag(node.p), d.static_drag(node.p)
    if not has_static_friction(d):
        return kinetic
    rests = measure_slip(d, find_slip(d, node.at, node.v)) < SLOW * ca.SX(scales.speed)
    return ca.if_else(rests, static, kinetic)


def find_later_work(first: Balance, second: Balance) -> ca.SX:
    """Return by how much more work friction does if it acts after the other forces [J].

    What turned round and holds was slowed down by other forces first, which in a step that is not
    made shorter friction would seem to do.
    """
    if not has_static_friction(first.dynamics):
        return ca.SX(0)
    pushes = [(b, b.T @ b.impulses.slip) for b in (first, second)]
    return sum((ca.dot(push, solve_mass(b.M, b.h * b.K)) / 2 for b, push in pushes), ca.SX(0))
