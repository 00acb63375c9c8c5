"""Contacts that are closed or open: known, or found by complementarity.

A step of a simulation starts from a known state, which tells which contacts are closed. Over a
horizon states are unknowns, and one statement must hold for both, closed and open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.node import Node
from nsopt.schemes.scales import Scales
from nsopt.schemes.terms import find_normals, smooth_forces, solve_mass

TOUCH = 1e-10  # of a typical opening, `Gap.scale`, the gap up to which a contact is closed
FASTER = 10.0  # times the typical rate of a gap, the scale of rates of `ReachedGaps`
HALF = 0.5  # guess of the unknown of `state_touching`, from 0 to 1


@dataclass(frozen=True)
class ContactModes(ABC):
    """Contacts at the velocity level: those that are closed press or leave, others do nothing."""

    mpcc: Mpcc
    dynamics: Dynamics
    scales: Scales

    @abstractmethod
    def press(self, name: str, rate: ca.SX, lam: ca.SX) -> ca.SX | None:
        """State 0 <= rate _|_ lam >= 0 of closed contacts, lam = 0 of others, in rows of a name.

        The rate (ng,) [m/s] of the gaps is that after the impulses lam (ng,) [N s]. Return by how
        much closed contacts that take no impulse still approach, (ng,) [m/s], where the rows allow
        that; None where they do not.
        """

    @contextmanager
    def before(self, name: str) -> Iterator[Self]:
        """Yield these contacts for statements that are solved before.

        Where modes are known these are a program of that name, see `Mpcc.before`; else they are
        part of the same program.
        """
        del name
        yield self


@dataclass(frozen=True)
class KnownModes(ContactModes):
    """Contacts that are known to be closed or open."""

    closed: ca.SX  # (ng,), 0 or 1

    def press(self, name: str, rate: ca.SX, lam: ca.SX) -> ca.SX | None:
        sizes, labels = find_rate_scales(self.scales), self.dynamics.contact_names
        self.mpcc.complement(name, rate, lam, scale=sizes, labels=labels, active=self.closed)
        return None

    @contextmanager
    def before(self, name: str) -> Iterator[Self]:
        with self.mpcc.before(name) as earlier:
            yield replace(self, mpcc=earlier)


@dataclass(frozen=True)
class ClosedGaps(ContactModes):
    """Contacts closed where a gap is zero, which the next step keeps at zero or above."""

    gap: ca.SX  # (ng,) [m]

    def press(self, name: str, rate: ca.SX, lam: ca.SX) -> ca.SX | None:
        sizes, labels = (self.scales.gap, self.scales.impulse), self.dynamics.contact_names
        self.mpcc.complement(f"{name}_closed", self.gap, lam, scale=sizes, labels=labels)
        return zero_where_pressed(self.mpcc, name, rate, lam, find_rate_scales(self.scales), labels)


@dataclass(frozen=True)
class ReachedGaps(ContactModes):
    """Contacts that are closed where a gap is zero or below, by a switch that has a width.

        0 <= rate + sharp/T max(gap, 0) _|_ lam >= 0

    with the typical step T: a gap below zero is closed, one above 1/sharp of what it closes by in T
    is open, those between are partly closed.
    """

    node: Node  # sharp is `Node.sharp`, which grows along a homotopy, to 1000
    away: ca.SX  # (ng,) [m] max(gap, 0)
    closed: ca.SX  # (ng,), from 0 to 1 with viscous friction, 0 without: see `state_touching`

    @classmethod
    def at(
        cls, mpcc: Mpcc, d: Dynamics, scales: Scales, node: Node, gap: ca.SX, guess: ca.SX
    ) -> ReachedGaps:
        """State which gaps (ng,) [m] are reached; ``guess`` is that of the gaps."""
        away, below = split_parts(mpcc, "reach", gap, scales.gap, guess)
        sizes = (scales.gap, scales.gap)
        mpcc.complement("reach_parts", away, below, scale=sizes, labels=d.contact_names)
        return cls(mpcc, d, scales, node, away, state_touching(mpcc, d, node, away, scales.gap))

    def press(self, name: str, rate: ca.SX, lam: ca.SX) -> ca.SX | None:
        scale, impulse = find_rate_scales(self.scales)
        rate += self.node.sharp / self.scales.time * self.away
        sizes, labels = (FASTER * scale, impulse), self.dynamics.contact_names
        self.mpcc.complement(name, rate, lam, scale=sizes, labels=labels)
        return None


def find_rate_scales(scales: Scales) -> tuple[ca.SX, ca.SX]:
    """Return the scales of the rate of a gap and of a contact impulse."""
    return scales.gap / scales.time, scales.impulse


def zero_where_pressed(
    mpcc: Mpcc,
    name: str,
    rate: ca.SX,
    lam: ca.SX,
    scale: tuple[ca.SX, ca.SX],
    labels: tuple[str, ...],
) -> ca.SX:
    """State rate = 0 where lam > 0, and nothing elsewhere; return the negative part of rate."""
    up, down = split_parts(mpcc, name, rate, scale[0])
    mpcc.complement(f"{name}_parts", up, down, scale=(scale[0], scale[0]), labels=labels)
    mpcc.complement(f"{name}_size", up + down, lam, scale=scale, labels=labels)
    return down


def state_touching(mpcc: Mpcc, d: Dynamics, node: Node, gap: ca.SX, scale: ca.SX) -> ca.SX:
    """Return max(1 - sharp gap / scale, 0): which contacts touch, (ng,); sharp is `Node.sharp`.

    Only for contacts with viscous friction; zero for the others. The solver keeps gaps (ng,) [m] at
    zero or more.
    """
    viscous = d.viscous(node.p)
    some = [k for k in range(gap.numel()) if not viscous[k].is_zero()]
    closed = ca.SX.zeros(gap.numel())
    if not some:
        return closed
    on = mpcc.variable("touching", len(some), guess=HALF)
    names = [d.contact_names[k] for k in some]
    mpcc.complement("touching", on, on - 1 + node.sharp * (gap / scale)[some], labels=names)
    for i, k in enumerate(some):
        closed[k] = on[i]
    return closed


def split_parts(
    mpcc: Mpcc, name: str, x: ca.SX, scale: ca.SX, guess: ca.SX | float = 0.0
) -> tuple[ca.SX, ca.SX]:
    """Return two unknowns of zero or more whose difference is x.

    The caller makes them complementary to each other, or to something else: otherwise a solver lets
    both grow without end.
    """
    above, below = (
        mpcc.variable(f"{name}_{part}", x.numel(), scale=scale, guess=ca.fmax(sign * guess, 0))
        for part, sign in (("above", 1), ("below", -1))
    )
    mpcc.equal(name, x - above + below, scale=scale)
    return above, below


ARRIVING = 100  # times the gap that counts as closed, the way in a step from which a contact hits
SAME_SIDE = 0.5  # least cosine between normals at both ends of a step of a lasting contact


@dataclass(frozen=True)
class StepContacts:
    """The contacts of a step as the start of it tells.

    Lasting ones are closed, and headed for the same side of their clearance. D are directions of
    the impulses of the first half: of a lasting contact the gradient of the gap at the start, as
    in the discrete Euler-Lagrange equations; of others the normal where free motion would lead,
    along which a wall is reached even across the clearance.
    """

    closed: ca.SX  # (ng,), 0 or 1
    lasting: ca.SX  # (ng,), 0 or 1
    D: ca.SX  # (nv, ng)


def find_step_contacts(d: Dynamics, start: Node, h: ca.SX, closed: float) -> StepContacts:
    """Return the contacts of a step of h; closed up to that part of their typical opening."""
    if start.gap.numel() == 0:
        return StepContacts(ca.SX(0, 1), ca.SX(0, 1), ca.SX(d.nv, 0))
    forces = smooth_forces(d, *start.at, start.v)
    a = solve_mass(d.mass(start.q, start.p), forces)
    there = (start.t + h, d.retract(start.q, h * (start.v + h / 2 * a)), start.p)
    touch = closed * d.gap_scale(start.p)
    # What lies on its wall and still approaches is about to hit it.
    arrives = h * start.gap_rate(start.v) < -ARRIVING * touch
    is_closed = (start.gap <= touch) * (1 - arrives)
    cosine = ca.sum1(d.contact_normals(*start.at) * d.contact_normals(*there)).T
    lasting = is_closed * (cosine > SAME_SIDE)
    D = ca.if_else(ca.repmat(lasting.T, d.nv, 1), start.W, find_normals(d, there))
    return StepContacts(is_closed, lasting, D)
