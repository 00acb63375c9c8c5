"""Surfaces that forces press apart, as compliant contacts: when they close, how fast they swing."""

from __future__ import annotations

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.node import Node

RESOLVED = (ca.pi / 30) ** 2
"""(w h)^2 of a step of a thirtieth of the time for which a linear spring holds a body that strikes
it, pi / w."""


def judge_pressed(d: Dynamics, start: Node, end: Node) -> tuple[ca.SX, ca.SX]:
    """Return how well a step resolves surfaces that forces press apart: swing, and when one closed.

    The force on a surface follows its depth, so that its frequency is seen from the change of its
    rate: du = w^2 depth h. Where it sets in, depths change by more than they are. The first number
    is (w h)^2 over `RESOLVED`, of the surface that swings fastest; of one that lasts at a constant
    depth it is zero, however stiff. The second is how long before the end of the step one closed
    that was open [s].
    """
    if not d.pressed_names:
        return ca.SX(0), ca.SX(0)
    (before, rate), (after, last) = (_distances(d, node) for node in (start, end))
    h = end.t - start.t
    deep = ca.fmax(ca.fmax(-before, -after), ca.fabs(after - before))
    inside = ca.fmin(before, after) < 0
    swing = ca.if_else(inside, h * ca.fabs(last - rate) / ca.if_else(inside, deep, 1), 0)
    # Before it closes a surface has a constant acceleration: -after = u s - du s^2 / (2 h).
    arrives = 2 * (after - before) / h - rate
    bends = (arrives - rate) / h
    closes = ca.logic_and(ca.logic_and(before >= 0, after < 0), arrives < 0)
    root = ca.sqrt(ca.fmax(arrives**2 - 2 * bends * after, 0))
    since = ca.if_else(closes, -2 * after / ca.if_else(closes, root - arrives, 1), 0)
    return ca.mmax(swing) / RESOLVED, ca.fmin(ca.mmax(since), h)


def _distances(d: Dynamics, node: Node) -> tuple[ca.SX, ca.SX]:
    """Return distances (ns,) [m] of surfaces and their rates [m/s]; they do not move with time."""
    q = ca.SX.sym("q", d.nq)
    distance = d.pressed(node.t, q, node.v, node.p)[0]
    rate = ca.jtimes(distance, q, d.rate_matrix(q) @ node.v)
    now, rates = ca.substitute([distance, rate], [q], [node.q])
    return now, rates
