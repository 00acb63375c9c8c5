"""The two halves of a symmetric step, in which contacts that press stay closed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.contacts.friction import sum_by_contact
from nsopt.schemes.node import Node
from nsopt.schemes.one_step import OneStep
from nsopt.schemes.step import Transition
from nsopt.schemes.terms import (
    ReactionLoads,
    advance_coordinates,
    find_mean_joint_friction,
    rolling,
    rolling_over,
)


class Rates(NamedTuple):
    """Rates at v = 0, of what moves with time."""

    gaps: ca.SX  # (ng,) [m/s]
    slips: ca.SX  # (ns,) [m/s]
    rows: ca.SX  # (nm,) [m/s, rad/s] of ideal joints, then of rolling

    @classmethod
    def at(cls, d: Dynamics, t: ca.SX, q: ca.SX, p: ca.SX) -> Rates:
        """Return the rates at a time and coordinates."""
        return cls(d.gap_drift(t, q, p), d.slip_drift(t, q, p), d.multiplier_drift(t, q, p))


def find_rates_of_halves(
    d: Dynamics, first: Node, second: Node, v: tuple[ca.SX, ca.SX, ca.SX]
) -> tuple[Rates, Rates]:
    """Return the rates by which the impulses of both halves of a step do work (`HeldBalance`).

    v are velocities (nv,) at the start, of the move and at the end.
    """
    (before, move, after), h = v, second.t - first.t
    # The middle is the mean of those seen from both ends, so that the step stays symmetric.
    forward = advance_coordinates(d, first, h / 2, (before + move) / 2)
    backward = advance_coordinates(d, second, -h / 2, (move + after) / 2)
    t = (first.t + second.t) / 2
    places = first.at, second.at, (t, forward, first.p), (t, backward, first.p)
    begin, end, *middle = (Rates.at(d, *place) for place in places)
    changes = [(m + n - u - w) / 3 for u, w, m, n in zip(begin, end, *middle, strict=True)]
    return (
        Rates(*(u + change for u, change in zip(begin, changes, strict=True))),
        Rates(*(w + change for w, change in zip(end, changes, strict=True))),
    )


@dataclass(frozen=True)
class HeldBalance(Balance):
    """Half of a step; each contact that presses is held closed.

    Such a contact takes energy by its mean slip over the step alone, so none where it sticks. Walls
    and joints that move with time do work along their own motion. A force at the time t in the step
    counts with the weight 1 - t/h in the impulse of the first half, t/h in that of the second. So
    with the rates u at v = 0, at both ends and in the middle (`find_rates_of_halves`), the work

        -lam u_n - lam' u_n+1 - 2/3 (lam + lam') (u_m - (u_n + u_n+1) / 2)

    is of fourth order in h where the other forces and the directions are constant, else of second
    order, as the impulses of the halves are.
    """

    rates: Rates = field(kw_only=True, default=Rates(*(ca.SX(0, 1),) * 3))
    mean_slip: ca.SX = field(kw_only=True, default=ca.SX(0, 1))  # (ns,) [m/s]

    @property
    def loss(self) -> ca.SX:
        """Energy that each contact takes by friction, (ng,) [J]."""
        return -sum_by_contact(self.dynamics, self.impulses.slip * self.mean_slip)

    @property
    def contact_work(self) -> ca.SX:
        return -ca.sum1(super().loss)

    @property
    def wall_work(self) -> ca.SX:
        _, lam, slip = self.impulses
        return -ca.dot(lam, self.rates.gaps) - ca.dot(slip, self.rates.slips)

    @property
    def driver_work(self) -> ca.SX:
        """Work of joints that move with time; of those kept by drives on the mean velocity [J]."""
        d, mu = self.dynamics, self.impulses.mu
        if not d.working_rows:
            return ca.SX(0)
        driven = self.F @ (d.driven * mu)
        by_motion = ca.dot((1 - d.driven) * mu, self.rates.rows)
        return ca.dot(driven, (self.before + self.after) / 2) - by_motion


class HalfSteps:
    """The Stoermer-Verlet / RATTLE step, whose contacts have impulses of both halves.

    With u = u(q_n, v_h) the twists of the move, P(q, u, h) its momentum (`Variational`):

    ==================  ==============================================================
    first half          P(q_n, u, h) = M_n v_n + h/2 Q_A(q_n, v_h) + W_n lam + T_n lam_t + C_n^T mu
    positions           q_n+1 = q_n (+) h v_h
    ideal joints        Phi(q_n+1) = 0
    rolling             B v_h + s = 0  at q_n (+) h/2 v_h
    second half         M_n+1 v_n+1 = P(q_n+1, u, -h) + h/2 Q_A(q_n+1, v_h) + W_n+1 lam'
                        + T_n+1 lam_t' + C_n+1^T mu'
    velocities          C_n+1 v_n+1 + dPhi/dt = 0,  B_n+1 v_n+1 + s_n+1 = 0
    ==================  ==============================================================

    Friction of joints acts in both halves as dissipative forces do, under the reactions of each.
    The constructor adds the unknowns, among them ``v`` (nv,) of the move; `state` the equations.
    """

    def __init__(self, one: OneStep) -> None:
        self._one = one
        self.v = one.velocity("v_half")
        v_end = one.end_velocity()
        self._mu = one.impulse_of_joints("mu"), one.impulse_of_joints("mu_end")
        self.end = one.end(advance_coordinates(one.dynamics, one.start, one.h, self.v), v_end)

    def state(
        self,
        before: ca.SX,
        lam: tuple[ca.SX, ca.SX],
        slip: tuple[ca.SX, ca.SX] | None = None,
        mean_slip: ca.SX | None = None,
    ) -> Transition:
        """State the equations from a velocity (nv,), of contact impulses (ng,) of both halves.

        Tangential ones (ns,) and the mean slip (ns,) [m/s] are none by default.
        """
        one, d, start = self._one, self._one.dynamics, self._one.start
        h, scale, v, end = one.h, one.scales.impulse, self.v, self.end
        M, M_end = d.mass(start.q, start.p), d.mass(end.q, end.p)
        none = ca.SX.zeros(len(d.slip_contacts))
        slip, mean_slip = slip or (none, none), none if mean_slip is None else mean_slip
        u = d.twists(start.q, v, h, start.p)
        leaving, arriving = d.momentum(start.q, u, h, start.p), d.momentum(end.q, u, -h, end.p)
        all_rates = find_rates_of_halves(d, start, end, (before, v, end.v))
        changes = (v - before, end.v - v)
        loads = (ReactionLoads(h / 2, *x) for x in zip(changes, self._mu, lam, slip, strict=True))
        first, second = (
            replace(
                HeldBalance.of(
                    d,
                    node,
                    velocities,
                    h / 2,
                    d.applied(node.t, node.q, v, node.p) + node.drive,
                    Impulses(load.mu, load.lam, load.slip),
                    acting=v,
                    momenta=momenta,
                    joint_friction=h / 2 * find_mean_joint_friction(d, start, node.at, v, h, load),
                ),
                rates=rates,
                mean_slip=mean_slip,
            )
            for node, velocities, momenta, load, rates in zip(
                (start, end),
                ((before, v), (v, end.v)),
                ((M @ before, leaving), (arriving, M_end @ end.v)),
                loads,
                all_rates,
                strict=True,
            )
        )
        one.equal("motion", first.residual, scale=scale)
        one.equal("motion_end", second.residual, scale=scale)
        one.close("closure", d.closure(*end.at), scale=one.scales.time)
        one.equal("rolling", rolling_over(d, start, h, v))
        one.close("joint_rate", second.C @ end.v + d.closure_drift(*end.at))
        one.equal("rolling_end", rolling(d, end.at, end.v))
        return Transition((first, second), end)
