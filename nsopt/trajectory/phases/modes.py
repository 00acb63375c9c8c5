"""What a contact does throughout a phase, and the forces that it gives."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import casadi as ca

from nsopt.mechanics import (
    Contact,
    Dynamics,
    Force,
    Frame,
    Gap,
    Load,
    Outline,
    Pressed,
    State,
    assemble,
)
from nsopt.parameter import Parameter, number
from nsopt.trajectory.node_sample import NodeSample


class ContactMode(ABC):
    """What a contact does throughout a phase."""

    closed: ClassVar[bool] = True
    """Whether it touches."""

    sticks: ClassVar[bool] = False
    """Whether it does not slip either, its friction within the cone."""

    @property
    def verb(self) -> str:
        """What a contact in this mode does, for sentences."""
        return "touches"

    @abstractmethod
    def friction(self, normal: ca.SX, held: ca.SX, mu: ca.SX) -> ca.SX:
        """Return the friction of a gap along its tangents.

        Parameters
        ----------
        normal : SX scalar [N] or [N s]
        held : SX (n,)
            What holds a contact that sticks; of others its size counts alone.
        mu : SX scalar
        """


@dataclass(frozen=True)
class Open(ContactMode):
    """The gap is open, or closed without a force; it does not close below zero."""

    closed: ClassVar[bool] = False

    def friction(self, normal: ca.SX, held: ca.SX, mu: ca.SX) -> ca.SX:
        del normal, mu
        return ca.SX.zeros(held.numel())


@dataclass(frozen=True)
class Sticking(ContactMode):
    """The gap is closed and does not slip; the force presses, its friction within the cone."""

    sticks: ClassVar[bool] = True

    @property
    def verb(self) -> str:
        return "sticks"

    def friction(self, normal: ca.SX, held: ca.SX, mu: ca.SX) -> ca.SX:
        del normal, mu
        return held


@dataclass(frozen=True)
class Sliding(ContactMode):
    """The gap is closed and slips in one direction, against friction times the normal force.

    Parameters
    ----------
    forwards : bool
        Whether the last frame of the contact moves along its tangent, the x of the plane of a
        `PlaneContact`, or against it. Of no account without friction.
    """

    forwards: bool = True

    @property
    def sign(self) -> float:
        """Of the slip."""
        return 1.0 if self.forwards else -1.0

    @property
    def verb(self) -> str:
        return "slides forwards" if self.forwards else "slides backwards"

    def friction(self, normal: ca.SX, held: ca.SX, mu: ca.SX) -> ca.SX:
        return -self.sign * mu * normal * ca.SX.ones(held.numel())


@dataclass(frozen=True, eq=False)
class ModeForces(Force):
    """The forces of a contact in a mode, each an input of the phase.

    Parameters
    ----------
    name : str
        Of the contact.
    contact : Contact
    mode : ContactMode
    normal : sequence of Parameter [N]
        One for each gap of a closed contact.
    tangential : sequence of Parameter [N]
        Of one gap after another where it sticks.
    """

    name: str
    contact: Contact
    mode: ContactMode
    normal: tuple[Parameter, ...]
    tangential: tuple[Parameter, ...]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.contact.frames

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its inputs."""
        return tuple(x.name for x in (*self.normal, *self.tangential))

    def outline(self) -> list[Outline]:
        return self.contact.outline()

    def loads(self, s: State) -> list[Load]:
        gaps = self.contact.gaps(s)
        velocities, forces = self.velocities(s, gaps), self.forces(s, gaps)
        return [Load(u, f) for u, f in zip(velocities, forces, strict=True) if u.numel()]

    def pressed(self, s: State) -> list[Pressed]:
        gaps, pressed = self.contact.gaps(s), list[Pressed]()
        forces = self.forces(s, gaps)
        for k, gap in enumerate(gaps):
            normal, friction = forces[2 * k : 2 * k + 2]
            losing = [Load(gap.slip, friction)] if gap.slip.numel() else []
            pressed.append(Pressed(gap, normal * gap.normal + gap.tangents @ friction, losing))
        return pressed

    def velocities(self, s: State, gaps: list[Gap]) -> list[ca.SX]:
        """Return opening and slip of each gap, one after the other [m/s]."""
        a, b = (s.motion(frame) for frame in (self.frames[0], self.frames[-1]))
        found = []
        for gap in gaps:
            away = b.velocity_at(gap.point) - a.velocity_at(gap.point)
            found += [ca.dot(gap.normal, away), gap.slip]
        return found

    def forces(self, s: State, gaps: list[Gap]) -> list[ca.SX]:
        """Return normal force and friction of each gap, one after the other [N]."""
        given = ca.vertcat(ca.SX(0, 1), *(s.value(x) for x in (*self.normal, *self.tangential)))
        return self.of_unknowns(s, gaps, given)

    def of_unknowns(self, s: State, gaps: list[Gap], unknowns: ca.SX) -> list[ca.SX]:
        """Return normal and tangential part of each gap from its inputs, or from impulses."""
        found, at = list[ca.SX](), len(gaps)
        for k, gap in enumerate(gaps):
            n = gap.slip.numel()
            normal = unknowns[k] if self.mode.closed else ca.SX(0)
            held = unknowns[at : at + n] if self.mode.sticks else ca.SX.zeros(n)
            found += [normal, self.mode.friction(normal, held, s.value(gap.law.friction))]
            at += n
        return found

    def within(self, s: State, gaps: list[Gap], unknowns: ca.SX) -> ca.SX:
        """Return what is not negative: normal parts, and friction or its impulse in the cone."""
        rows, parts = [unknowns[: len(gaps)]], self.of_unknowns(s, gaps, unknowns)
        for k, gap in enumerate(gaps if self.mode.sticks else []):
            most, along = s.value(gap.law.friction) * parts[2 * k], parts[2 * k + 1]
            if along.numel() == 1:
                rows += [most - along, most + along]
            else:
                rows.append(most - ca.sqrt(ca.sumsqr(along) + CONE**2) + CONE)
        return ca.vertcat(*rows)


