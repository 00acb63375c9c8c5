"""The contracts of joints, contacts and forces, which act between frames.

They read frames and numbers from the `State` they are given and return expressions, whose
derivatives are Jacobians, contact matrices and generalized forces. The recipe for a new one is in
CONTRIBUTING.md.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics.model.frame import Frame
from nsopt.mechanics.model.freedom import Freedom
from nsopt.mechanics.model.gap import Gap
from nsopt.mechanics.model.law import ContactLaw, may_act
from nsopt.mechanics.model.state import State
from nsopt.parameter import Numbers


class Outline(NamedTuple):
    """A polyline fixed to a frame, for pictures of an element."""

    frame: Frame
    points: NDArray[np.float64]  # (n, 3) [m] in the frame


class Element(ABC):
    """What acts between frames: a joint, a contact, a force, a constraint on velocities."""

    name: str

    @property
    @abstractmethod
    def frames(self) -> tuple[Frame, ...]:
        """The frames it acts on; reported wrenches of a joint or contact are on the last of two."""

    def outline(self) -> list[Outline]:
        """Return lines to draw, none by default."""
        return []


@dataclass(frozen=True, eq=False)
class DrivenFreedom(ABC):
    """A freedom with motor and sensor: frame b relative to frame a, along or about z of a.

    Parameters
    ----------
    a, b : Frame
        On the motor's housing and on the link it moves: the frames of the joint, ideal or with
        clearance.
    """

    a: Frame
    b: Frame

    names: ClassVar[tuple[str, str, str]]  # of coordinate, rate and effort
    units: ClassVar[tuple[str, str, str]]

    @abstractmethod
    def coordinate(self, s: State) -> ca.SX:
        """Return the measured coordinate [rad or m]."""

    @abstractmethod
    def rate(self, s: State) -> ca.SX:
        """Return the rate with which the effort makes power [rad/s or m/s]."""

    @abstractmethod
    def misfit(self, s: State, value: ca.SX) -> ca.SX:
        """Return what is zero where the coordinate is ``value``, smooth, of slope one there."""

    def alignment(self, s: State, value: ca.SX) -> ca.SX:
        """Return cosines, (k,), as `Constraint.alignment`, where the misfit has other zeros."""
        del s, value
        return ca.SX(0, 1)


class Constraint(Element):
    """An ideal joint: a residual that is kept at zero."""

    drives: tuple[DrivenFreedom, ...] = ()
    """Freedoms whose drives keep it; none where it pushes the bodies of its frames itself.

    As many as its rows, whose multipliers are then their efforts; or, in coordinates of joints,
    more, all of them in the tree: efforts are then the generalized forces of its multipliers.
    """

    @abstractmethod
    def residual(self, s: State) -> ca.SX:
        """Return the residual, shape (m,), zero where the joint closes [m, or 1 for directions].

        It may depend on ``s.t``. Rows that other rows imply are legal.
        """

    def freedom(self) -> Freedom | None:
        """Return its freedom from frame a to frame b; None for a joint that can only be cut."""
        return None

    def alignment(self, s: State) -> ca.SX:
        """Return cosines, (k,), that are one where the joint is closed; none by default.

        For residuals that vanish also with frames turned by a quarter or half a turn.
        """
        del s
        return ca.SX(0, 1)


class RateConstraint(Element):
    """A constraint on velocities: rows, linear in them, that are kept at zero.

    Of form (7), p = 1, of [CoPCoD 2023]: rolling, a knife edge, a wheel. Positions follow from it
    only along the motion: it has no closure, and no coordinates.
    """

    @abstractmethod
    def rate(self, s: State) -> ca.SX:
        """Return the rows, shape (m,), zero where it is kept [m/s or rad/s].

        Linear in the velocities of frames; they may depend on ``s.t``. No row may follow from
        others or from joints.
        """


class Contact(Element):
    """A unilateral constraint or a set of them: distances that stay at or above zero."""

    in_plane: ClassVar[bool] = False
    """Whether it is planar: joints then let frame b move in the xy plane of frame a alone."""

    @abstractmethod
    def gaps(self, s: State) -> list[Gap]:
        """Return the gaps; the normal force acts along the gradient of each distance.

        They may depend on ``s.t``: the wall then moves, and its work is work from outside.
        """


class Force(Element):
    """A force or torque, or several, by loads or a potential."""

    external: bool = False
    """Whether its power is work done on the mechanism from outside."""

    feedback: bool = False
    """Whether it answers to a measured deviation from a trajectory, as a controller does."""

    joint: str | None = None
    """The joint whose resistance it is part of, "" for the only one between its bodies."""

    def loads(self, s: State) -> list["Load"]:
        """Return forces that have no potential, none by default."""
        del s
        return []

    def energy(self, s: State) -> ca.SX:
        """Return the potential [J], zero by default; assembly adds its negative gradient."""
        del s
        return ca.SX(0)

    def outputs(self, s: State) -> list["Output"]:
        """Return numbers that a run records, none by default."""
        del s
        return []

    def pressed(self, s: State) -> list["Pressed"]:
        """Return the surfaces that it presses apart, to be recorded like contacts; none by default.

        The frames of the force are then those of the contact.
        """
        del s
        return []

    @property
    def states(self) -> tuple[str, ...]:
        """Names of its internal states, which start at zero; none by default.

        Their values are in `State.internal`, those of `JointFriction` elements in `FrictionStep`.
        """
        return ()

    def advance_states(self, s: State, h: ca.SX, z: ca.SX) -> ca.SX:
        """Return the internal states (nz,) after a step of h [s] from the state ``s`` and z (nz,).

        Velocities of ``s`` are means over the step.
        """
        del s, h
        return z

    def plot_data(self) -> dict[str, Any]:
        """Return numbers and names for pictures, none by default."""
        return {}


class Pressed(NamedTuple):
    """Two surfaces that a force presses apart."""

    gap: Gap  # less than zero where they are pressed into each other
    force: ca.SX  # (3,) [N] on the body of the force's last frame, friction included
    losing: list["Load"]  # the loads of the force by which these surfaces dissipate


class Load(NamedTuple):
    """A force and the velocity of its point, or a torque and the angular velocity it works on."""

    velocity: ca.SX  # (3,) [m/s] or [rad/s]
    force: ca.SX  # (3,) [N] or [N m]


class Output(NamedTuple):
    """A number that is recorded, under the name of the element and its own."""

    name: str
    value: ca.SX  # scalar
    unit: str
    most: ca.SX = ca.SX(np.inf)  # that its law is made for; of numbers and parameters alone


TimeFunction = Callable[[ca.SX], Any]
Vector = Numbers | TimeFunction
"""Numbers or Parameters, or a function of time that returns them."""


@dataclass(frozen=True, eq=False)
class Pair(Element):
    """An element between two frames; the shared statement of joints and contacts.

    Parameters
    ----------
    name : str
        Unique in the mechanism.
    a, b : Frame
        On different bodies; reported wrenches act on the body of ``b``.

    Raises
    ------
    ValueError
        If both frames are on one body, or both on the ground.
    """

    name: str
    a: Frame
    b: Frame

    def __post_init__(self) -> None:
        for frame in (self.a, self.b):
            if not isinstance(frame, Frame):
                raise TypeError(
                    f"{type(self).__name__} {self.name!r} connects two frames, got "
                    f"{type(frame).__name__}: use Frame(body, origin) or Frame.at(body, point)"
                )
        if self.a.body is self.b.body:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} has both frames on {self.a.label}: "
                "it must connect two different bodies, or a body and the ground"
            )

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Frame a, frame b."""
        return self.a, self.b


