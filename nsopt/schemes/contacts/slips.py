"""The slip of contacts with friction: along a move, its direction, and where it ends in a step."""

from __future__ import annotations

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.node import At, Node

SLOW = 1e-3  # of the speed that a typical impulse gives in a step, a slip that is none
NEXT_TO_NONE = 1e-14  # slip [m/s] by which its size is smoothed, for a derivative where it sticks
LARGEST_TURN = 0.5  # difference of two directions of slip, up to which one is told from the other

TURNED = 0.9
"""Cosine between the slip at both ends of a step, from which it turned round, with a minus."""

EARLY = 0.4  # part of a step that is tried again where a slip ends in its first half


def by_contact(d: Dynamics, values: ca.SX) -> ca.SX:
    """Return sums over the slips (ns,) of each contact, (ng,)."""
    sums = ca.SX.zeros(len(d.contact_names))
    for k, i in enumerate(d.slip_contacts):
        sums[int(i)] += values[k]
    return sums


def size_of_slip(d: Dynamics, u: ca.SX) -> ca.SX:
    """Return the sizes of the slips (ns,) of each contact, smooth where there is none, (ng,)."""
    return ca.sqrt(by_contact(d, u**2) + NEXT_TO_NONE**2)


def slip_at(d: Dynamics, at: At, v: ca.SX) -> ca.SX:
    """Return the slip of contacts at a velocity (nv,), (ns,) [m/s]."""
    return d.slip_matrix(*at).T @ v + d.slip_drift(*at)


def slip_over(d: Dynamics, node: Node, h: ca.SX, v: ca.SX, q_end: ca.SX) -> ca.SX:
    """Return the mean slip of contacts over a move of h at velocity v from a node, (ns,) [m/s].

    By Simpson's rule along the move to ``q_end``: times h it is by how far a contact moves over the
    surface that carries it, however that turns. The slip at one place would let what sticks creep.
    """
    t, q, p = node.at
    # Of Euler parameters the mean of both ends is in the middle, but for its size.
    at = ((q, 0, 1 / 6), ((q + q_end) / 2, 1 / 2, 4 / 6), (q_end, 1, 1 / 6))
    T, drift = ca.SX(d.nv, len(d.slip_contacts)), ca.SX.zeros(len(d.slip_contacts))
    for place, part, weight in at:
        now = (t + part * h, place, p)
        T, drift = T + weight * d.slip_matrix(*now), drift + weight * d.slip_drift(*now)
    return T.T @ v + drift


def turn_from_start(d: Dynamics, node: Node, h: ca.SX, slow: ca.SX) -> ca.SX:
    """Return the direction of slip at a node less that of its mean over a move of h, (ns,).

    Both at the velocity of the node.
    """
    mean = slip_over(d, node, h, node.v, d.retract(node.q, h * node.v))
    return _turn(d, slip_at(d, node.at, node.v), mean, slow)


def turn_from_end(d: Dynamics, end: Node, move: ca.SX, after: ca.SX, slow: ca.SX) -> ca.SX:
    """Return the direction of slip at a node at the velocity of a move less that after it, (ns,).

    Both velocities (nv,).
    """
    return _turn(d, slip_at(d, end.at, move), slip_at(d, end.at, after), slow)


def _turn(d: Dynamics, to: ca.SX, since: ca.SX, slow: ca.SX) -> ca.SX:
    """Return the difference of the directions of two slips (ns,) [m/s] of each contact in space.

    None where one of them is slow, of contacts in the plane, and where they are far from each
    other: as long as it is below 1, what adds that part of a slip to it is zero where the slip is.
    """
    owners = [int(i) for i in d.slip_contacts]
    alone = [float(owners.count(i) == 1) for i in owners]
    sizes = [size_of_slip(d, u) for u in (to, since)]
    units = [
        u / ca.vertcat(ca.SX(0, 1), *(ca.fmax(size, slow)[i] for i in owners))
        for u, size in zip((to, since), sizes, strict=True)
    ]
    turn = units[0] - units[1]
    small = ca.logic_and(ca.fmin(*sizes) > slow, by_contact(d, turn**2) < LARGEST_TURN**2)
    return turn * ca.vertcat(ca.SX(0, 1), *(small[i] for i in owners)) * (1 - ca.DM(alone))


def find_end_of_slip(
    d: Dynamics,
    nodes: tuple[Node, Node],
    moved: ca.SX,
    lasting: ca.SX,
    h: ca.SX,
    slow: ca.SX,
) -> ca.SX:
    """Return how long before the end a slip stopped or turned round, the longest [s].

    Friction turns with it, or is what holds. At a constant deceleration a slip u that is u_m in the
    mean of the step is zero after h u / 2 (u - u_m). ``moved`` (ns,) is that mean between the nodes
    at both ends, ``lasting`` (ng,) 1 of contacts that press all the time; ``slow`` counts as none.
    """
    if not d.slip_contacts:
        return ca.SX(0)
    before, after = (slip_at(d, node.at, node.v) for node in nodes)
    was, now = (size_of_slip(d, x) for x in (before, after))
    along = by_contact(d, before * after)
    ends = ca.logic_or(now < slow, along < -TURNED * was * now)
    counts = lasting * ends * (was > slow) * (d.friction(nodes[1].p) > 0)
    mean = by_contact(d, before * moved) / ca.fmax(was, slow)
    slowly = was / ca.fmax(2 * (was - mean), was)  # part of the step, at least a half
    soon = ca.fmin(was / ca.fmax(was + now, slow), EARLY)
    part = ca.if_else(mean > 0, 1 - slowly, 1 - soon)
    return h * ca.fmax(ca.mmax(ca.if_else(counts, part, 0)), 0)
