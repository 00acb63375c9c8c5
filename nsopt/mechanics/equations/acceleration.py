"""Accelerations by constraints differentiated twice (index 1), for explicit integrators."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca

from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.model.element import INSTANT
from nsopt.mpcc import Mpcc

ALPHA = BETA = 5.0  # Baumgarte's gains [1/s] on the rates and on the residuals of the ideal joints

EXACT, ROUGH = 1e-11, 1e-8
"""Scaled residual at which Newton's method ends, and that above which there is no solution."""


class IndexOne(NamedTuple):
    """Accelerations, and the forces of ideal joints and friction that go with them."""

    vdot: ca.SX  # (nv,)
    mu: ca.SX  # (nc,) [N, N m] forces of the ideal joints, of least norm
    friction: ca.SX  # (nv,) [N, N m] of joints under the reactions by mu
    qdot: ca.SX  # (nq,) rates of coordinates, and of the internal states of friction


class Instant(NamedTuple):
    """Where accelerations are looked for."""

    t: ca.SX
    q: ca.SX
    v: ca.SX
    p: ca.SX


def state_index_one(
    mpcc: Mpcc,
    d: Dynamics,
    x: Instant,
    gains: tuple[float, float],
    sizes: tuple[Any, Any],
) -> IndexOne:
    """State the equations of motion for vdot and mu, stabilised by Baumgarte [RoM 2023, eq. 1].

        M vdot - F mu = applied - bias + friction(vdot, mu)
        C vdot        = -(closure_bias + 2 alpha rate + beta^2 closure)

    Multipliers of redundant rows are those of least norm; friction of joints acts at the instant,
    under the reactions that come with these accelerations.

    Parameters
    ----------
    mpcc : Mpcc
        Receives unknowns and equations; x are parameters of it.
    gains : float, float [1/s]
        alpha, beta.
    sizes : (expression of) typical force [N] and mass [kg]
        By which unknowns and equations are scaled.
    """
    (alpha, beta), (force, mass) = gains, sizes
    at, no_contacts = (x.t, x.q, x.p), (ca.SX.zeros(0), ca.SX.zeros(0))
    a = mpcc.variable("acceleration", d.nv, scale=force / mass)
    mu = mpcc.variable("joint_force", len(d.closure_names), scale=force, multiplier=True)
    loads = (*x, 1, a)  # impulses over 1 s are forces
    C, least = d.closure_matrix(*at), mu
    if d.redundant:
        least = d.least_norm(*loads, mu, *no_contacts)
    friction = ca.SX(d.nv, 1)
    if d.friction_joints:
        reactions = d.reactions(*loads, least, *no_contacts)[:, list(d.friction_joints)]
        friction = d.joint_friction(*x, INSTANT, _pick_internal(d, x.q), reactions)
    applied = d.applied(*x) - d.bias(x.q, x.v, x.p)
    motion = d.mass(x.q, x.p) @ a - d.effort_matrix(*at) @ mu - applied - friction
    rate = C @ x.v + d.closure_drift(*at)
    stabilised = d.closure_bias(*x) + 2 * alpha * rate + beta**2 * d.closure(*at)
    mpcc.equal("acceleration", motion, scale=force)
    joints = C @ a + stabilised
    if d.redundant:
        # Where joints are a little open redundant rows contradict others: that part is left out.
        stresses = d.self_stresses(*at)
        joints -= stresses @ (stresses.T @ joints)
    mpcc.equal("joint_acceleration", joints, scale=force / mass, redundant=d.redundant > 0)
    return IndexOne(a, least, friction, coordinate_rates(d, x))


def explicit_index_one(d: Dynamics, x: Instant) -> IndexOne:
    """Return the accelerations of a mechanism without constraints or friction of joints.

    By M = L D L^T, along a tree without fill-in: there are no unknowns.
    """
    M, applied = d.mass(x.q, x.p), d.applied(*x) - d.bias(x.q, x.v, x.p)
    vdot = ca.ldl_solve(applied, *ca.ldl(M))
    return IndexOne(vdot, ca.SX(0, 1), ca.SX(d.nv, 1), coordinate_rates(d, x))