@dataclass(frozen=True, eq=False)
class ResistingPair(Pair, Force):
    """A force between two frames that is part of the resistance of a joint.

    Parameters
    ----------
    joint : str
        Name of that joint, ideal or with clearance, by keyword; by default the only one that
        connects the same two bodies.
    """

    joint: str = field(default="", kw_only=True)


INSTANT = 1e-12
"""A step [s] so short that the mean over it is the value at its start."""


class FrictionStep(NamedTuple):
    """The step over which friction is a mean: its length, internal states and reaction."""

    h: ca.SX  # [s]
    z: ca.SX  # (nz,) internal states at the start
    reaction: ca.SX  # (6,) force [N] and torque [N m] of the joint on the body of its frame b
    creep: ca.SX = ca.SX(0)  # [m/s, rad/s] of dry friction, in place of the law's if above zero


class JointFriction(ResistingPair):
    """Friction in a joint that depends on its reaction, or on internal states of its own.

    It is a mean over a step at constant velocity, exact also for states that settle within it.
    """

    @abstractmethod
    def friction(self, s: State, over: FrictionStep) -> Load:
        """Return the mean force over a step."""


@dataclass(frozen=True, eq=False)
class ContactPair(Pair, Contact):
    """A contact between two frames, with restitution and friction.

    Parameters
    ----------
    law : ContactLaw
        Of all its gaps, by keyword; by default e = 0 and no friction.

    Raises
    ------
    ValueError
        If a number of the law is out of range.
    TypeError
        If the law is none.
    """

    law: ContactLaw = field(default=ContactLaw(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        if not isinstance(self.law, ContactLaw):
            raise TypeError(
                f"law {of_element} must be a ContactLaw, got {self.law!r}: use "
                "ContactLaw(restitution=..., "
                "friction=...)"
            )
        self.law.check(of_element)

    def with_law(self, s: State, gaps: Sequence[Gap]) -> list[Gap]:
        """Return gaps with the law and, where it has friction, the slip along their tangents."""
        law, w = self.law, s.motion(self.b).w - s.motion(self.a).w
        if law.frictionless:
            return [gap._replace(law=law, tangents=ca.SX(3, 0)) for gap in gaps]
        a, b, none = s.motion(self.a), s.motion(self.b), ca.SX(0, 1)
        return [
            gap._replace(
                law=law,
                slip=gap.tangents.T @ (b.velocity_at(gap.point) - a.velocity_at(gap.point)),
                rolling=gap.rolling_axes.T @ w if may_act(law.rolling) else none,
                spinning=ca.dot(gap.normal, w)
                if may_act(law.spinning) and gap.is_in_space
                else none,
            )
            for gap in gaps
        ]
