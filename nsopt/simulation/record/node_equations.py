"""The Newton-Euler equations at the nodes of a motion, with the rows of ideal joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.algebra import left_null_arrays
from nsopt.arrays import Array
from nsopt.kernels import solve_systems
from nsopt.mechanics import Dynamics
from nsopt.simulation.record.evaluated_steps import evaluate_at_times

ALLOWED = 1e-9  # rate of a joint [m/s, rad/s] up to which it counts as held
MOST_NODES = 512  # nodes whose equations are in memory at once, at most
MOST_ENTRIES = 2**20  # entries of the matrices of all of them: what is much larger leaves the cache


@dataclass(frozen=True, eq=False)
class Nodes:
    """States of a motion and what acts there besides applied forces, one row for each of n times.

    Friction is a mean over the step of h that ends there, from internal states z at its start.
    Forces lam and slip of contacts are means over that step too, unless those of right after the
    node are known; directions are taken at ``t_contact`` and ``q_contact``.
    """

    t: Array  # (n,)
    q: Array  # (n, nq)
    v: Array  # (n, nv)
    p: Array  # (n, np)
    drive: Array  # (n, nv) [N, N m] forces of actuators
    h: Array  # (n,)
    z: Array  # (n, nz)
    lam: Array  # (n, ng) [N]
    slip: Array  # (n, ns) [N]
    t_contact: Array  # (n,)
    q_contact: Array  # (n, nq)

    def part(self, rows: slice) -> Nodes:
        """Return some of the nodes."""
        return Nodes(*(getattr(self, f.name)[rows] for f in fields(self)))

    def blocks(self) -> Iterator[slice]:
        """Return the rows of blocks that are evaluated at once."""
        return divide_nodes(len(self.t), self.lam.shape[1], self.v.shape[1])


def divide_nodes(n: int, ng: int, nv: int) -> Iterator[slice]:
    """Return the rows of blocks of n nodes of ng contacts that are evaluated at once."""
    rows = int(np.clip(MOST_ENTRIES // (nv * max(ng, nv) + 1), 1, MOST_NODES))
    return (slice(k, min(k + rows, n)) for k in range(0, n, rows))


class EquationsAt(NamedTuple):
    """The equations at n nodes, without contacts and friction of joints."""

    nodes: Nodes  # with velocities that the joints allow
    system: Array  # (n, nv + nm, nv + nm) matrix of vdot and mu
    force: Array  # (n, nv) [N, N m] right-hand side of the upper rows
    rate: Array  # (n, nm) right-hand side of the rows of joints, then of rolling
    gap: Array  # (n, ng) [m]
    gap_drift: Array  # (n, ng) [m/s] its rate at v = 0
    W: Array  # (n, nv, ng) directions of contacts
    T: Array  # (n, nv, ns) and along their tangents
    gap_bias: Array  # (n, ng) [m/s^2]


class NodeEquations:
    """Equations for accelerations and forces of ideal joints at nodes.

        M vdot + bias = applied forces + drive + F mu + W lam + T slip + joint friction
        C vdot + d(C v + drift)/dt = 0

    mu are those of least norm. Some schemes hold rates of joints elsewhere in the step: velocities
    that joints do not allow are then replaced by the nearest that they do, in the metric of the
    mass (where drives keep joints, along F). With gains alpha and beta, by which a scheme brings
    joints back, 2 alpha rate + beta^2 closure is added in the second row instead.
    """

    def __init__(self, dynamics: Dynamics, gains: tuple[float, float] | None = None) -> None:
        self.dynamics, self._gains = dynamics, gains
        self._matrices = partial(evaluate_at_times, _matrices(dynamics))
        self._forces = partial(evaluate_at_times, _forces(dynamics))
        self._directions = partial(evaluate_at_times, _directions(dynamics))
        friction = dynamics.friction_joints
        self._friction = partial(evaluate_at_times, dynamics.joint_friction) if friction else None

    def at(self, x: Nodes) -> EquationsAt:
        """Return the equations at some nodes."""
        n, d = len(x.t), self.dynamics
        nv, nm = d.nv, len(d.multiplier_names)
        M, C, F, rates, residuals, gap, drift, W, T = self._matrices(x.t, x.q, x.v, x.p)
        C, F = C.reshape(n, nm, nv), F.reshape(n, nv, nm)
        system = np.zeros((n, nv + nm, nv + nm))
        system[:, :nv, :nv], system[:, nv:, :nv] = M.reshape(n, nv, nv), C
        system[:, :nv, nv:] = -F
        if d.redundant:
            # Redundant rows leave mu open along U: its part there is set to zero.
            U = _self_stresses_at(d, C)
            system[:, nv:, nv:] = U @ U.transpose(0, 2, 1)
        if self._gains is None and np.any(np.abs(rates) > ALLOWED):
            right = np.hstack([np.zeros((n, nv)), -rates])[:, :, None]
            x = replace(x, v=x.v + solve_systems(system, right)[:, :nv, 0])
        force, bias, gap_bias = self._forces(x.t, x.q, x.v, x.p)
        if self._gains is not None:
            alpha, beta = self._gains
            bias = bias + 2 * alpha * rates + beta**2 * residuals
        W, T = self._shape(W, T)
        return EquationsAt(x, system, force + x.drive, -bias, gap, drift, W, T, gap_bias)

    def directions(self, t: Array, q: Array, p: Array) -> tuple[Array, Array]:
        """Return W (n, nv, ng) and T (n, nv, ns) elsewhere."""
        return self._shape(*self._directions(t, q, p))

    def _shape(self, W: Array, T: Array) -> tuple[Array, Array]:
        d = self.dynamics
        counts = len(d.contact_names), len(d.slip_contacts)
        W, T = (A.reshape(len(A), k, d.nv) for A, k in zip((W, T), counts, strict=True))
        return W.transpose(0, 2, 1), T.transpose(0, 2, 1)

    def self_stresses(self, x: Nodes) -> Array:
        """Return impulses of ideal joints without effect, (n, nm, k)."""
        C = self._matrices(x.t, x.q, x.v, x.p)[1]
        return _self_stresses_at(self.dynamics, C.reshape(len(x.t), -1, self.dynamics.nv))

    def friction(self, x: Nodes, wrench: Array) -> Array:
        """Return the friction of joints (n, nv) under the wrenches of all joints (n, joint, 6)."""
        if self._friction is None:
            return np.zeros_like(x.v)
        reactions = wrench[:, list(self.dynamics.friction_joints)].reshape(len(x.t), -1)
        return self._friction(x.t, x.q, x.v, x.p, x.h, x.z, reactions)[0]


def _self_stresses_at(d: Dynamics, C: Array) -> Array:
    """Return impulses of joints without effect, (n, nm, k), of gradients C (n, nm, nv)."""
    nc = len(d.closure_names)
    U = left_null_arrays(C[:, :nc], d.redundant)
    return np.concatenate([U, np.zeros((len(C), C.shape[1] - nc, U.shape[2]))], axis=1)


@lru_cache(maxsize=16)
def _matrices(d: Dynamics) -> ca.Function:
    """Return M, C^T, F, rates and residuals of joints; gaps, their drift, and directions."""
    t, q, v, p = inputs = _state(d)
    nr = len(d.nonholonomic_names)
    C = ca.vertcat(d.closure_matrix(t, q, p), d.nonholonomic_matrix(t, q, p))
    rates = C @ v + d.multiplier_drift(t, q, p)
    F, closure = d.effort_matrix(t, q, p), ca.vertcat(d.closure(t, q, p), ca.SX(nr, 1))
    gaps = (x(t, q, p) for x in (d.gap, d.gap_drift, d.gap_matrix, d.slip_matrix))
    return ca.Function("matrices", inputs, [d.mass(q, p), C.T, F.T, rates, closure, *gaps])


@lru_cache(maxsize=16)
def _forces(d: Dynamics) -> ca.Function:
    """Return forces on the mechanism, and the biases of its joints and gaps."""
    t, q, v, p = inputs = _state(d)
    force = d.applied(t, q, v, p) - d.bias(q, v, p)
    bias = ca.vertcat(d.closure_bias(t, q, v, p), d.nonholonomic_bias(t, q, v, p))
    return ca.Function("forces", inputs, [force, bias, d.gap_bias(t, q, v, p)])


@lru_cache(maxsize=16)
def _directions(d: Dynamics) -> ca.Function:
    """Return W and T at t, q, p."""
    t, q, _, p = _state(d)
    directions = d.gap_matrix(t, q, p), d.slip_matrix(t, q, p)
    return ca.Function("directions", [t, q, p], directions)


def _state(d: Dynamics) -> list[ca.SX]:
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "p": len(d.parameters)}
    return [ca.SX.sym(x, n) for x, n in sizes.items()]


@lru_cache(maxsize=16)
def body_accelerations(d: Dynamics) -> ca.Function:
    """Return (q, v, p, a) -> linear and angular accelerations of bodies, (3, nb) each."""
    _, q, v, p = _state(d)
    a = ca.SX.sym("a", d.nv)
    rates = d.poses(q, v, p)[2:]
    moving, change = ca.vertcat(q, v), ca.vertcat(d.rate_matrix(q) @ v, a)
    shape = (3, len(tuple(d.mechanism.bodies)))
    return ca.Function(
        "body_accelerations",
        [q, v, p, a],
        [ca.reshape(ca.jtimes(ca.vec(x), moving, change), *shape) for x in rates],
    )
