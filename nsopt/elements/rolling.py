"""Constraints on velocities: rolling, knife edges, wheels, prescribed speeds."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.checks import between, finite, positive
from nsopt.elements.drives import find_driven_freedom
from nsopt.mechanics import (
    Constraint,
    DrivenFreedom,
    Frame,
    Pair,
    RateConstraint,
    State,
    TimeFunction,
)
from nsopt.parameter import Scalar

UP = ca.SX([0, 0, 1])  # the normal of the plane


@dataclass(frozen=True, eq=False)
class PrescribedSpeed(RateConstraint):
    """A joint that turns or slides at a given speed: 1 row.

    As `Driven`, but of the speed alone, which may jump; the coordinate drifts by errors of steps.

    Parameters
    ----------
    name : str
    joint : Constraint, Turn or Slide
        A joint of one freedom; of others ``Turn(a, b)`` or ``Slide(a, b)`` says what is driven.
    speed : float or Parameter [rad/s or m/s], or a function of time

    Raises
    ------
    TypeError
        If the joint does not say which of its freedoms it is.
    ValueError
        If the speed is not finite.
    """

    name: str
    joint: Constraint | DrivenFreedom
    speed: Scalar | TimeFunction

    def __post_init__(self) -> None:
        find_driven_freedom(f"joint of PrescribedSpeed {self.name!r}", self.joint)
        if not callable(self.speed):
            finite(f"speed of PrescribedSpeed {self.name!r}", self.speed, ())

    @property
    def _freedom(self) -> DrivenFreedom:
        return find_driven_freedom(f"joint of PrescribedSpeed {self.name!r}", self.joint)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Frames a and b of the joint."""
        return self._freedom.a, self._freedom.b

    def rate(self, s: State) -> ca.SX:
        speed = s.value(self.speed)
        if not speed.is_scalar():
            what = f"speed of PrescribedSpeed {self.name!r}"
            raise ValueError(f"{what} must return one number, got shape {speed.shape}")
        return self._freedom.rate(s) - speed


@dataclass(frozen=True, eq=False)
class KnifeEdge(Pair, RateConstraint):
    """A blade, skate or thin wheel that does not slip sideways: 1 row.

    Parameters
    ----------
    a : Frame
        On the ground or what it runs on, z along the normal.
    b : Frame
        On the blade, x along it; its origin is where it cuts.
    """

    def rate(self, s: State) -> ca.SX:
        x = s.seen(self.a, self.b)
        along = x.A[:2, 0]  # of a tilted blade: its projection onto the plane of a
        return (along[0] * x.v[1] - along[1] * x.v[0]) / ca.sqrt(ca.sumsqr(along))


@dataclass(frozen=True, eq=False)
class _Round(Pair, RateConstraint):
    """A body of some radius that rolls on the xy plane of frame a."""

    radius: Scalar

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(f"radius of {type(self).__name__} {self.name!r}", self.radius)


@dataclass(frozen=True, eq=False)
class Rolling(_Round):
    """A ball that rolls without slip on a plane, which may turn or move: 2 rows.

    Parameters
    ----------
    a : Frame
        On the ground or a turntable; the plane is that of its x and y.
    b : Frame
        On the ball, origin at its centre. What keeps it at ``radius`` above the plane is a joint
        or a contact of its own.
    radius : float or Parameter [m]

    Raises
    ------
    ValueError
        If the radius is not above zero.
    """

    def rate(self, s: State) -> ca.SX:
        x, r = s.seen(self.a, self.b), s.value(self.radius)
        return ca.vertcat(x.v[0] - r * x.w[1], x.v[1] + r * x.w[0])


@dataclass(frozen=True, eq=False)
class RollingDisc(_Round):
    """A thin disc whose rim rolls on a plane without slip, at any tilt: 3 rows.

    The lowest point of its rim has no velocity, along the normal neither: so it stays on the plane
    where it started, up to the order of the scheme.

    Parameters
    ----------
    a : Frame
        On the ground; the plane is that of its x and y.
    b : Frame
        On the disc, origin at its centre, y along its axis.
    radius : float or Parameter [m]
    slides : bool
        Whether it may slip along its axis, as one of two wheels of an axle must: 2 rows.

    Raises
    ------
    ValueError
        If the radius is not above zero.
    """

    slides: bool = False

    def rate(self, s: State) -> ca.SX:
        x = s.seen(self.a, self.b)
        axis = x.A[:, 1]
        # From the centre to the lowest point of the rim: -z without its part along the axis.
        down = axis[2] * axis - UP
        arm = s.value(self.radius) * down / ca.sqrt(ca.sumsqr(down))
        slip = x.v + ca.cross(x.w, arm)
        if not self.slides:
            return slip
        heading = ca.cross(axis, UP)
        return ca.vertcat(ca.dot(heading, slip) / ca.sqrt(ca.sumsqr(heading)), slip[2])


@dataclass(frozen=True, eq=False)
class _Upright(_Round):
    """A wheel of a vehicle that moves in the plane.

    Parameters
    ----------
    a : Frame
        On the ground, z along the normal.
    b : Frame
        On the wheel, origin at its centre, y along its axis, which stays parallel to the plane.
    radius : float or Parameter [m]

    Raises
    ------
    ValueError
        If the radius is not above zero.
    """

    def _find_slip(self, s: State) -> tuple[ca.SX, ca.SX]:
        """Return the velocity of the lowest point along the heading and along the axis [m/s]."""
        x = s.seen(self.a, self.b)
        axis = ca.vertcat(x.A[:2, 1], 0)
        heading = ca.cross(axis, UP)
        ahead = ca.dot(heading, x.v) - s.value(self.radius) * ca.dot(x.A[:, 1], x.w)
        return ahead, ca.dot(axis, x.v)


@dataclass(frozen=True, eq=False)
class Wheel(_Upright):
    """An upright wheel that rolls without slip: 2 rows.

    Parameters
    ----------
    slides : bool
        Whether it may slip along its axis, as one of two wheels of an axle must: 1 row.
    """

    slides: bool = False

    def rate(self, s: State) -> ca.SX:
        ahead, across = self._find_slip(s)
        return ahead if self.slides else ca.vertcat(ahead, across)


@dataclass(frozen=True, eq=False)
class MecanumWheel(_Upright):
    """An upright wheel with rollers around its rim, free to slip across a roller: 1 row.

    The point on the ground has no velocity along the axis of the roller that touches it.

    Parameters
    ----------
    angle : float or Parameter [rad]
        From the axis of the wheel to that of the roller on the ground, about z, zero excluded;
        45 deg and -45 deg in turn on the wheels of a vehicle, 90 deg of an omniwheel.

    Raises
    ------
    ValueError
        If the angle is zero, which drives nothing, or more than a quarter turn.
    """

    angle: Scalar = np.pi / 4

    def __post_init__(self) -> None:
        super().__post_init__()
        what, remedy = f"angle of MecanumWheel {self.name!r}", "90 deg is that of an omniwheel"
        if between(what, self.angle, -np.pi / 2, np.pi / 2, remedy) == 0:
            raise ValueError(f"{what} must not be zero, for then it drives nothing: {remedy}")

    def rate(self, s: State) -> ca.SX:
        ahead, across = self._find_slip(s)
        angle = s.value(self.angle)
        return ca.cos(angle) * across - ca.sin(angle) * ahead
