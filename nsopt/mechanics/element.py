"""What acts between frames: the contracts of joints, contacts and forces.

The recipe for a new element: a frozen dataclass in one file of `nsopt.elements`, derived from
`Constraint`, `Contact` or `Force` and, if it acts between two frames, from `Pair` (`ContactPair` is
both for a contact), that reads frames and numbers from the `State` it is given and returns
expressions. Jacobians, contact matrices and generalized forces come from differentiating these
expressions. Check the stated numbers in ``__post_init__`` by `nsopt.mechanics.checks`. Export it,
add a row to ``tests/catalog.py``: the generic tests then cover it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics.frame import STILL, Frame, Motion
from nsopt.mechanics.freedom import Freedom
from nsopt.mechanics.law import ContactLaw
from nsopt.mechanics.parameter import Numbers, Parameter, at_time


class State:
    """What an element may know: the time, the motion of frames, the values of parameters.

    Parameters
    ----------
    t : SX scalar [s]
    motions : mapping of body name to Motion
        Of each body's centre of mass; the ground, None, is still if left out.
    symbols : mapping of parameter name to SX scalar

    Attributes
    ----------
    holding : list of (SX symbols, SX)
        What stands for what in potentials.
    """

    def __init__(
        self, t: ca.SX, motions: Mapping[str | None, Motion], symbols: Mapping[str, ca.SX]
    ) -> None:
        self.t = t
        self.holding: list[tuple[ca.SX, ca.SX]] = []
        self._motions = {None: STILL, **motions}
        self._symbols = symbols
        self._frames: dict[Frame, Motion] = {}

    def motion(self, frame: Frame) -> Motion:
        """Return position, axes and velocities of a frame in world axes."""
        if frame not in self._frames:
            self._frames[frame] = self._motion(frame)
        return self._frames[frame]

    def _motion(self, frame: Frame) -> Motion:
        origin, axes = self.value(frame.origin), ca.SX(ca.DM(frame.axes))
        body = self._motions[frame.body.name if frame.body else None]
        arm = body.A @ origin
        return Motion(body.r + arm, body.A @ axes, body.v + ca.cross(body.w, arm), body.w)

    def held(self, x: ca.SX) -> ca.SX:
        """Return symbols for a vector that counts as constant in the gradient of a potential.

        For what a potential is least or largest in (envelope theorem).
        """
        symbols = ca.SX.sym("held", x.numel())
        self.holding.append((symbols, x))
        return symbols

    def value(self, x: Any) -> ca.SX:
        """Return a stated number, or nested sequence of numbers, as an expression.

        A callable is a function of time ``x(t)``; inside it NumPy functions work on ``t``.
        """
        if callable(x):
            return self.value(at_time(x, self.t))
        if isinstance(x, Parameter):
            return self._symbols[x.name]
        if isinstance(x, Sequence | np.ndarray):
            parts = [self.value(part) for part in x]
            nested = any(isinstance(part, Sequence | np.ndarray) for part in x)
            return ca.vertcat(*(part.T if nested else part for part in parts))
        return ca.SX(x)


class Outline(NamedTuple):
    """A polyline fixed to a frame, by which pictures show an element."""

    frame: Frame
    points: NDArray[np.float64]  # (n, 3) [m] in the frame


class Element(ABC):
    """A named thing that acts between frames."""

    name: str

    @property
    @abstractmethod
    def frames(self) -> tuple[Frame, ...]:
        """The frames it acts on; for a joint or contact two, the wrench reported is on the last."""

    def outline(self) -> list[Outline]:
        """Return lines to draw; nothing unless an element says so."""
        return []


class Constraint(Element):
    """An ideal joint: a residual that is held at zero."""

    @abstractmethod
    def residual(self, s: State) -> ca.SX:
        """Return the residual, shape (m,), zero where the joint closes [m, or 1 for directions].

        It may depend on ``s.t``. Rows that other rows imply are legal.
        """

    def freedom(self) -> Freedom | None:
        """Return what it leaves free, from frame a to frame b; None where it can only be cut."""
        return None

    def alignment(self, s: State) -> ca.SX:
        """Return cosines, (k,), that are one where the joint is closed; none by default.

        For residuals that vanish also with frames turned by a quarter or half a turn.
        """
        del s
        return ca.SX(0, 1)


class Contact(Element):
    """A unilateral constraint or a set of them: distances that stay at or above zero."""

    @abstractmethod
    def gaps(self, s: State) -> list["Gap"]:
        """Return the gaps; the normal force acts along the gradient of each distance."""


class Force(Element):
    """What pushes without constraining."""

    external: bool = False
    """Whether its power is work done on the mechanism from outside."""

    feedback: bool = False
    """Whether it follows a course by what it measures: off the course its size says nothing."""

    joint: str | None = None
    """The joint whose resistance it is part of, "" for the only one between its bodies."""

    def loads(self, s: State) -> list["Load"]:
        """Return forces that have no potential; none unless a force says so."""
        del s
        return []

    def energy(self, s: State) -> ca.SX:
        """Return the potential [J], zero by default; assembly adds its negative gradient."""
        del s
        return ca.SX(0)

    def readings(self, s: State) -> list["Reading"]:
        """Return what a run records of it; nothing unless a force says so."""
        del s
        return []

    def portrait(self) -> dict[str, list[float]]:
        """Return numbers by which pictures show it; nothing unless a force says so."""
        return {}


class Gap(NamedTuple):
    """One pair of surfaces that may touch.

    ``function`` is what a solver sees: same zero set and same sign as ``distance``, the same
    gradient where they touch, and smooth also where the distance is not (on the axis of a pin).

    ``slip`` is the velocity of the material of body b (that of the element's last frame) less that
    of body a, both at ``point``, along ``tangents``; a friction force on body b is a sum of these
    directions. A contact without friction has none of them.
    """

    distance: ca.SX  # [m] >= 0 when open
    function: ca.SX  # [m]
    point: ca.SX  # (3,) [m] where they would touch, world axes
    normal: ca.SX  # (3,) unit direction of the force on the body of the element's last frame
    scale: ca.SX  # [m] a typical opening, of numbers and parameters alone
    slope: ca.SX = ca.SX(1)  # |gradient of function| over |gradient of distance|; 1 in contact
    offset: ca.SX = ca.SX.nan(3)  # (3,) [m] from the centre of a bore, in the axes of frame a
    tangents: ca.SX = ca.SX(3, 0)  # (3, k) orthonormal, perpendicular to normal; k = 1 in the plane
    slip: ca.SX = ca.SX(0, 1)  # (k,) [m/s]; k = 0 without friction
    law: ContactLaw = ContactLaw()


class Load(NamedTuple):
    """A force and the velocity of its point, or a torque and the angular velocity it works on."""

    velocity: ca.SX  # (3,) [m/s] or [rad/s]
    force: ca.SX  # (3,) [N] or [N m]


class Reading(NamedTuple):
    """A number that is recorded, under the name of the element and its own."""

    name: str
    value: ca.SX  # scalar
    unit: str
    most: ca.SX = ca.SX(np.inf)  # of numbers and parameters alone; a start beyond it is warned of


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
                f"{type(self).__name__} {self.name!r} has both frames on {self.a.place}: "
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


class Rub(NamedTuple):
    """What friction over a step depends on beside the state at which it is taken."""

    h: ca.SX  # [s]
    z: ca.SX  # (nz,) internal states at the start
    reaction: ca.SX  # (6,) force [N] and torque [N m] of the joint on the body of its frame b


class Rubbing(ResistingPair):
    """Friction in a joint that depends on its reaction, or on internal states of its own.

    It is given as a mean over a step at one velocity, so that states that settle within a step
    are exact.
    """

    @property
    def states(self) -> tuple[str, ...]:
        """Names of its internal states, which start at zero; none by default."""
        return ()

    @abstractmethod
    def rub(self, s: State, over: Rub) -> Load:
        """Return the mean force over a step."""

    def settled(self, s: State, over: Rub) -> ca.SX:
        """Return the internal states at the end of a step (nz,), whatever the reaction."""
        del s
        return over.z


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
        of = f"of {type(self).__name__} {self.name!r}"
        if not isinstance(self.law, ContactLaw):
            raise TypeError(
                f"law {of} must be a ContactLaw, got {self.law!r}: use ContactLaw(restitution=..., "
                "friction=...)"
            )
        self.law.check(of)

    def obeying(self, s: State, gaps: Sequence[Gap]) -> list[Gap]:
        """Return gaps with the law and, from their tangents, the slip it needs."""
        if self.law.frictionless:
            return [gap._replace(law=self.law, tangents=ca.SX(3, 0)) for gap in gaps]
        a, b = s.motion(self.a), s.motion(self.b)
        slips = [
            gap.tangents.T @ (b.velocity_at(gap.point) - a.velocity_at(gap.point)) for gap in gaps
        ]
        return [gap._replace(law=self.law, slip=u) for gap, u in zip(gaps, slips, strict=True)]
