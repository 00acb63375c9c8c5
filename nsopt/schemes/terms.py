"""Terms that the step equations of several schemes share: forces, friction of joints, walls.

Walls are the surfaces of contacts; those that move with time have velocities at v = 0, the drift.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.schemes.node import At, Node, StepStart

FLAT = 1e-6
"""Least slope of a gap function (`Gap.slope`) whose gradient has a direction: on the axis of a bore
both are zero."""


def smooth_forces(d: Dynamics, t: ca.SX, q: ca.SX, p: ca.SX, v: ca.SX) -> ca.SX:
    """Return K = Q_A - S (eq. 26 of [NLP-clearance 2024]), (nv,)."""
    return d.applied(t, q, v, p) - d.bias(q, v, p)


def momentum_rate(d: Dynamics, t: ca.SX, q: ca.SX, p: ca.SX, v: ca.SX) -> ca.SX:
    """Return the force on the momentum M v at velocity v: K + (dM/dt) v, (nv,)."""
    return smooth_forces(d, t, q, p, v) + d.inertia_rate(q, v, p)


def find_slopes(d: Dynamics, at: At) -> ca.SX:
    """Return the slopes of gap functions over distances, `FLAT` or more, (ng,)."""
    return ca.fmax(d.slope(*at), FLAT)


def find_normals(d: Dynamics, at: At) -> ca.SX:
    """Return gradients of distances, those of gap functions over their slopes, (nv, ng)."""
    return d.gap_matrix(*at) / ca.repmat(find_slopes(d, at).T, d.nv, 1)


def internal(d: Dynamics, q: ca.SX) -> ca.SX:
    """Return the internal states of friction among coordinates q, of which they are last, (nz,)."""
    return q[d.nq - len(d.internal_names) :]


def advance_coordinates(d: Dynamics, start: StepStart | Node, h: ca.SX, v: ca.SX) -> ca.SX:
    """Return the coordinates after h at velocity v, internal states advanced too, (nq,)."""
    return advance_internal_states(d, start, h, v, d.retract(start.q, h * v))


def advance_internal_states(
    d: Dynamics, start: StepStart | Node, h: ca.SX, v: ca.SX, q: ca.SX
) -> ca.SX:
    """Return coordinates q with the internal states after h at velocity v, (nq,)."""
    if n := len(d.internal_names):
        z = internal(d, start.q)
        q = ca.vertcat(q[:-n], d.advance_states(start.t, start.q, v, start.p, h, z))
    return q


class ReactionLoads(NamedTuple):
    """Everything that joints react to, summed over a time."""

    time: ca.SX  # [s]
    change: ca.SX  # (nv,) of the velocity over it
    mu: ca.SX  # (nm,) of the rows of ideal joints, then of constraints on velocities
    lam: ca.SX  # (ng,) [N s] of contacts, normal
    slip: ca.SX  # (ns,) [N s] of contacts, tangential


def find_mean_joint_friction(
    d: Dynamics, start: StepStart | Node, at: At, v: ca.SX, h: ca.SX, loads: ReactionLoads
) -> ca.SX:
    """Return the mean friction in joints over a step of h, (nv,) [N, N m].

    From the internal states at the start; directions are taken ``at`` t, q, p, and v (nv,) is the
    velocity of the move.
    """
    if not d.friction_joints:
        return ca.SX(d.nv, 1)
    t, q, p = at
    reactions = find_joint_reactions(d, at, v, loads)
    return d.joint_friction(t, q, v, p, h, internal(d, start.q), reactions)


def find_joint_reactions(d: Dynamics, at: At, v: ca.SX, loads: ReactionLoads) -> ca.SX:
    """Return the mean reactions of joints with friction (6, their number).

    Of over-constrained joints they are those of least norm, whatever impulses were found. Arguments
    as of `find_mean_joint_friction`.
    """
    t, q, p = at
    if d.redundant:
        loads = loads._replace(mu=d.least_norm(t, q, v, p, *loads))
    return d.reactions(t, q, v, p, *loads)[:, list(d.friction_joints)] / loads.time


def find_joint_friction_at_node(
    d: Dynamics, node: Node, v: ca.SX, steps: tuple[ca.SX, ca.SX], loads: ReactionLoads
) -> ca.SX | None:
    """Return the impulse of friction in joints at a node that is left with v, (nv,).

    Half of the step before and half of the one after, each from the internal states at its start,
    both under the reactions at the node.
    """
    if not d.friction_joints:
        return None
    (before, after), (t, q, p) = steps, node.at
    reactions = find_joint_reactions(d, node.at, (v + node.v) / 2, loads)
    early = d.joint_friction(t, q, node.v, p, before, node.z_before, reactions)
    late = d.joint_friction(t, q, v, p, after, internal(d, q), reactions)
    return before / 2 * early + after / 2 * late


def rolling(d: Dynamics, at: At, v: ca.SX) -> ca.SX:
    """Return the residuals of constraints on velocities, (nr,) [m/s, rad/s]."""
    return d.nonholonomic_matrix(*at) @ v + d.nonholonomic_drift(*at)


def rolling_over(d: Dynamics, node: Node, h: ca.SX, v: ca.SX) -> ca.SX:
    """Return `rolling` in the middle of a move of h at v, so that the step stays symmetric."""
    return rolling(d, (node.t + h / 2, d.retract(node.q, h / 2 * v), node.p), v)


def average_walls_over(d: Dynamics, node: Node, h: ca.SX) -> Node:
    """Return a node with the mean velocities of its walls over h [s] from it, by Simpson's rule.

    With these a contact that lasts at one end of a step lasts at the other.
    """
    t, q, p = node.at
    # The velocity of the node may be a mean already, so that the difference between the mean over h
    # and the velocity at t is added to it.
    drift, slip_drift = (
        now + (4 * f(t + h / 2, q, p) + f(t + h, q, p) - 5 * f(t, q, p)) / 6
        for f, now in ((d.gap_drift, node.drift), (d.slip_drift, node.slip_drift))
    )
    return replace(node, drift=drift, slip_drift=slip_drift)


def average_walls(one: Node, other: Node) -> Node:
    """Return the first node with the mean of the velocities of walls at both."""
    drift, slip_drift = (one.drift + other.drift) / 2, (one.slip_drift + other.slip_drift) / 2
    return replace(one, drift=drift, slip_drift=slip_drift)


def metric(M: ca.SX) -> ca.SX:
    """Return a mass matrix with inverse: motions without mass get the mean mass of the others."""
    diagonal = ca.diag(M)
    massless = diagonal == 0
    mean = ca.sum1(diagonal) / ca.fmax(ca.sum1(ca.logic_not(massless)), 1)
    return ca.sparsify(M + ca.diag(massless) * mean)


def same_body(dynamics: Dynamics) -> ca.DM:
    """Return which velocities belong to one body, shape (nv, nv)."""
    owners = np.array(dynamics.v_owners)
    return ca.DM((owners[:, None] == owners[None, :]).astype(float))


def kinetic(M: ca.SX, v: ca.SX) -> ca.SX:
    """Return the kinetic energy [J]."""
    return ca.dot(v, M @ v) / 2


def find_momentum_size(M: ca.SX, v: ca.SX, W: ca.SX, lam: ca.SX, F: ca.SX, mu: ca.SX) -> ca.SX:
    """Return the sizes of the terms of a momentum balance (nv,) [N s, N m s], for its round-off.

    Every contact counts with the largest impulse: one system is solved for all of them, so each
    is known to the round-off of the largest. v (nv,) are sums of the sizes of the velocities.
    """
    contacts = ca.sum2(ca.fabs(W)) * ca.mmax(ca.fabs(lam)) if lam.numel() else 0
    return ca.fabs(M) @ v + contacts + ca.fabs(F) @ ca.fabs(mu)


def solve_mass(M: ca.SX, impulses: ca.SX) -> ca.SX:
    """Return the velocities that impulses give a mechanism at rest, (nv, n) as these.

    By M = L D L^T, which for a robot of 48 joints takes a fourth of the operations of `ca.solve`.
    """
    return ca.ldl_solve(impulses, *ca.ldl(metric(M)))


def squares(M: ca.SX, *impulses: ca.SX) -> list[ca.SX]:
    """Return impulse . M^-1 impulse of each, twice the energy [J] it gives a mechanism at rest."""
    D, upper, order = ca.ldl(metric(M))
    L = (upper + ca.SX.eye(M.size1())).T
    return [ca.sum1(ca.solve(L, impulse[order]) ** 2 / D) for impulse in impulses]