CONE = 1e-6
"""Rounding of the tip of the cone of friction in space [N, N s]."""


def name_gaps(contact: str, gaps: int) -> list[str]:
    """Return the names of the gaps of a contact, of which those of its inputs are made."""
    word = re.sub(r"\W", "_", contact)
    return [word if gaps == 1 else f"{word}_{k}" for k in range(gaps)]


def name_normal(gap: str) -> str:
    """Return the name of the input that is the normal force of a gap."""
    return f"{gap}_normal"


def sample(d: Dynamics) -> NodeSample:
    """Return a sample of symbols, of which p is that of a mechanism."""
    t, p = ca.SX.sym("t"), ca.SX.sym("p", len(d.parameters))
    q, v, a = (ca.SX.sym(x, n) for x, n in (("q", d.nq), ("v", d.nv), ("a", d.nv)))
    return NodeSample(d, t, q, v, a, p)


def with_modes(
    d: Dynamics, modes: Mapping[str, ContactMode], inputs: Sequence[str] = ()
) -> tuple[Dynamics, tuple[ModeForces, ...]]:
    """Return a mechanism whose contacts are forces in given modes, and these forces.

    Parameters
    ----------
    d : Dynamics
    modes : mapping of name to ContactMode
    inputs : sequence of str
        Parameters that the phase chooses over time.

    Raises
    ------
    TypeError, ValueError
        If a contact has no mode, a mode has no contact or is none, a contact does not fit it, or
        forces of two contacts, or a parameter, have the same name.
    """
    known = {x.name: x for x in d.contacts}
    for name, mode in modes.items():
        if not isinstance(mode, ContactMode):
            raise TypeError(
                f"mode of contact {name!r} must be Open(), Sticking() or Sliding(), got {mode!r}"
            )
        if name not in known:
            raise ValueError(
                f"modes name the contact {name!r}, which is not in the mechanism: "
                f"{', '.join(known) or 'there are none'}"
            )
    if not modes:
        return d, ()
    for name in known:
        if name not in modes:
            raise ValueError(f"modes leave out contact {name!r}: give it Open(), if it is open")
    return _with_modes(d, tuple(modes[name] for name in known), tuple(inputs))