def coordinate_rates(d: Dynamics, x: Instant) -> ca.SX:
    """Return the rates of the coordinates, those of internal states of friction too, (nq,)."""
    rates = d.rate_matrix(x.q) @ x.v
    if n := len(d.internal_names):
        h, z = ca.SX.sym("h"), _pick_internal(d, x.q)
        state_rates = ca.substitute(ca.jacobian(d.advance_states(*x, h, z), h), h, 0)
        rates = ca.vertcat(rates[:-n], state_rates)
    return rates


def acceleration(d: Dynamics, alpha: float = ALPHA, beta: float = BETA) -> ca.Function:
    """Return (t, q, v, p) -> (vdot (nv,), mu (nc,), qdot (nq,)), for integrators of others.

    The same as the scheme `RungeKutta` integrates. mu are the forces of the ideal joints, of least
    norm where rows are redundant. NaN where there is no solution. A root finder of CasADi is
    inside, of which it generates no C.

    Parameters
    ----------
    d : Dynamics
    alpha, beta : float [1/s]
        Gains on rates and residuals of the ideal joints, which decay as exp(s t),
        s^2 + 2 alpha s + beta^2 = 0.

    Raises
    ------
    ValueError
        If the mechanism has contacts or constraints on velocities, which need the step equations,
        or what is known from step to step only, as the speed of an impact.
    """
    if d.latches:
        raise ValueError(
            f"{d.latches[0]!r} is known from step to step: use simulate, or state it as a number"
        )
    if d.nonholonomic_names:
        raise ValueError(
            f"{d.nonholonomic_names[0]!r} is a constraint on velocities, of which there are no "
            "accelerations here: use simulate"
        )
    if d.contact_names:
        raise ValueError(
            f"contact {d.contact_names[0]!r} has no acceleration of its own: use simulate, "
            "or wrap the contact in a CompliantContact"
        )
    mpcc = Mpcc("acceleration")
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "p": len(d.parameters)}
    x = Instant(*(mpcc.parameter(name, n) for name, n in sizes.items()))
    mass = ca.sum1(d.masses(x.p)) + 1e-9
    force = mass + ca.norm_inf(d.applied(*x) - d.bias(x.q, x.v, x.p))
    found = state_index_one(mpcc, d, x, (alpha, beta), (force, mass))
    unknowns, given = mpcc.x, ca.vertcat(*x)
    outputs = ca.Function("outputs", [unknowns, given], [ca.densify(y) for y in found])
    rows = ca.Function("rows", [unknowns, given], [_make_regular(mpcc, d, x)])
    symbols = [ca.MX.sym(name, n) for name, n in sizes.items()]
    numbers = ca.vertcat(*symbols)
    newton = ca.rootfinder("newton", "newton", rows, {"error_on_fail": False, "abstol": EXACT})
    solved = newton(ca.DM.zeros(unknowns.numel()), numbers)
    residual = ca.norm_inf(rows(solved, numbers))
    solved = ca.if_else(residual <= ROUGH, solved, ca.DM.nan(unknowns.numel()))
    vdot, mu, _, qdot = outputs(solved, numbers)
    names = ["vdot", "mu", "qdot"]
    return ca.Function("acceleration", symbols, [vdot, mu, qdot], list(sizes), names)


def _make_regular(mpcc: Mpcc, d: Dynamics, x: Instant) -> ca.SX:
    """Return the scaled equations, with a regular Jacobian: redundant rows make forces unique.

    Rows that self-stresses cancel from are filled with the forces along these, to be zero.
    """
    rows = []
    for block in mpcc.equalities:
        row = block.expr / ca.SX(block.scale)
        if block.redundant:
            (forces,) = (v.scaled for v in mpcc.variables if v.multiplier)
            stresses = d.self_stresses(x.t, x.q, x.p)
            row += stresses @ (stresses.T @ forces)
        rows.append(row)
    return ca.densify(ca.vertcat(*rows))


def _pick_internal(d: Dynamics, q: ca.SX) -> ca.SX:
    return q[d.nq - len(d.internal_names) :]
