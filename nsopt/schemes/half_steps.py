"""The two halves of a symmetric step."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from nsopt.schemes.balance import Impulses
from nsopt.schemes.held_balance import HeldBalance, rates_of_halves
from nsopt.schemes.one_step import OneStep
from nsopt.schemes.step import Transition
from nsopt.schemes.terms import coordinates_after


class HalfSteps:
    """The Stoermer-Verlet / RATTLE step, whose contacts have impulses of both halves.

    With u = u(q_n, v_h) the twists of the move, P(q, u, h) its momentum (`Variational`):

    ==================  ==============================================================
    first half          P(q_n, u, h) = M_n v_n + h/2 Q_A(q_n, v_h) + W_n lam + C_n^T mu
    positions           q_n+1 = q_n (+) h v_h
    ideal joints        Phi(q_n+1) = 0
    second half         M_n+1 v_n+1 = P(q_n+1, u, -h) + h/2 Q_A(q_n+1, v_h) + W_n+1 lam'
                        + C_n+1^T mu'
    velocities          C_n+1 v_n+1 + dPhi/dt = 0
    ==================  ==============================================================

    The unknowns, ``v`` (nv,) of the move among them, are made at once, the equations by `state`.
    """

    def __init__(self, one: OneStep) -> None:
        self._one = one
        self.v = one.velocity("v_half")
        v_end = one.end_velocity()
        self._mu = one.impulse_of_joints("mu"), one.impulse_of_joints("mu_end")
        self.end = one.end(coordinates_after(one.dynamics, one.start, one.h, self.v), v_end)

    def state(self, before: ca.SX, lam: ca.SX, lam_end: ca.SX) -> Transition:
        """State the equations from a velocity (nv,), of contact impulses (ng,) of both halves."""
        one, d, start = self._one, self._one.dynamics, self._one.start
        h, scale, v, end = one.h, one.scales.impulse, self.v, self.end
        M, M_end = d.mass(start.q, start.p), d.mass(end.q, end.p)
        u = d.twists(start.q, v, h, start.p)
        leaving, arriving = d.momentum(start.q, u, h, start.p), d.momentum(end.q, u, -h, end.p)
        early, late = rates_of_halves(d, start, end, (before, v, end.v))
        first, second = (
            replace(
                HeldBalance.of(
                    d,
                    node,
                    velocities,
                    h / 2,
                    d.applied(node.t, node.q, v, node.p) + node.drive,
                    Impulses(mu, push, ca.SX.zeros(len(d.slip_contacts))),
                    acting=v,
                    momenta=momenta,
                ),
                rates=rates,
            )
            for node, velocities, momenta, mu, push, rates in (
                (start, (before, v), (M @ before, leaving), self._mu[0], lam, early),
                (end, (v, end.v), (arriving, M_end @ end.v), self._mu[1], lam_end, late),
            )
        )
        one.equal("motion", first.residual, scale=scale)
        one.equal("motion_end", second.residual, scale=scale)
        one.close("closure", d.closure(*end.at), scale=one.scales.time)
        one.close("joint_rate", second.C @ end.v + d.closure_drift(*end.at))
        return Transition((first, second), end)
