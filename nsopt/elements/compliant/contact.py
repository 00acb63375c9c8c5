"""Contact as a force that grows with penetration, for comparison with rigid contact."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import casadi as ca

from nsopt.checks import not_negative, positive
from nsopt.elements.compliant.laws import CompliantFriction, CompliantLaw, Press, SmoothCoulomb
from nsopt.mechanics import (
    Contact,
    Force,
    Frame,
    Gap,
    Load,
    Motion,
    Outline,
    Output,
    Pressed,
    State,
)
from nsopt.parameter import Parameter, Scalar, number, parameters_in

LEAST = 1e-30  # depth [m] of an open gap, as powers of zero have no higher derivatives

LATCHED = 1e-12
"""Least speed of impact [m/s] of a closed gap: zero as internal state means an open one."""


class _Surface(NamedTuple):
    """One gap and the forces of the law there; all zero while it is open."""

    gap: Gap
    rate: ca.SX  # [m/s] of the gap: less than zero while the bodies approach
    elastic: ca.SX  # [N]
    damping: ca.SX  # [N] above zero while the bodies approach; with the elastic force never pulls
    friction: ca.SX  # (k,) [N] along the tangents

    @property
    def force(self) -> ca.SX:
        """On body b, (3,) [N]."""
        pressure = self.elastic + self.damping
        return pressure * self.gap.normal + self.gap.tangents @ self.friction

    @property
    def losing(self) -> list[Load]:
        """The loads that dissipate."""
        friction = [Load(self.gap.slip, self.friction)] if self.gap.slip.numel() else []
        return [Load(self.rate, self.damping), *friction]


@dataclass(frozen=True, eq=False)
class CompliantContact(Force):
    """A compliant law on every gap of a contact or joint with clearance.

    Where a gap is negative by delta, a force opens it: elastic and dissipative as the law says,
    together never less than zero. The restitution e and mu are those of the contact's own
    `ContactLaw`. The contact is given here instead of to the mechanism, which would keep it from
    being penetrated; on record it is a contact and a joint like rigid ones, under the name given
    here, its gap less than zero where it is pressed.

    Parameters
    ----------
    name : str
        Unique in the mechanism; that of the contact inside does not count.
    contact : Contact
        Any contact or joint with clearance.
    law : CompliantLaw
        Such as ``Flores(6.6e10)``; stiffness from radii and material: `hertz_stiffness`,
        `pin_stiffness`.
    friction : CompliantFriction
        By keyword.
    reach : float or Parameter [m]
        Distance at which the force begins to be felt, by keyword; above zero the depth is
        (sqrt(g^2 + reach^2) - g) / 2 of any gap g, and the energy that of the law at this depth.
        Zero, the default, is the law itself. For solvers that need slopes before surfaces touch.

    Raises
    ------
    TypeError
        If the contact, the law or the friction is none.
    ValueError
        If a number is out of range; when it is assembled, if the contact moves with time.

    Notes
    -----
    A law that needs the speed of an impact takes it when the gap closes: that of the first step
    which begins closed, a mean over it: an error of first order in h. It is then an internal
    state, ``name.impact_speed``, zero while the gap is open.
    """

    name: str
    contact: Contact
    law: CompliantLaw
    friction: CompliantFriction = field(default=SmoothCoulomb(), kw_only=True)
    reach: Scalar = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        of_element = f"of CompliantContact {self.name!r}"
        kinds = {
            "contact": (Contact, "a contact or a joint with clearance", "PlaneContact(name, a, b)"),
            "law": (CompliantLaw, "a CompliantLaw", "Flores(stiffness=1e9)"),
            "friction": (CompliantFriction, "a CompliantFriction", "SmoothCoulomb(creep=1e-4)"),
        }
        for name, (kind, what, use) in kinds.items():
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(
                    f"{name} {of_element} must be {what}, got {type(value).__name__}: use, for "
                    f"example, {use}"
                )
        self.law.check(of_element)
        self.friction.check(of_element)
        not_negative(f"reach {of_element}", self.reach)
        if isinstance(self.reach, Parameter):
            positive(f"reach {of_element}", self.reach, "leave it out for the law itself")
        if (rigid := getattr(self.contact, "law", None)) is not None:
            self.law.check_restitution(of_element, float(number(rigid.restitution)))
            if rigid.of_simulations:
                raise ValueError(
                    f"{rigid.of_simulations} {of_element} is of rigid contacts: leave it out of "
                    "the ContactLaw, compliant ones have a CompliantFriction"
                )

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Those of the contact."""
        return self.contact.frames

    @property
    def shape(self) -> str:
        """Name of the class of the contact, by which pictures know where its surfaces are."""
        return type(self.contact).__name__

    def outline(self) -> list[Outline]:
        return self.contact.outline()

    @cached_property
    def states(self) -> tuple[str, ...]:
        count = _count_gaps(self.contact) if self.law.latches else 0
        return tuple("impact_speed" + (f"[{k}]" if count > 1 else "") for k in range(count))

    def advance_states(self, s: State, h: ca.SX, z: ca.SX) -> ca.SX:
        del h
        if not self.law.latches:
            return z
        gaps = self.contact.gaps(s)
        approach = [ca.fmax(-self._measure_rate(s, gap), LATCHED) for gap in gaps]
        speeds = [ca.if_else(z[k] > 0, z[k], approach[k]) for k in range(len(gaps))]
        return ca.vertcat(*(x * (gap.distance < 0) for x, gap in zip(speeds, gaps, strict=True)))

    def energy(self, s: State) -> ca.SX:
        gaps = self.contact.gaps(s)
        # What moves along the surface is not seen in gaps without friction.
        moves = callable(getattr(self.contact, "offset", None))
        if moves or any(ca.depends_on(ca.vertcat(x.distance, x.slip), s.t) for x in gaps):
            raise ValueError(
                f"contact of CompliantContact {self.name!r} moves with time, whose work it would "
                "leave out: give the contact to the mechanism as it is, or let a joint such as "
                "Distance move a body with the wall"
            )
        energies = [self.law.energy(s, self._measure_depth(s, gap)) for gap in gaps]
        if not self.reaches:
            energies = [(gap.distance < 0) * x for gap, x in zip(gaps, energies, strict=True)]
        return ca.sum1(ca.vertcat(*energies))

    def loads(self, s: State) -> list[Load]:
        return [load for x in self._list_surfaces(s) for load in x.losing]

    def pressed(self, s: State) -> list[Pressed]:
        return [Pressed(x.gap, x.force, x.losing) for x in self._list_surfaces(s)]

    def outputs(self, s: State) -> list[Output]:
        surfaces = self._list_surfaces(s)
        depth = ca.SX(0)
        for x in surfaces:
            depth = ca.fmax(depth, -x.gap.distance)
        pressure = ca.sum1(ca.vertcat(*(x.elastic + x.damping for x in surfaces)))
        return [Output("depth", depth, "m"), Output("force", pressure, "N")]

    @property
    def reaches(self) -> bool:
        """Whether its force is felt before surfaces touch."""
        return isinstance(self.reach, Parameter) or float(self.reach) > 0

    def _measure_depth(self, s: State, gap: Gap) -> ca.SX:
        """Return how deep surfaces are in each other [m]: if they reach, from far outside on."""
        g = gap.distance
        depth = (ca.sqrt(g**2 + s.value(self.reach) ** 2) - g) / 2 if self.reaches else -g
        return ca.fmax(depth, LEAST)

    def _list_surfaces(self, s: State) -> list[_Surface]:
        gaps = self.contact.gaps(s)
        impacts = s.internal.get(self.name, ca.SX.zeros(len(gaps)))  # [m/s] speeds that are kept
        return [self._make_surface(s, gap, impacts[k]) for k, gap in enumerate(gaps)]

    def _make_surface(self, s: State, gap: Gap, impact: ca.SX) -> _Surface:
        depth, rate = self._measure_depth(s, gap), self._measure_rate(s, gap)
        # By how much the depth grows as the gap closes: the force is the gradient of the energy.
        on = depth / (2 * depth + gap.distance) if self.reaches else gap.distance < 0
        e = s.value(gap.law.restitution)
        # In the step in which a gap closes no speed is kept yet: that of now is taken.
        press = Press(depth, -rate, ca.if_else(impact > 0, impact, ca.fmax(-rate, LATCHED)), e)
        elastic = on * self.law.elastic(s, depth)
        damping = ca.fmax(on * self.law.damping(s, press), -elastic)
        friction = ca.SX(0, 1)
        if gap.slip.numel():
            mu, viscous = s.value(gap.law.friction), s.value(gap.law.viscous)
            pressure = elastic + damping
            drag = mu * pressure * self.friction.drag(s, gap.slip) + viscous * on
            friction = -drag * gap.slip
        return _Surface(gap, rate, elastic, damping, friction)

    def _measure_rate(self, s: State, gap: Gap) -> ca.SX:
        """Return the rate at which a gap opens [m/s]."""
        a, b = (s.motion(frame) for frame in (self.frames[0], self.frames[-1]))
        return ca.dot(gap.normal, b.velocity_at(gap.point) - a.velocity_at(gap.point))


def _count_gaps(contact: Contact) -> int:
    """Return the number of gaps of a contact."""
    symbols = {name: ca.SX.sym(name) for name in parameters_in(contact)}
    bodies = {frame.body.name for frame in contact.frames if frame.body is not None}
    sizes = {"r": (3, 1), "A": (3, 3), "v": (3, 1), "w": (3, 1)}
    motions: dict[str | None, Motion] = {
        body: Motion(*(ca.SX.sym(x, *size) for x, size in sizes.items())) for body in bodies
    }
    return len(contact.gaps(State(ca.SX.sym("t"), motions, symbols)))
