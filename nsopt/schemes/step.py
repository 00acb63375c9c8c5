"""A step, derived from the balances of momentum that a scheme states.

A scheme returns a `Transition`; of that a simulation makes a `Step`, which is accepted or refused,
and a horizon an `Interval` at each node, which costs and conditions see.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.contacts.static_friction import Grip
from nsopt.schemes.contacts.walls import WallFigures
from nsopt.schemes.errors import Errors
from nsopt.schemes.node import Node
from nsopt.schemes.terms import kinetic, same_body


class ContactEvent(IntEnum):
    """A change of contact that ends a step."""

    NONE = 0
    CLOSING = 1
    OPENING = 2
    GRAZING = 3
    STICK_SLIP = 4


@dataclass(frozen=True)
class Transition:
    """A stated step: its balances of momentum, and the state that they lead to.

    Attributes
    ----------
    balances : tuple of Balance
        In the order of time.
    end : Node
    gap : SX (ng,) [m], optional
        The gap that is complementary to the impulses; by default that at the end.
    closure : SX (nc,) [m, 1], optional
        Residuals of the ideal joints that the step brings to zero; by default those at the end.
    projection_work : SX scalar [J]
        Energy that the projection of the coordinates adds.
    """

    balances: tuple[Balance, ...]
    end: Node
    gap: ca.SX | None = None
    closure: ca.SX | None = None
    projection_work: ca.SX = field(default_factory=lambda: ca.SX(0))

    @property
    def dynamics(self) -> Dynamics:
        """The mechanism."""
        return self.balances[0].dynamics

    @property
    def impulses(self) -> Impulses:
        """Sums over the balances."""
        impulses = (Impulses.zero(self.dynamics), *(b.impulses for b in self.balances))
        return Impulses(*(sum_columns(list(column)) for column in zip(*impulses, strict=True)))

    @property
    def loss(self) -> ca.SX:
        """Energy that each contact takes, friction included, (ng,) [J]."""
        return sum_columns([b.loss for b in self.balances])

    @property
    def work(self) -> ca.SX:
        """Of loads, drives, joints and walls that move with time [J]."""
        return sum_columns([b.work for b in self.balances])


@dataclass(frozen=True)
class Step:
    """A step of a simulation, as expressions of the program's variables and parameters.

    `Step.of` derives all of it from a `Transition`; where a scheme knows better, it replaces that.

    Attributes
    ----------
    transition : Transition
    h : SX scalar [s]
        The size of the step: as given, or what the program found.
    q, v : SX (nq,), (nv,)
        End state.
    impulse : SX (ng,) [N s]
        Contact impulses over the step, >= 0.
    impact_impulse : SX (ng,) [N s]
        The part of them that acts at once, of schemes that tell it apart; else zero.
    joint_impulse : SX (nm,)
        Impulses of the rows of ideal joints, then of constraints on velocities, free in sign.
    slip_impulse : SX (ns,) [N s]
        Tangential impulses of the contacts with friction.
    gap : SX (ng,) [m]
        The gap that is complementary to the impulse.
    closure : SX (nc,) [m, 1]
        Residuals of the ideal joints that the step brings to zero.
    motion_residual : SX (nv,) [N, N m]
        Equations of motion, as forces.
    motion_size : SX (nv,) [N, N m]
        Sum of the sizes of the terms in that residual, which sets its round-off.
    loss : SX (ng,) [J]
        Energy that each contact took, friction included.
    pressed_loss : SX (ns,) [J]
        Dissipated where forces press surfaces apart.
    contact_work : SX scalar [J]
        Of the contact impulses; by default the losses, with the other sign.
    contact_energy : SX scalar [J]
        Kinetic energy, mean of both ends, of the bodies that contact impulses act on.
    energy_error : SX scalar [J]
        An embedded estimate of the local error in energy.
    local_error : SX scalar [m]
        An embedded estimate of the local error of the coordinates, in the metric of the mass.
    work : SX scalar [J]
        Of applied loads, as the step does it.
    projection_work : SX scalar [J]
        Energy that the projection of the coordinates adds.
    wall_change : SX scalar [J]
        By how much that work depends on when in the step velocities of walls, and of joints that
        move with time, are taken.
    joint_friction_work : SX scalar [J]
        Of `JointFriction` elements; positive where bristles spring back.
    frozen : SX (ng,) [N s]
        The part of the contact impulses whose direction is that at the start of the step but is
        judged at its end; none by default.
    event : SX scalar
        At which the step ended before its time: a `ContactEvent`.
    walls : WallFigures
        How well contacts are followed.
    grip : Grip or None
        The friction of the first half, of schemes with static friction: which contacts it holds.
    """

    transition: Transition
    h: ca.SX
    q: ca.SX
    v: ca.SX
    impulse: ca.SX
    impact_impulse: ca.SX
    joint_impulse: ca.SX
    slip_impulse: ca.SX
    gap: ca.SX
    closure: ca.SX
    motion_residual: ca.SX
    motion_size: ca.SX
    loss: ca.SX
    pressed_loss: ca.SX
    contact_work: ca.SX
    contact_energy: ca.SX
    energy_error: ca.SX
    local_error: ca.SX
    work: ca.SX
    projection_work: ca.SX
    wall_change: ca.SX
    joint_friction_work: ca.SX
    frozen: ca.SX
    event: ca.SX = field(default_factory=lambda: ca.SX(0))
    walls: WallFigures = field(default_factory=WallFigures)
    grip: Grip | None = None

    @classmethod
    def of(cls, transition: Transition, h: ca.SX, errors: Errors) -> Step:
        """Return the step of size ``h`` [s] that a transition makes, its errors as estimated."""
        x, d, balances = transition, transition.dynamics, transition.balances
        mu, lam, slip = x.impulses
        return cls(
            transition=x,
            h=h,
            q=x.end.q,
            v=x.end.v,
            impulse=lam,
            impact_impulse=ca.SX.zeros(lam.numel()),
            joint_impulse=mu,
            slip_impulse=slip,
            gap=x.end.gap if x.gap is None else x.gap,
            closure=d.closure(*x.end.at) if x.closure is None else x.closure,
            motion_residual=sum_columns([b.residual for b in balances]) / h,
            motion_size=sum_columns([b.size / h + ca.fabs(b.K) for b in balances]),
            loss=x.loss,
            pressed_loss=sum_columns([b.pressed_loss for b in balances]),
            contact_work=sum_columns([b.contact_work for b in balances]),
            contact_energy=find_contact_energy(transition, x.end.v),
            energy_error=errors.energy,
            local_error=errors.position,
            work=x.work,
            projection_work=x.projection_work,
            wall_change=find_wall_change(x),
            joint_friction_work=sum_columns([b.joint_friction_work for b in balances]),
            frozen=ca.SX.zeros(lam.numel()),
        )


@dataclass(frozen=True)
class Interval:
    """A node of a horizon and the step that follows, as expressions.

    `Interval.of` derives all of it from a `Transition`; where a scheme knows better, it replaces
    that.

    Attributes
    ----------
    at_node : SX (nv,)
        Velocity that counts as that of the node.
    change : SX (nv,)
        Of the velocity over ``h`` by forces and impulses, without impacts.
    impulse, joint_impulse, slip_impulse : SX (ng,), (nm,), (ns,)
        Of what acts over ``h``.
    loss : SX (ng,) [J]
        Energy that contacts take by these.
    work : SX scalar [J]
        Of drives and applied loads.
    projection_work : SX scalar [J]
    h : SX scalar [s]
        The time over which all of the above acts.
    share : SX scalar [s]
        Of the duration, for which the node stands in costs.
    impact_impulse : SX (ng,) [N s]
        Impulses that act at once at the node, at the end of the step before.
    impact_loss : SX (ng,) [J]
    impact_work : SX scalar [J]
        Of joints and walls that move with time, in these impacts.
    """

    at_node: ca.SX
    change: ca.SX
    impulse: ca.SX
    joint_impulse: ca.SX
    slip_impulse: ca.SX
    loss: ca.SX
    work: ca.SX
    projection_work: ca.SX
    h: ca.SX
    share: ca.SX
    impact_impulse: ca.SX
    impact_loss: ca.SX
    impact_work: ca.SX

    @classmethod
    def of(cls, first: Node, transition: Transition, h: ca.SX) -> Interval:
        """Return what a transition over ``h`` [s] is to the node that it starts from."""
        balances, (mu, lam, slip) = transition.balances, transition.impulses
        none = ca.SX.zeros(lam.numel())
        return cls(
            at_node=first.v,
            change=balances[-1].after - balances[0].before,
            impulse=lam,
            joint_impulse=mu,
            slip_impulse=slip,
            loss=transition.loss,
            work=transition.work,
            projection_work=transition.projection_work,
            h=h,
            share=h,
            impact_impulse=none,
            impact_loss=none,
            impact_work=ca.SX(0),
        )

    @classmethod
    def end(cls, d: Dynamics, v: ca.SX, h: ca.SX) -> Interval:
        """Return the end of a horizon at velocity v, after a step of h: nothing acts there."""
        zero, (mu, none, slip) = ca.SX(0), Impulses.zero(d)  # none of contacts, (ng,)
        return cls(
            at_node=v,
            change=ca.SX.zeros(d.nv),
            impulse=none,
            joint_impulse=mu,
            slip_impulse=slip,
            loss=none,
            work=zero,
            projection_work=zero,
            h=h,
            share=zero,
            impact_impulse=none,
            impact_loss=none,
            impact_work=zero,
        )


def find_contact_energy(x: Transition, v_end: ca.SX) -> ca.SX:
    """Return the kinetic energy of bodies that contacts act on, mean of both ends [J]."""
    pushes = sum_columns([ca.fabs(b.node.W @ b.impulses.lam) for b in x.balances])
    touched = same_body(x.dynamics) @ pushes > 0
    M, v_start = x.balances[-1].M, x.balances[0].before
    return (kinetic(M, touched * v_end) + kinetic(M, touched * v_start)) / 2


def find_wall_change(x: Transition) -> ca.SX:
    """Return by how much work depends on when in the step velocities of walls are taken [J]."""
    d, begin, end, change = x.dynamics, x.balances[0].node.t, x.end.t, ca.SX(0)
    times = begin, (begin + end) / 2, end
    for b in x.balances:
        mu, lam, slip = b.impulses
        rate_change = b.F.T @ (x.end.v - x.balances[0].before)
        change += ca.dot(ca.fabs(d.driven * mu), ca.fabs(rate_change))
        others = (1 - d.driven) * mu  # of joints that are not kept by drives
        pushed = (d.gap_drift, lam), (d.slip_drift, slip), (d.multiplier_drift, others)
        for find_speed, impulse in pushed:
            speeds = [find_speed(t, b.node.q, b.node.p) for t in times]
            change += sum(
                ca.dot(ca.fabs(impulse), ca.fabs(late - early)) for early, late in pairwise(speeds)
            )
    return change


def sum_columns(terms: list[ca.SX]) -> ca.SX:
    """Return the sum of equal columns."""
    return ca.sum2(ca.horzcat(*terms))
