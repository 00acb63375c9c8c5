"""What a contact does throughout a phase (`ContactMode`), and the forces that it gives.

In a phase contacts are no complementarity: `with_modes` puts forces in their place, which are
inputs of the phase. `mode_conditions` states what they do to the motion.
"""

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
    RateConstraint,
    State,
    assemble,
)
from nsopt.parameter import Parameter, number
from nsopt.trajectory.friction_cone import measure_margins
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases.constraint_forces import (
    ConstraintForces,
    make_constraint_forces,
    open_loops,
)
from nsopt.trajectory.smoothing.dry_friction import find_rubbing_joints


class ContactMode(ABC):
    """What a contact does throughout a phase."""

    closed: ClassVar[bool] = True
    """Whether the contact touches."""

    sticks: ClassVar[bool] = False
    """Whether it does not slip either, its friction within the cone."""

    def describe(self, *, turns: bool, in_space: bool) -> str:
        """Return the verb of a sentence about what is in this mode: a joint that turns, or not."""
        del turns, in_space
        return "touches"

    def name_inputs(self, tangents: int) -> tuple[str, ...]:
        """Return the names of the unknowns that give the friction of a gap, by its tangents."""
        del tangents
        return ()

    @abstractmethod
    def friction(self, normal: ca.SX, own: ca.SX, mu: ca.SX, tangents: int) -> ca.SX:
        """Return the friction of a gap along its tangents, or its impulse, SX (tangents,).

        Parameters
        ----------
        normal : SX scalar [N] or [N s]
        own : SX (k,)
            The unknowns of `name_inputs`.
        mu : SX scalar
        tangents : int
            None without friction, one in the plane, two in space.
        """


@dataclass(frozen=True)
class Open(ContactMode):
    """The contact has no force; its gap does not fall below zero."""

    closed: ClassVar[bool] = False

    def friction(self, normal: ca.SX, own: ca.SX, mu: ca.SX, tangents: int) -> ca.SX:
        del normal, own, mu
        return ca.SX.zeros(tangents)


@dataclass(frozen=True)
class Sticking(ContactMode):
    """The gap is closed and does not slip; its force presses, with friction within the cone."""

    sticks: ClassVar[bool] = True

    def describe(self, *, turns: bool, in_space: bool) -> str:
        del turns, in_space
        return "sticks"

    def name_inputs(self, tangents: int) -> tuple[str, ...]:
        return ("friction_x", "friction_y") if tangents == 2 else ("friction",) * tangents

    def friction(self, normal: ca.SX, own: ca.SX, mu: ca.SX, tangents: int) -> ca.SX:
        del normal, mu, tangents
        return own


@dataclass(frozen=True)
class Sliding(ContactMode):
    """The gap is closed and slips, against friction of mu times the normal force.

    In space it slips in a direction that may turn, an unknown angle from its first tangent.

    Parameters
    ----------
    forwards : bool
        In the plane, whether the last frame of the contact moves along its tangent (the x of the
        plane of a `PlaneContact`), else against it. It has no effect in space or without friction.
    """

    forwards: bool = True

    @property
    def sign(self) -> float:
        """The sign of the slip."""
        return 1.0 if self.forwards else -1.0

    def describe(self, *, turns: bool, in_space: bool) -> str:
        way = "" if in_space else " forwards" if self.forwards else " backwards"
        return f"{'turns' if turns else 'slides'}{way}"

    def name_inputs(self, tangents: int) -> tuple[str, ...]:
        return ("slip_angle",) if tangents == 2 else ()

    def friction(self, normal: ca.SX, own: ca.SX, mu: ca.SX, tangents: int) -> ca.SX:
        if tangents == 2:
            return -mu * normal * ca.vertcat(ca.cos(own), ca.sin(own))
        return -self.sign * mu * normal * ca.SX.ones(tangents)


