"""Static friction of contacts: which hold in a step, and when one lets go."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance
from nsopt.schemes.contacts.friction import find_slip, is_turned, measure_slip, select_drags
from nsopt.schemes.node import Node
from nsopt.schemes.step import Transition
from nsopt.schemes.terms import solve_mass

EDGE = 1e-9  # part of the largest friction within which it counts as the largest
OVERHOLD = 2.0
"""Times static friction, by which a contact holds to the end of the step in which it lets go: how
far its force gets beyond static friction tells when in the step that was."""

TINY = 1e-300  # limit of friction [N s] of a contact that does not press

StateHalf = Callable[[Mpcc, ca.SX], tuple[Transition, ca.SX]]
"""States the first half of a step with coefficients (nd,); returns it and its mean slip (ns,)."""


def has_static_friction(d: Dynamics) -> bool:
    """Return whether a contact has static friction of its own."""
    return any(drag.has_static for drag in d.drags)


class Coefficients(NamedTuple):
    """Coefficients of friction (nd,) in both halves of a step."""

    first: ca.SX
    second: ca.SX

    @classmethod
    def find(
        cls, mpcc: Mpcc, d: Dynamics, node: Node, lasting: ca.SX, slow: ca.SX, state: StateHalf
    ) -> Coefficients:
        """Return the coefficients of a step from a node.

        Where contacts have static friction, its first half is tried before. One whose slip at the
        start is none, up to ``slow`` [m/s], holds if static friction suffices; one that slides does
        so where its slip stops or turns round. Of contacts that are ``lasting`` (ng,).
        """
        kinetic, static = d.drag(node.p), d.static_drag(node.p)
        if not has_static_friction(d):
            return cls(kinetic, kinetic)
        before, lasting = find_slip(d, node.at, node.v), select_drags(d, lasting)
        rests = lasting * (static > kinetic) * (measure_slip(d, before) < slow)
        tried = ca.if_else(rests, static, kinetic)
        with mpcc.before("holding") as trial:
            transition, mean = state(trial, tried)
        slides = _find_parts(transition.balances[0], tried) >= 1 - EDGE
        turns = (1 - rests) * is_turned(d, before, mean)
        holds = ca.logic_or(ca.logic_not(slides), turns)
        after = 2 * mean - before  # at a constant deceleration
        ends = ca.logic_or(measure_slip(d, after) < slow, is_turned(d, before, after))
        holds_at_end = ca.logic_or(holds, (1 - rests) * ends)
        on = static * (1 + (OVERHOLD - 1) * rests)
        return cls(
            ca.if_else(lasting * holds, static, kinetic),
            ca.if_else(lasting * holds_at_end, on, kinetic),
        )


def hold_at_rest(d: Dynamics, node: Node, slow: ca.SX) -> ca.SX:
    """Return coefficients of friction (nd,), static ones where slip at a node is ``slow``."""
    kinetic, static = d.drag(node.p), d.static_drag(node.p)
    if not has_static_friction(d):
        return kinetic
    return ca.if_else(measure_slip(d, find_slip(d, node.at, node.v)) < slow, static, kinetic)


def limit_in_impacts(d: Dynamics, coefficients: ca.SX, impact: ca.SX, p: ca.SX) -> ca.SX:
    """Return coefficients of friction (nd,), in impacts at most the static ones."""
    if not has_static_friction(d):
        return coefficients
    return ca.if_else(impact, ca.fmin(coefficients, d.static_drag(p)), coefficients)


def find_breakaway(first: Balance, second: Balance, coefficient: ca.SX, h: ca.SX) -> ca.SX:
    """Return how long before the end of a step a contact let go that stuck, the longest [s].

    ``coefficient`` (nd,) is that of the second half.
    """
    d = first.dynamics
    if not has_static_friction(d):
        return ca.SX(0)
    static = d.static_drag(first.node.p)
    start, end = _find_parts(first, static), _find_parts(second, static)
    late = (end - 1) / ca.fmax(end - ca.fmin(start, 1), EDGE)
    breaks = ca.logic_and(coefficient > static, end > 1)
    return h * ca.mmax(ca.if_else(breaks, ca.fmin(late, 1), 0))


def find_later_work(first: Balance, second: Balance) -> ca.SX:
    """Return by how much more work friction does if it acts after the other forces [J].

    What turned round and holds was slowed down by other forces first, which in a step that is not
    made shorter friction would seem to do.
    """
    if not has_static_friction(first.dynamics):
        return ca.SX(0)
    pushes = [(b, b.T @ b.impulses.slip) for b in (first, second)]
    return sum((ca.dot(push, solve_mass(b.M, b.h * b.K)) / 2 for b, push in pushes), ca.SX(0))


def _find_parts(half: Balance, coefficient: ca.SX) -> ca.SX:
    """Return friction over the largest with a coefficient (nd,), (nd,)."""
    d, node = half.dynamics, half.node
    limit = coefficient * select_drags(d, d.slope(*node.at) * half.impulses.lam)
    return measure_slip(d, half.impulses.slip) / ca.fmax(limit, TINY)
