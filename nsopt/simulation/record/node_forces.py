"""Accelerations, and forces of contacts and ideal joints, at the nodes of a motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.kernels import multiply_matrices, solve_systems
from nsopt.mechanics import Dynamics, transmission
from nsopt.simulation.record.evaluated_steps import evaluate_at_times
from nsopt.simulation.record.node_equations import EquationsAt, NodeEquations, Nodes

Mask = NDArray[np.bool_]

SAME = 1e-12
"""Part of the reactions by which they may change in the last iteration for friction, which depends
on reactions and changes them."""

FULL, ALL = 50, 200
"""Iterations for that at most: so many with full changes, then up to all with half of them."""

PROXIMAL = 1e-12
"""Compliance over that of the largest mass, added to contacts so that redundant ones solve too."""

TINY = 1e-300  # against division by zero


class NodeForces(NamedTuple):
    """What the Newton-Euler equations need at n nodes."""

    acceleration: Array  # (n, nv) right after them, impulses of impacts left out
    normal: Array  # (n, ng) [N] of contacts, at the same time
    reaction: Array  # (n, joint, 6) [N, N m] under forces of contacts that are means over the step


def find_node_forces(
    d: Dynamics, nodes: Nodes, gains: tuple[float, float] | None, slip: Array, pressing: Mask
) -> NodeForces:
    """Return accelerations and forces at nodes, of the order of the states.

    Forces of contacts in ``nodes`` are means over the steps that end there; ``slip`` (n, ns) [N],
    those along tangents, and which contacts press (n, ng) are of right after the nodes.
    """
    equations = NodeEquations(d, gains)
    solver, parts = _Solver(equations), []
    for rows in nodes.blocks():
        at = equations.at(nodes.part(rows))
        a, reaction = solver.solve(at)
        normal = np.zeros((len(a), 0))
        if d.contact_names:
            own = replace(at.nodes, slip=slip[rows], t_contact=at.nodes.t, q_contact=at.nodes.q)
            after = at._replace(nodes=own)
            a, normal = solver.hold(after, pressing[rows], reaction)
        parts.append(NodeForces(a, normal, reaction))
    return NodeForces(*(np.concatenate(x) for x in zip(*parts, strict=True)))


class _Solver:
    """Solutions of `NodeEquations`.

    Friction of joints acts under the reactions that come with it; where none were found that agree,
    they are NaN.
    """

    def __init__(self, equations: NodeEquations) -> None:
        self._equations, self._d = equations, equations.dynamics
        self._reactions = partial(evaluate_at_times, self._d.reactions)
        self._transmission = None
        if self._d.redundant:
            # Derivatives of reactions by mu, from which those of least norm follow.
            by_mu = transmission(self._d.reactions, len(self._d.internal_names))
            self._transmission = partial(evaluate_at_times, by_mu)

    def solve(self, at: EquationsAt) -> tuple[Array, Array]:
        """Return accelerations and wrenches (n, joint, 6) under contact forces along W and T."""
        x, nv = at.nodes, self._d.nv
        W, T = at.W, at.T
        if np.any(x.q_contact != x.q):  # some schemes take directions at the start of a step
            W, T = self._equations.directions(x.t_contact, x.q_contact, x.p)
        known = at.force + (W @ x.lam[:, :, None] + T @ x.slip[:, :, None])[:, :, 0]

        def load(friction: Array) -> tuple[Array, Array]:
            right = np.hstack([known + friction, at.rate])[:, :, None]
            found = solve_systems(at.system, right)[:, :, 0]
            return found, self._wrenches(x, found[:, :nv], found[:, nv:])

        found, wrench = self._solve_with_friction(x, load, None)
        return found[:, :nv], wrench

    def hold(self, at: EquationsAt, pressing: Mask, reaction: Array) -> tuple[Array, Array]:
        """Return accelerations and normal forces (n, ng) with contacts that press held closed.

        Those that would pull are let go. ``reaction``, of joints, is the first guess of the
        reactions under which friction acts.
        """
        x, nv, m = at.nodes, self._d.nv, at.system.shape[1]
        known = at.force + (at.T @ x.slip[:, :, None])[:, :, 0]

        def load(friction: Array) -> tuple[Array, Array]:
            found, _ = hold_closed(at._replace(force=known + friction), pressing)
            if not self._d.friction_joints:
                return found, reaction
            loaded = replace(x, lam=found[:, m:])
            return found, self._wrenches(loaded, found[:, :nv], found[:, nv:m])

        found, _ = self._solve_with_friction(x, load, np.nan_to_num(reaction))
        return found[:, :nv], found[:, m:]

    def _solve_with_friction(
        self,
        x: Nodes,
        load: Callable[[Array], tuple[Array, Array]],
        wrench: Array | None,
    ) -> tuple[Array, Array]:
        """Return what ``load(friction)`` finds where friction is that under the wrenches it finds.

        ``wrench`` (n, joint, 6) is the first guess of these, None for zero.
        """
        if not self._d.friction_joints:
            return load(np.zeros_like(x.v))
        if wrench is None:
            wrench = np.zeros((len(x.t), len(self._d.joint_names), 6))
        for k in range(ALL):
            found, new = load(self._equations.friction(x, wrench))
            change, size = (np.max(np.abs(y), axis=(1, 2)) for y in (new - wrench, new))
            agree = ~(change > SAME * size)
            wrench = new if k < FULL else np.where(agree[:, None, None], new, (new + wrench) / 2)
            if agree.all():
                break
        found[~agree] = wrench[~agree] = np.nan
        return found, wrench

    def _wrenches(self, x: Nodes, vdot: Array, mu: Array) -> Array:
        """Return the wrenches of all joints (n, joint, 6) at accelerations and forces of joints."""
        if not self._d.joint_names:
            return np.zeros((len(x.t), 0, 6))
        one = np.ones(len(x.t))
        known = (x.t, x.q, x.v, x.p, one, vdot)
        if self._transmission is not None:
            mu = self._least_norm(x, known, mu, self._transmission(*known, mu, x.lam, x.slip)[0])
        if not (np.any(x.q_contact != x.q) and self._d.tree_joints):
            return self._by_joint(self._reactions(*known, mu, x.lam, x.slip)[0])
        # Contacts act along directions elsewhere. Reactions are linear in impulses: those here
        # without contacts, plus what contacts add there.
        none = (0 * x.lam, 0 * x.slip)
        there = (x.t_contact, x.q_contact, x.v, x.p, one, 0 * vdot, 0 * mu)
        (free,), (pushed,), (still,) = (
            self._reactions(*known, mu, *none),
            self._reactions(*there, x.lam, x.slip),
            self._reactions(*there, *none),
        )
        return self._by_joint(free + pushed - still)

    def _least_norm(self, x: Nodes, known: Sequence[Array], mu: Array, given: Array) -> Array:
        """Return forces of joints (n, nm) of the same effect, as `Dynamics.least_norm` does.

        ``given``: the entries of `transmission` there.
        """
        U = self._equations.self_stresses(x)
        n, nm, _ = U.shape
        R = given.reshape(n, nm, -1).transpose(0, 2, 1) @ U
        RT = R.transpose(0, 2, 1)
        S = RT @ R + np.eye(U.shape[2]) * (1 - np.sum(U**2, axis=1, keepdims=True))
        for _ in range(self._d.least_norm_passes):
            (wrenches,) = self._reactions(*known, mu, x.lam, x.slip)
            mu = mu - (U @ solve_systems(S, RT @ wrenches[:, :, None]))[:, :, 0]
        return mu

    def _by_joint(self, wrench: Array) -> Array:
        return wrench.reshape(len(wrench), len(self._d.joint_names), 6)


def hold_closed(at: EquationsAt, pressing: Mask) -> tuple[Array, Array]:
    """Return vdot, mu and normal forces in one (n, nv + nm + ng), and compliances of gaps.

    W^T vdot + bias = 0 where contacts press (n, ng), of W (n, nv, ng); elsewhere forces are zero. A
    compliance, (n, ng) [1/kg], is the acceleration of a gap by a unit force there; zero where none
    presses.
    """
    # Of many contacts few press at a node, so only as many columns as do anywhere.
    most = int(pressing.sum(axis=1).max(initial=0))
    chosen = np.argsort(~pressing, axis=1, kind="stable")[:, :most]
    force, compliance = np.zeros((2, *pressing.shape))
    found, lam, of_chosen = _hold_chosen(
        at,
        np.take_along_axis(at.W, chosen[:, None], axis=2),
        np.take_along_axis(at.gap_bias, chosen, axis=1),
        np.take_along_axis(pressing, chosen, axis=1),
    )
    np.put_along_axis(force, chosen, lam, axis=1)
    np.put_along_axis(compliance, chosen, of_chosen, axis=1)
    return np.hstack([found, force]), compliance


def _hold_chosen(
    at: EquationsAt, W: Array, bias: Array, pressing: Mask
) -> tuple[Array, Array, Array]:
    """Return vdot and mu (n, nv + nm), normal forces and compliances of chosen contacts (n, k).

    ``W`` (n, nv, k) and ``bias`` (n, k) are of these.
    """
    (n, nv, ng), m = W.shape, at.system.shape[1]
    pushed = np.concatenate([W, np.zeros((n, m - nv, ng))], axis=1)
    known = np.hstack([at.force, at.rate])[:, :, None]
    x = solve_systems(at.system, np.concatenate([pushed, known], axis=2))
    pushed, free = x[:, :, :ng], x[:, :, ng]  # by unit forces of contacts, and without any
    WT = W.transpose(0, 2, 1)
    compliance = multiply_matrices(WT, pushed[:, :nv])
    closing = -bias - multiply_matrices(WT, free[:, :nv, None])[:, :, 0]
    soft = PROXIMAL / (np.abs(at.system[:, :nv, :nv]).max(axis=(1, 2)) + TINY)
    lam, rows = np.zeros((n, ng)), np.arange(n)
    while rows.size:
        on = pressing[rows]
        system = np.where(on[:, :, None], compliance[rows], 0)
        system += np.where(on, soft[rows, None], 1)[:, None, :] * np.eye(ng)
        right = np.where(on, closing[rows], 0)
        lam[rows] = solve_systems(system, right[:, :, None])[:, :, 0]
        pulling = lam < 0
        rows = np.flatnonzero(np.any(pressing & pulling, axis=1))
        pressing = pressing & ~pulling
    found = free + multiply_matrices(pushed, lam[:, :, None])[:, :, 0]
    return found, lam, np.einsum("nkk->nk", compliance)