@dataclass(frozen=True, eq=False)
class ModeForces(Force):
    """The forces of a contact in a mode, by inputs of the phase.

    The friction of sliding follows from normal forces, in space also from the angle of the slip.
    """

    name: str  # of the contact
    contact: Contact
    mode: ContactMode
    normal: tuple[Parameter, ...]  # [N] one for each gap; none of an open contact
    tangential: tuple[Parameter, ...]  # of `ContactMode.name_inputs`, gap by gap [N, or rad]
    share: float = 1.0  # of mu times the normal force, up to which it sticks

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.contact.frames

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its inputs, normal ones first."""
        return tuple(x.name for x in (*self.normal, *self.tangential))

    @property
    def slip_angles(self) -> tuple[str, ...]:
        """Names of its inputs that are angles [rad] of the slip in space; none in the plane."""
        return tuple(x.name for x in self.tangential) if not self.mode.sticks else ()

    def outline(self) -> list[Outline]:
        return self.contact.outline()

    def loads(self, s: State) -> list[Load]:
        gaps = self.contact.gaps(s)
        velocities, forces = self.velocities(s, gaps), self.forces(s, gaps)
        return [Load(u, f) for u, f in zip(velocities, forces, strict=True) if u.numel()]

    def pressed(self, s: State) -> list[Pressed]:
        gaps, pressed = self.contact.gaps(s), list[Pressed]()
        parts = self.forces(s, gaps)
        for gap, normal, friction in zip(gaps, parts[::2], parts[1::2], strict=True):
            lossy = [Load(gap.slip, friction)] if gap.slip.numel() else []
            pressed.append(Pressed(gap, normal * gap.normal + gap.tangents @ friction, lossy))
        return pressed

    def velocities(self, s: State, gaps: list[Gap]) -> list[ca.SX]:
        """Return [opening, slip, opening, slip, ...] of the gaps [m/s].

        Openings are of `Gap.function`, smooth also where a pin is off its wall, as in iterations.
        """
        a, b = (s.motion(frame) for frame in (self.frames[0], self.frames[-1]))
        found = []
        for gap in gaps:
            relative = b.velocity_at(gap.point) - a.velocity_at(gap.point)
            found += [gap.slope * ca.dot(gap.normal, relative), gap.slip]
        return found

    def forces(self, s: State, gaps: list[Gap]) -> list[ca.SX]:
        """Return [normal force, friction, normal force, friction, ...] of the gaps [N]."""
        inputs = ca.vertcat(ca.SX(0, 1), *(s.value(x) for x in (*self.normal, *self.tangential)))
        return self.split_by_gap(s, gaps, inputs)

    def split_by_gap(self, s: State, gaps: list[Gap], inputs: ca.SX) -> list[ca.SX]:
        """Return the same of given ``inputs`` (n,) [N], or impulses [N s]."""
        found, at = list[ca.SX](), len(self.normal)
        for k, gap in enumerate(gaps):
            tangents = gap.slip.numel()
            n = len(self.mode.name_inputs(tangents))
            normal, mu = inputs[k] if self.mode.closed else ca.SX(0), s.value(gap.law.friction)
            found += [normal, self.mode.friction(normal, inputs[at : at + n], mu, tangents)]
            at += n
        return found

    def margins(self, s: State, gaps: list[Gap], inputs: ca.SX, least: ca.SX) -> ca.SX:
        """Return what must not be negative, (m,), of ``inputs`` (n,) [N], or impulses [N s].

        Normal parts, then, if it sticks, how far friction of each gap is inside its cone: see
        `measure_margins`.
        """
        rows, parts = [inputs[: len(gaps)]], self.split_by_gap(s, gaps, inputs)
        for k, gap in enumerate(gaps if self.mode.sticks else []):
            most = self.share * s.value(gap.law.friction) * parts[2 * k]
            rows.append(measure_margins(most, parts[2 * k + 1], least))
        return ca.vertcat(*rows)


def name_gap(contact: str, k: int | None) -> str:
    """Return the stem of the names of inputs of gap k of a contact; k is None for its only gap."""
    word = re.sub(r"\W", "_", contact)
    return word if k is None else f"{word}_{k}"


def name_normal(gap: str) -> str:
    """Return the name of the input that is the normal force of a gap."""
    return f"{gap}_normal"


@lru_cache(maxsize=16)  # bodies are placed once
def sample_symbols(d: Dynamics) -> NodeSample:
    """Return a sample of symbols t, q, v, a, p, with no parameters beside the mechanism's."""
    t, p = ca.SX.sym("t"), ca.SX.sym("p", len(d.parameters))
    q, v, a = (ca.SX.sym(x, n) for x, n in (("q", d.nq), ("v", d.nv), ("a", d.nv)))
    return NodeSample(d, t, q, v, a, p)


