"""The two halves of a symmetric step."""

from __future__ import annotations

import casadi as ca

from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.one_step import OneStep
from nsopt.schemes.step import Transition
from nsopt.schemes.terms import momentum_rate


class HalfSteps:
    """The generalised Stoermer-Verlet / RATTLE step, whose contacts have impulses of both halves.

    With K the rate of momentum, `momentum_rate`:

    ==================  ==============================================================
    first half          M_n v_h = M_n v_n + h/2 K(q_n, v_h) + W_n lam + C_n^T mu
    positions           M_n+1 v_a = M_n v_h,   q_n+1 = q_n (+) h (v_h + v_a) / 2
    ideal joints        Phi(q_n+1) = 0
    second half         M_n+1 v_n+1 = M_n+1 v_a + h/2 K(q_n+1, v_a) + W_n+1 lam' + C_n+1^T mu'
    velocities          C_n+1 v_n+1 + dPhi/dt = 0
    ==================  ==============================================================

    Parameters
    ----------
    one : OneStep
        Receives the unknowns; the equations by `state`.

    Attributes
    ----------
    v, after : SX (nv,)
        Velocity within the step: at the start and at the end of the move.
    end : Node
    """

    def __init__(self, one: OneStep) -> None:
        self._one = one
        self.v = one.velocity("v_half")
        self.after = self.v if one.dynamics.constant_mass else one.velocity("v_after")
        v_end = one.end_velocity()
        self._mu = one.impulse_of_joints("mu"), one.impulse_of_joints("mu_end")
        mean = (self.v + self.after) / 2
        self.end = one.end(one.dynamics.retract(one.start.q, one.h * mean), v_end)

    def state(self, before: ca.SX, lam: ca.SX, lam_end: ca.SX) -> Transition:
        """State the equations.

        Parameters
        ----------
        before : SX (nv,)
            Velocity that the step starts with.
        lam, lam_end : SX (ng,) [N s]
            Contact impulses of the first and the second half.
        """
        one, d, start = self._one, self._one.dynamics, self._one.start
        h, scale, v, after = one.h, one.scales.impulse, self.v, self.after
        end = self.end
        first, second = (
            Balance.of(
                d,
                node,
                velocities,
                h / 2,
                momentum_rate(d, *node.at, acting) + node.drive,
                Impulses(mu, push, ca.SX.zeros(len(d.slip_contacts))),
                acting=acting,
            )
            for node, velocities, acting, mu, push in (
                (start, (before, v), v, self._mu[0], lam),
                (end, (after, end.v), after, self._mu[1], lam_end),
            )
        )
        one.equal("motion", first.residual, scale=scale)
        if after is not v:
            one.equal("momentum", second.M @ after - first.M @ v, scale=scale)
        one.equal("motion_end", second.residual, scale=scale)
        one.equal("closure", d.closure(*end.at), scale=one.scales.time)
        one.equal("joint_rate", second.C @ end.v + d.closure_drift(*end.at))
        return Transition((first, second), end)
