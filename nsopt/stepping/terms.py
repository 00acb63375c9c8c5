"""Terms that step equations share."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.stepping.node import Node
from nsopt.stepping.scheme import StepStart


def smooth_forces(d: Dynamics, t: ca.SX, q: ca.SX, p: ca.SX, v: ca.SX) -> ca.SX:
    """Return K = Q_A - S (eq. 26 of [NLP-clearance 2024]), (nv,)."""
    return d.applied(t, q, v, p) - d.bias(q, v, p)


def internal(d: Dynamics, q: ca.SX) -> ca.SX:
    """Return the internal states of friction, the last coordinates, (nz,)."""
    return q[d.nq - len(d.internal_names) :]


def moved(d: Dynamics, start: StepStart | Node, h: ca.SX, v: ca.SX) -> ca.SX:
    """Return the coordinates after h at velocity v, internal states settled, (nq,)."""
    q = d.retract(start.q, h * v)
    if n := len(d.internal_names):
        z = internal(d, start.q)
        q = ca.vertcat(q[:-n], d.settled(start.t, start.q, v, start.p, h, z))
    return q


def rub(
    d: Dynamics,
    start: StepStart | Node,
    at: tuple[ca.SX, ca.SX, ca.SX],
    v: ca.SX,
    h: ca.SX,
    change: ca.SX,
    mu: ca.SX,
    lam: ca.SX,
    slip: ca.SX,
    time: ca.SX,
) -> ca.SX:
    """Return the mean friction in joints over the step, (nv,).

    Parameters
    ----------
    at : t, q, p
        Where directions are taken.
    v : SX (nv,)
        On the way.
    change : SX (nv,)
        Of v over ``time`` [s].
    mu, lam, slip : SX (nc,), (ng,), (ns,)
        Impulses over that time, which make the reactions with it.
    """
    if not d.rubbed:
        return ca.SX(d.nv, 1)
    t, q, p = at
    bears = bearing(d, at, v, change, mu, lam, slip, time)
    return d.rubbing(t, q, v, p, h, internal(d, start.q), bears)


def bearing(
    d: Dynamics,
    at: tuple[ca.SX, ca.SX, ca.SX],
    v: ca.SX,
    change: ca.SX,
    mu: ca.SX,
    lam: ca.SX,
    slip: ca.SX,
    time: ca.SX,
) -> ca.SX:
    """Return the mean reactions of the joints that rub over ``time``, (6, their number).

    Arguments as for `rub`.
    """
    t, q, p = at
    return d.reactions(t, q, v, p, time, change, mu, lam, slip)[:, list(d.rubbed)] / time


def kick(d: Dynamics, t: ca.SX, q: ca.SX, p: ca.SX, v: ca.SX) -> ca.SX:
    """Return the force on the momentum M v at velocity v: K + (dM/dt) v, (nv,)."""
    return smooth_forces(d, t, q, p, v) + inertia_rate(d, q, p, v)


def inertia_rate(d: Dynamics, q: ca.SX, p: ca.SX, v: ca.SX) -> ca.SX:
    """Return (dM/dt) v at velocity v, (nv,)."""
    if d.constant_mass:
        return ca.SX(d.nv, 1)
    x, u = ca.SX.sym("x", d.nq), ca.SX.sym("u", d.nv)
    rate = ca.jtimes(d.mass(x, p) @ u, x, d.rate_matrix(x) @ u)
    return ca.substitute(rate, ca.vertcat(x, u), ca.vertcat(q, v))


def forced(
    d: Dynamics,
    at: tuple[ca.SX, ca.SX, ca.SX],
    change: ca.SX,
    kicks: Sequence[tuple[ca.SX, ca.SX]],
) -> ca.SX:
    """Return what of a change of v by kicks, each at a velocity over a time, is of forces, (nv,).

    A kick adds (dM/dt) v to the momentum, which the move takes away again.
    """
    if d.constant_mass:
        return change
    _, q, p = at
    rate = sum((h * inertia_rate(d, q, p, v) for v, h in kicks), ca.SX.zeros(d.nv))
    return change - ca.solve(metric(d.mass(q, p)), rate)


def external_work(
    d: Dynamics,
    start: StepStart,
    h: ca.SX,
    q: ca.SX,
    first: tuple[ca.SX, ca.SX],
    second: tuple[ca.SX, ca.SX],
) -> ca.SX:
    """Return the work of applied loads in a step of two half kicks [J].

    Parameters
    ----------
    q : SX (nq,)
        At the end.
    first, second : SX (nv,), SX (nv,)
        The velocity at which each kick is taken, and the mean of those before and after it.
    """
    before = d.external(start.t, start.q, first[0], start.p)
    after = d.external(start.t + h, q, second[0], start.p)
    return h / 2 * (ca.dot(before, first[1]) + ca.dot(after, second[1]))


def joint_work(d: Dynamics, at: tuple[ca.SX, ca.SX, ca.SX], mu: ca.SX) -> ca.SX:
    """Return the work of joints that move with time under impulses mu [J]; of others it is zero."""
    return -ca.dot(mu, d.closure_drift(*at))


def metric(M: ca.SX) -> ca.SX:
    """Return the mass matrix, motions without mass given the mean mass of the others."""
    diagonal = ca.diag(M)
    massless = diagonal == 0
    mean = ca.sum1(diagonal) / ca.fmax(ca.sum1(ca.logic_not(massless)), 1)
    return ca.sparsify(M + ca.diag(massless) * mean)


def energy_error(
    M: ca.SX, M_start: ca.SX, turned: ca.SX, change: ca.SX, bent: ca.SX, v: ca.SX
) -> ca.SX:
    """Return an estimate of the local energy error of a symmetric step [J], of order h^3.

    Parameters
    ----------
    M, M_start : SX (nv, nv)
        Mass matrix at both ends.
    turned : SX (nv,)
        What taking all impulses at the other end would change.
    change : SX (nv,)
        Of the velocity.
    bent : SX (nv,)
        `bend` of the smooth forces: where they set in, all of the error.
    v : SX (nv,)
        On the way.
    """
    twice = 2 * kinetic(M, change)
    from_forces = ca.sqrt(square(M, turned) * twice) / 2 + ca.sqrt(
        square(M, bent) * 2 * kinetic(M, v)
    )
    if (M - M_start).is_zero():
        return from_forces
    return from_forces + ca.sqrt(square(M, (M - M_start) @ change) * twice)


def bend(d: Dynamics, start: StepStart, h: ca.SX, v: ca.SX, ends: ca.SX) -> ca.SX:
    """Return by how much the impulse of the smooth forces is off (nv,) [N s, N m s].

    Two thirds of the difference between trapezoidal and midpoint rule.

    Parameters
    ----------
    v : SX (nv,)
        On the way.
    ends : SX (nv,)
        Sum of the forces at both ends.
    """
    q = d.retract(start.q, h / 2 * v)
    return 2 / 3 * h * (ends / 2 - kick(d, start.t + h / 2, q, start.p, v))


def same_body(dynamics: Dynamics) -> ca.DM:
    """Return which velocities belong to one body, shape (nv, nv)."""
    owners = np.array(dynamics.v_owners)
    return ca.DM((owners[:, None] == owners[None, :]).astype(float))


def kinetic(M: ca.SX, v: ca.SX) -> ca.SX:
    """Return the kinetic energy [J]."""
    return ca.dot(v, M @ v) / 2


def momentum_size(M: ca.SX, v: ca.SX, W: ca.SX, lam: ca.SX, C: ca.SX, mu: ca.SX) -> ca.SX:
    """Return the sizes of the terms of a momentum balance (nv,) [N s, N m s].

    Every contact counts with the largest impulse: one system is solved for all of them, so each
    is known to the round-off of that one.

    Parameters
    ----------
    v : SX (nv,)
        Sum of the sizes of the velocities.
    """
    pushes = ca.sum2(ca.fabs(W)) * ca.mmax(ca.fabs(lam)) if lam.numel() else 0
    return ca.fabs(M) @ v + pushes + ca.fabs(C.T) @ ca.fabs(mu)


def square(M: ca.SX, impulse: ca.SX) -> ca.SX:
    """Return impulse . M^-1 impulse, twice the kinetic energy it gives a mechanism at rest [J]."""
    return ca.dot(impulse, ca.solve(metric(M), impulse))
