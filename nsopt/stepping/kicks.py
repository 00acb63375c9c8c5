"""What acts at a node between two steps of `Variational`, in a program over a horizon."""

from __future__ import annotations

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.stepping.friction import Friction
from nsopt.stepping.node import PUSHED, Node, Passage
from nsopt.stepping.scheme import Scales
from nsopt.stepping.switches import touching
from nsopt.stepping.terms import bearing, forced, internal, kick


def kicked(
    mpcc: Mpcc,
    d: Dynamics,
    node: Node,
    gap: ca.SX,
    steps: tuple[ca.SX, ca.SX],
    scales: Scales,
) -> tuple[Passage, ca.SX]:
    """State the change of momentum at a node; return it with the velocity after.

    ``gap`` is the one that contact impulses there keep closed, ``steps`` are the sizes before
    and after.
    """
    before, after = steps
    v = mpcc.variable("leaving", d.nv, guess=node.v)
    mu = mpcc.variable("joint_impulse", len(d.closure_names), scale=scales.impulse)
    friction = Friction(mpcc, d, scales)
    friction.add_space()
    push = PUSHED * ca.SX(scales.impulse)
    lam = mpcc.variable("impulse", len(d.contact_names), scale=scales.impulse, guess=push)
    friction.add_plane()
    h = (before + after) / 2
    closed = touching(mpcc, d, node, gap, scales.gap)
    # What sticks stops: of the mean velocity it would only be thrown back.
    slip = friction.impulse(node.at, v, lam, closed, h)
    M, C = d.mass(node.q, node.p), d.closure_matrix(*node.at)
    kicks = before / 2 * kick(d, *node.at, node.v) + after / 2 * kick(d, *node.at, v)
    motion = M @ (v - node.v) - kicks - h * node.drive - node.W @ lam - C.T @ mu
    motion -= d.slip_matrix(*node.at) @ slip
    change = forced(d, node.at, v - node.v, [(node.v, before / 2), (v, after / 2)])
    if d.rubbed:
        motion -= _rubbing(d, node, v, steps, change, (mu, lam, slip))
    mpcc.equal("motion", motion, scale=scales.impulse)
    friction.state()
    mean = (v + node.v) / 2
    rubbed = friction.by_contact(slip * (d.slip_matrix(*node.at).T @ mean))
    pushes = before / 2 * d.external(node.t, node.q, node.v, node.p)
    pushes += after / 2 * d.external(node.t, node.q, v, node.p) + h * node.drive
    none = ca.SX.zeros(lam.numel())
    passage = Passage(
        # What acts over the step before has acted, what acts over the one after is to come.
        at_node=node.v + before / (before + after) * (v - node.v),
        change=change,
        impulse=lam,
        joint_impulse=mu,
        slip_impulse=slip,
        loss=-lam * (node.W.T @ mean) - rubbed,
        work=ca.dot(pushes, mean),
        h=h,
        share=h,
        blow=none,
        blow_loss=none,
    )
    return passage, v


def _rubbing(
    d: Dynamics,
    node: Node,
    v: ca.SX,
    steps: tuple[ca.SX, ca.SX],
    change: ca.SX,
    impulses: tuple[ca.SX, ca.SX, ca.SX],
) -> ca.SX:
    """Return the impulse of friction in joints at a node that is left with v, (nv,).

    Half of the step before and half of the one after, each from the internal states at its start,
    both under the reactions at the node, which impulses and ``change`` of the velocity tell.
    """
    before, after = steps
    bears = bearing(d, node.at, (v + node.v) / 2, change, *impulses, (before + after) / 2)
    t, q, p = node.at
    early = d.rubbing(t, q, node.v, p, before, node.z_before, bears)
    late = d.rubbing(t, q, v, p, after, internal(d, q), bears)
    return before / 2 * early + after / 2 * late
