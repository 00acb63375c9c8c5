"""Reactions of the ideal joints at the nodes of a motion."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.simulation.record.evaluation import BLOCK, AtTimes

Array = NDArray[np.float64]

SAME = 1e-12
"""Of the reactions, the change at which friction under them is found."""

ALLOWED = 1e-9
"""Rate of a joint [m/s, rad/s] up to which velocities count as those that it allows."""

PLAIN, DAMPED = 50, 200
"""Iterations for that: full ones, then half as long."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """States of a motion and what acts there besides applied forces, one row for each of n times.

    Attributes
    ----------
    t, q, v, p : (n,), (n, nq), (n, nv), (n, np)
    drive : (n, nv) [N, N m]
        Forces of actuators.
    h, z : (n,), (n, nz)
        The step that ends there and the internal states of friction at its start, over which
        friction is a mean.
    lam, slip : (n, ng), (n, ns) [N]
        Contact impulses over time.
    t_contact, q_contact : (n,), (n, nq)
        Where their directions are taken.
    """

    t: Array
    q: Array
    v: Array
    p: Array
    drive: Array
    h: Array
    z: Array
    lam: Array
    slip: Array
    t_contact: Array
    q_contact: Array

    def part(self, rows: slice) -> Nodes:
        """Return some of the nodes."""
        return Nodes(*(getattr(self, f.name)[rows] for f in fields(self)))


class NodeReactions:
    """The wrenches of joints that the Newton-Euler equations need at nodes.

        M vdot + bias = applied forces + drive + F mu + W lam + T slip + joint friction
        C vdot + d(C v + drift)/dt = 0

    They have the order of the states. mu are those of least norm (`Dynamics.least_norm`). Friction
    of joints acts under these reactions; where no reactions were found that agree with it, they are
    NaN. Velocities that the joints do not allow, as some schemes hold rates of joints elsewhere in
    the step, count as the nearest that they do, in the metric of the mass; with gains alpha and
    beta, by which a scheme brings joints back, 2 alpha rate + beta^2 closure is added in the second
    row instead.
    """

    def __init__(
        self, dynamics: Dynamics, times: int, gains: tuple[float, float] | None = None
    ) -> None:
        d, self.dynamics, self._gains = dynamics, dynamics, gains
        self._matrices = AtTimes(_matrices(d), times)
        self._forces = AtTimes(_forces(d), times)
        self._reactions = AtTimes(d.reactions, times)
        self._least = AtTimes(d.least_norm, times) if d.redundant else None
        self._friction = AtTimes(d.joint_friction, times) if d.friction_joints else None

    def wrenches(self, nodes: Nodes) -> Array:
        """Return force and torque of each joint (n, joint, 6)."""
        n = len(nodes.t)
        blocks = (nodes.part(slice(k, min(k + BLOCK, n))) for k in range(0, n, BLOCK))
        return np.concatenate([self._of_block(block) for block in blocks])

    def _of_block(self, x: Nodes) -> Array:
        n, d = len(x.t), self.dynamics
        nv, nc = d.nv, len(d.closure_names)
        M, C, F, held, torn, open = self._matrices(x.t, x.q, x.v, x.p)
        C, F = C.reshape(n, nc, nv), F.reshape(n, nv, nc)
        system = np.zeros((n, nv + nc, nv + nc))
        system[:, :nv, :nv], system[:, nv:, :nv] = M.reshape(n, nv, nv), C
        system[:, :nv, nv:], system[:, nv:, nv:] = -F, held.reshape(n, nc, nc)
        if self._gains is None and np.any(np.abs(torn) > ALLOWED):
            change = _solutions(system, np.hstack([np.zeros((n, nv)), -torn]))[:, :nv]
            x = replace(x, v=x.v + change)
        at = (x.t, x.q, x.v, x.p)
        force, rate = self._forces(*at, x.t_contact, x.q_contact, x.lam, x.slip, x.drive)
        if self._gains is not None:
            alpha, beta = self._gains
            rate = rate + 2 * alpha * torn + beta**2 * open

        def loaded(force: Array) -> Array:
            """Return all wrenches (n, 6 joints) under forces (n, nv)."""
            found = _solutions(system, np.hstack([force, -rate]))
            return self._loaded(x, found[:, :nv], found[:, nv:])

        if self._friction is None:
            return loaded(force).reshape(n, -1, 6)
        wrench, found = np.zeros((n, 6 * len(d.joint_names))), np.zeros(n, dtype=bool)
        for k in range(DAMPED):
            held = wrench.reshape(n, -1, 6)[:, list(d.friction_joints)].reshape(n, -1)
            (rubbing,) = self._friction(*at, x.h, x.z, held)
            new = loaded(force + rubbing)
            found = ~(np.max(np.abs(new - wrench), axis=1) > SAME * np.max(np.abs(new), axis=1))
            wrench = new if k < PLAIN else np.where(found[:, None], new, (new + wrench) / 2)
            if found.all():
                break
        wrench[~found] = np.nan
        return wrench.reshape(n, -1, 6)

    def _loaded(self, x: Nodes, vdot: Array, mu: Array) -> Array:
        """Return all wrenches (n, 6 joints) at accelerations and forces of joints."""
        one = np.ones(len(x.t))
        known = (x.t, x.q, x.v, x.p, one, vdot)
        if self._least is not None:
            (mu,) = self._least(*known, mu, x.lam, x.slip)
        elsewhere = np.any(x.q_contact != x.q) and self.dynamics.tree_joints
        if not elsewhere:
            return self._reactions(*known, mu, x.lam, x.slip)[0]
        none = (0 * x.lam, 0 * x.slip)
        there = (x.t_contact, x.q_contact, x.v, x.p, one, 0 * vdot, 0 * mu)
        (free,), (pushed,), (still,) = (
            self._reactions(*known, mu, *none),
            self._reactions(*there, x.lam, x.slip),
            self._reactions(*there, *none),
        )
        return np.asarray(free + pushed - still)


def _solutions(A: Array, b: Array) -> Array:
    """Return x with A x = b, (n, m); of least squares where A is singular."""
    try:
        return np.asarray(np.linalg.solve(A, b[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        known = np.isfinite(b).all(axis=1)
        x = np.full_like(b, np.nan)
        for k in np.flatnonzero(known):
            x[k] = np.linalg.lstsq(A[k], b[k], rcond=None)[0]
        return x


@lru_cache(maxsize=16)
def _matrices(d: Dynamics) -> ca.Function:
    """Return M, C^T, F, the projection on self-stresses (nc, nc), rates and residuals of joints."""
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "p": len(d.parameters)}
    t, q, v, p = inputs = [ca.SX.sym(x, n) for x, n in sizes.items()]
    C, nc = d.closure_matrix(t, q, p), len(d.closure_names)
    U = d.self_stresses(t, q, p) if d.redundant else ca.SX(nc, 0)
    held = U @ U.T if d.redundant else ca.SX(nc, nc)
    rates = C @ v + d.closure_drift(t, q, p)
    F, closure = d.effort_matrix(t, q, p), d.closure(t, q, p)
    return ca.Function("matrices", inputs, [d.mass(q, p), C.T, F.T, held, rates, closure])


@lru_cache(maxsize=16)
def _forces(d: Dynamics) -> ca.Function:
    """Return forces on the mechanism, and the bias of its joints."""
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "p": len(d.parameters)}
    sizes |= {"t_contact": 1, "q_contact": d.nq}
    sizes |= {"lam": len(d.contact_names), "slip": len(d.slip_contacts), "drive": d.nv}
    t, q, v, p, tc, qc, lam, slip, drive = inputs = [ca.SX.sym(x, n) for x, n in sizes.items()]
    force = d.applied(t, q, v, p) - d.bias(q, v, p) + drive
    force += d.gap_matrix(tc, qc, p) @ lam + d.slip_matrix(tc, qc, p) @ slip
    return ca.Function("forces", inputs, [force, d.closure_bias(t, q, v, p)])
