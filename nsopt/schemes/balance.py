"""Balances of momentum, of which a step is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.contacts.friction import sum_by_contact
from nsopt.schemes.node import Node
from nsopt.schemes.terms import find_momentum_size


class Impulses(NamedTuple):
    """Impulses of joints and contacts."""

    mu: ca.SX  # (nm,) of the rows of ideal joints, then of rolling, free in sign
    lam: ca.SX  # (ng,) [N s] normal, >= 0
    slip: ca.SX  # (ns,) [N s] tangential, of the contacts with friction

    @classmethod
    def zero(cls, d: Dynamics) -> Impulses:
        """Return the impulses where nothing acts."""
        sizes = (d.multiplier_names, d.contact_names, d.slip_contacts)
        return cls(*(ca.SX.zeros(len(x)) for x in sizes))


@dataclass(frozen=True)
class Balance:
    """A balance of momentum, M (v+ - v-) = h K + W lam + T slip + F mu + joint friction.

    A step at the velocity level has one, a step of two halves has two, an impact is one with h = 0.
    Within a step M v is the momentum of the move (`Dynamics.momentum`). What a step does (impulses,
    losses, work, residuals) is summed over its balances.

    Attributes
    ----------
    dynamics : Dynamics
    node : Node
        Where the directions W, T, F are taken; F is C^T, but of joints that are kept by drives.
    before, after : SX (nv,)
        Velocities v- and v+.
    h : SX scalar [s]
    K : SX (nv,) [N, N m]
        Smooth forces, those of drives included.
    impulses : Impulses
    M : SX (nv, nv)
    load_work : SX scalar [J]
        Of applied loads and drives.
    joint_friction : SX (nv,) [N s, N m s]
        Impulse of `JointFriction` elements.
    joint_friction_work : SX scalar [J]
        Positive where bristles spring back.
    momenta : SX (nv,), SX (nv,)
        Before and after.
    contact_before : SX (nv,)
        Velocity that contacts meet with: ``before``, or that at an impact within the step.
    contact_drift : SX (ng,) [m/s]
        Rates of gaps at that time less those at the node, at the same v.
    pressed_loss : SX (ns,) [J]
        Dissipated where forces press surfaces apart (`Dynamics.pressed_loss`).
    """

    dynamics: Dynamics
    node: Node
    before: ca.SX
    after: ca.SX
    h: ca.SX
    K: ca.SX
    impulses: Impulses
    M: ca.SX
    load_work: ca.SX
    joint_friction: ca.SX
    joint_friction_work: ca.SX
    momenta: tuple[ca.SX, ca.SX]
    contact_before: ca.SX
    contact_drift: ca.SX
    pressed_loss: ca.SX

    @classmethod
    def of(
        cls,
        d: Dynamics,
        node: Node,
        velocities: tuple[ca.SX, ca.SX],
        h: ca.SX,
        K: ca.SX,
        impulses: Impulses,
        *,
        M: ca.SX | None = None,
        acting: ca.SX | None = None,
        load_work: ca.SX | None = None,
        joint_friction: ca.SX | None = None,
        momenta: tuple[ca.SX, ca.SX] | None = None,
        contact_before: ca.SX | None = None,
        contact_drift: ca.SX | None = None,
    ) -> Self:
        """Return a balance; what is not given follows from the rest.

        Parameters
        ----------
        velocities : SX (nv,), SX (nv,)
            Before and after.
        M : SX (nv, nv), optional
            That at the node by default.
        acting : SX (nv,), optional
            Velocity at which forces are evaluated, the mean by default.
        load_work : SX scalar [J], optional
            By default of loads at the node, on the mean velocity.
        joint_friction : SX (nv,), optional
            None by default.
        momenta : SX (nv,), SX (nv,), optional
            Before and after, M v- and M v+ by default.
        contact_before : SX (nv,), optional
            That before by default.
        contact_drift : SX (ng,), optional
            None by default.
        """
        before, after = velocities
        mean = (before + after) / 2
        M = d.mass(node.q, node.p) if M is None else M
        acting = mean if acting is None else acting
        friction = ca.SX(d.nv, 1) if joint_friction is None else joint_friction
        if load_work is None:
            load_work = h * ca.dot(d.external(node.t, node.q, acting, node.p) + node.drive, mean)
        momenta = momenta or (M @ before, M @ after)
        friction_work = ca.dot(friction, acting)
        meeting = before if contact_before is None else contact_before
        drift = ca.SX.zeros(impulses.lam.numel()) if contact_drift is None else contact_drift
        pressed_loss = h * d.pressed_loss(node.t, node.q, acting, node.p, mean)
        rest = (load_work, friction, friction_work, momenta, meeting, drift, pressed_loss)
        return cls(d, node, before, after, h, K, impulses, M, *rest)

    @cached_property
    def C(self) -> ca.SX:
        """Gradients of the ideal joints, (nc, nv)."""
        return self.dynamics.closure_matrix(*self.node.at)

    @cached_property
    def F(self) -> ca.SX:
        """Directions of the impulses mu, (nv, nm)."""
        return self.dynamics.effort_matrix(*self.node.at)

    @cached_property
    def T(self) -> ca.SX:
        """Directions of slip, (nv, ns)."""
        return self.dynamics.slip_matrix(*self.node.at)

    @property
    def contact_impulse(self) -> ca.SX:
        """Generalized impulse of the contacts, friction included, (nv,)."""
        return self.node.W @ self.impulses.lam + self.T @ self.impulses.slip

    @cached_property
    def residual(self) -> ca.SX:
        """The residual of the balance, (nv,) [N s, N m s]; at zero the equation of motion holds."""
        pushed = self.h * self.K + self.contact_impulse + self.F @ self.impulses.mu
        before, after = self.momenta
        return after - before - pushed - self.joint_friction

    @property
    def size(self) -> ca.SX:
        """Sum of the sizes of the terms without smooth forces, (nv,) [N s, N m s]."""
        speed = ca.fabs(self.after) + ca.fabs(self.before)
        mu, lam, _ = self.impulses
        return find_momentum_size(self.M, speed, self.node.W, lam, self.F, mu)

    @cached_property
    def loss(self) -> ca.SX:
        """Energy that each contact takes, friction included, (ng,) [J]."""
        mean = (self.contact_before + self.after) / 2
        slip_work = self.impulses.slip * (self.T.T @ mean + self.node.slip_drift)
        gap_rate = self.node.gap_rate(mean) + self.contact_drift / 2
        return -self.impulses.lam * gap_rate - sum_by_contact(self.dynamics, slip_work)

    @property
    def contact_work(self) -> ca.SX:
        """Of the contact impulses on the velocities that they change [J]."""
        return -ca.sum1(self.loss)

    @property
    def wall_work(self) -> ca.SX:
        """Of contacts whose surfaces move with time [J]; zero of others."""
        _, lam, slip = self.impulses
        return -ca.dot(lam, self.node.drift) - ca.dot(slip, self.node.slip_drift)

    @property
    def work(self) -> ca.SX:
        """Of applied loads, drives, joints and walls that move with time [J]."""
        return self.load_work + self.driver_work + self.wall_work

    @property
    def driver_work(self) -> ca.SX:
        """Of joints that move with time, or are kept by drives [J].

        On the mean velocity of what they push, impacts included, so that energy is balanced.
        """
        rows = self.dynamics.working_rows
        if not rows:
            return ca.SX(0)
        pushed = self.F[:, rows] @ self.impulses.mu[rows]
        return ca.dot(pushed, (self.before + self.after) / 2)

    def __add__(self, other: Balance) -> Balance:
        """Return both as one, of balances at the same node that follow each other."""
        columns = zip(self.impulses, other.impulses, strict=True)
        return replace(
            self,
            after=other.after,
            h=self.h + other.h,
            K=self.K + other.K,
            impulses=Impulses(*(a + b for a, b in columns)),
            load_work=self.load_work + other.load_work,
            joint_friction=self.joint_friction + other.joint_friction,
            joint_friction_work=self.joint_friction_work + other.joint_friction_work,
            momenta=(self.momenta[0], other.momenta[1]),
            pressed_loss=self.pressed_loss + other.pressed_loss,
        )