@lru_cache(maxsize=16)  # phases of one motion have few modes, a search for their order many phases
def _with_modes(
    d: Dynamics, modes: tuple[ContactMode, ...], inputs: tuple[str, ...]
) -> tuple[Dynamics, tuple[ModeForces, ...]]:
    pairs = zip(d.contacts, modes, strict=True)
    held = {x.name: forces_of(d, x, mode, inputs) for x, mode in pairs}
    _check_names(d, held.values())
    elements = [held.get(x.name, x) for x in d.elements]
    return assemble(d.mechanism, elements, d.gravity), tuple(held.values())


def _check_names(d: Dynamics, forces: Iterable[ModeForces]) -> None:
    """Refuse forces of two contacts, or a force and a parameter, that have the same name."""
    owners = {x.name: "a Parameter of the mechanism" for x in d.parameters}
    for x in forces:
        for name in x.inputs:
            if name in owners:
                raise ValueError(
                    f"{name!r} would be an input of contact {x.name!r} and {owners[name]}: "
                    "give one of them a name that differs in a letter or a digit"
                )
            owners[name] = f"one of contact {x.name!r}"


def forces_of(
    d: Dynamics, contact: Contact, mode: ContactMode, inputs: Sequence[str]
) -> ModeForces:
    """Return the forces of a contact, which fits its mode."""
    if contact.name in {x.name for x in d.mechanism.joints}:
        raise ValueError(
            f"{contact.name!r} is a joint with clearance, which changes its modes within a phase: "
            "give optimize a scheme, Variational()"
        )
    m = sample(d)
    s = m.state
    gaps = contact.gaps(s)
    motion = ca.vertcat(*(ca.vertcat(x.distance, x.slip) for x in gaps))
    if ca.depends_on(motion, s.t):
        raise ValueError(
            f"contact {contact.name!r} moves with time: phases have times of their own"
        )
    for k, parameter in enumerate(d.parameters):
        if parameter.name in inputs and ca.depends_on(motion, m.p[k]):
            raise ValueError(
                f"contact {contact.name!r} moves with the input {parameter.name!r}, whose rate no "
                "phase knows: give what moves a joint with an actuator, or give optimize a scheme"
            )
    for gap in gaps if mode.closed else []:
        if float(number(gap.law.viscous)) != 0:
            raise ValueError(
                f"contact {contact.name!r} has viscous, phases have dry friction: give its "
                "ContactLaw viscous=0, or give optimize a scheme"
            )
    slips = [gap.slip.numel() for gap in gaps]
    if mode.sticks and not all(slips):
        raise ValueError(
            f"contact {contact.name!r} has no friction, so it cannot stick: give it friction by "
            "its ContactLaw, or Sliding()"
        )
    if mode.closed and not mode.sticks and max(slips) > 1:
        raise ValueError(
            f"contact {contact.name!r} slips in two directions, Sliding() is for one: state it "
            "with planar=True, or give it Sticking()"
        )
    names = name_gaps(contact.name, len(gaps))
    normal = tuple(Parameter(name_normal(x), 0.0) for x in names) if mode.closed else ()
    tangential = [
        Parameter(f"{x}_friction" + (f"_{'xy'[i]}" if n > 1 else ""), 0.0)
        for x, n in zip(names, slips, strict=True)
        for i in range(n)
    ]
    return ModeForces(contact.name, contact, mode, normal, tuple(tangential) if mode.sticks else ())