def with_modes(
    d: Dynamics,
    modes: Mapping[str, ContactMode],
    inputs: Sequence[str] = (),
    shares: Mapping[str, float] | None = None,
) -> tuple[Dynamics, tuple[ModeForces, ...]]:
    """Return a mechanism with forces in place of its contacts, and these forces.

    `ConstraintForces` are in place of cut joints and of constraints on velocities.

    ``inputs`` are parameters that are inputs of the phase, ``shares`` those of `ModeForces`, one
    for contacts that are left out. Refuses contacts without a mode, modes
    of what has none, modes that a contact or a joint cannot be in, and inputs whose name is taken.
    """
    names, joints = [x.name for x in d.contacts], find_rubbing_joints(d)
    for name, mode in modes.items():
        if not isinstance(mode, ContactMode):
            raise TypeError(
                f"mode of contact {name!r} must be Open(), Sticking() or Sliding(), got {mode!r}"
            )
        if name in joints and not mode.closed:
            raise ValueError(
                f"joint {name!r} is Open(): let it be Sliding(), or Sticking() at rest"
            )
        if name not in (*names, *joints):
            raise ValueError(
                f"modes name the contact {name!r}, which is not in the mechanism, nor a joint with "
                f"a drive and dry friction: {', '.join((*names, *joints)) or 'there are none'}"
            )
    is_constrained = bool(d.closure_names or d.nonholonomic_names)
    if not (set(modes).intersection(names) or (is_constrained and not names)):
        return d, ()
    for name in names:
        if name not in modes:
            raise ValueError(f"modes leave out contact {name!r}: give it Open(), if it is open")
    of_friction = tuple((shares or {}).get(name, 1.0) for name in names)
    of_contacts = tuple(modes[name] for name in names)
    return _assemble_with_modes(d, of_contacts, tuple(inputs), of_friction)


@lru_cache(maxsize=16)  # the search for a sequence states many phases, of few different modes
def _assemble_with_modes(
    d: Dynamics,
    modes: tuple[ContactMode, ...],
    inputs: tuple[str, ...],
    shares: tuple[float, ...],
) -> tuple[Dynamics, tuple[ModeForces, ...]]:
    stated = zip(d.contacts, modes, shares, strict=True)
    forces = {x.name: make_mode_forces(d, x, mode, inputs, share) for x, mode, share in stated}
    constraints = make_constraint_forces(d)
    added = [] if constraints is None else [constraints]
    _check_names(d, [*forces.values(), *added])
    kept = [x for x in d.elements if not isinstance(x, RateConstraint)]
    elements = [*(forces.get(x.name, x) for x in kept), *added]
    mechanism = open_loops(d.mechanism) if added else d.mechanism
    return assemble(mechanism, elements, d.gravity), tuple(forces.values())


def _check_names(d: Dynamics, forces: Iterable[ModeForces | ConstraintForces]) -> None:
    """Refuse inputs that have the name of another one or of a parameter."""
    owners = {x.name: "a Parameter of the mechanism" for x in d.parameters}
    for x in forces:
        for name in x.inputs:
            if name in owners:
                raise ValueError(
                    f"{name!r} would be an input of contact {x.name!r} and {owners[name]}: "
                    "give one of them a name that differs in a letter or a digit"
                )
            owners[name] = f"one of contact {x.name!r}"


def make_mode_forces(
    d: Dynamics, contact: Contact, mode: ContactMode, inputs: Sequence[str], share: float
) -> ModeForces:
    """Return the forces of a contact in a mode; refuse a mode that it cannot be in."""
    if share < 1 and mode.closed and not mode.sticks:
        raise ValueError(
            f"contact {contact.name!r} slides, its friction at the limit that FrictionMargin keeps "
            "it below: give it Sticking(), or name others in FrictionMargin(contacts=...)"
        )
    if contact.name in {x.name for x in d.mechanism.joints}:
        raise ValueError(
            f"{contact.name!r} is a joint with clearance, which changes its modes within a phase: "
            "give optimize a scheme, Variational()"
        )
    m = sample_symbols(d)
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
        if gap.law.of_simulations:
            raise ValueError(
                f"contact {contact.name!r} has {gap.law.of_simulations}, which phases do not know: "
                f"leave {gap.law.of_simulations} out of its ContactLaw"
            )
    slips = [gap.slip.numel() for gap in gaps]
    if mode.sticks and not all(slips):
        raise ValueError(
            f"contact {contact.name!r} has no friction, so it cannot stick: give it friction by "
            "its ContactLaw, or Sliding()"
        )
    numbers = [None] if len(gaps) == 1 else range(len(gaps))
    names = [name_gap(contact.name, k) for k in numbers]
    normal = tuple(Parameter(name_normal(x), 0.0) for x in names) if mode.closed else ()
    tangential = tuple(
        Parameter(f"{x}_{own}", 0.0)
        for x, n in zip(names, slips, strict=True)
        for own in mode.name_inputs(n)
    )
    return ModeForces(contact.name, contact, mode, normal, tangential, share)
