"""Ideal joints as residuals between two frames [NLP-clearance 2024, section 2.2].

Every joint is stated as ``Joint(name, a, b)`` with frames on two bodies, or on a body and the
ground, and is closed where the two coincide. Residuals are written in the axes of frame a: lengths
in metres, and products of unit axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from nsopt.checks import finite, positive
from nsopt.elements.drives import HeldFunction
from nsopt.elements.vector import number_now
from nsopt.mechanics import Axis, Ball, Constraint, Freedom, Pair, State, TimeFunction, X, Y, Z
from nsopt.parameter import Scalar, at_time, constant


@dataclass(frozen=True, eq=False)
class _Joint(Pair, Constraint):
    """A joint by the pose of frame b as seen from frame a."""

    def _find_offset(self, s: State) -> ca.SX:
        """Return the origin of b from a, in the axes of a, shape (3,) [m]."""
        return s.seen(self.a, self.b).r

    def _find_turn(self, s: State) -> ca.SX:
        """Return the rotation from the axes of b to those of a, shape (3, 3)."""
        return s.seen(self.a, self.b).A


def _find_tilt(R: ca.SX) -> ca.SX:
    """Return x and y of the z axis of b in axes of a: zero where both z axes are parallel."""
    return ca.vertcat(R[0, 2], R[1, 2])


def _find_misalignment(R: ca.SX) -> ca.SX:
    """Return products of unlike axes of a and b, zero where all are parallel."""
    return ca.vertcat(R[0, 1], R[1, 2], R[2, 0])


class _NoTurn(_Joint):
    """A joint that keeps all three axes parallel."""

    def alignment(self, s: State) -> ca.SX:
        return ca.diag(self._find_turn(s))


class _ParallelZ(_Joint):
    """A joint that keeps both z axes parallel."""

    def alignment(self, s: State) -> ca.SX:
        return self._find_turn(s)[2, 2]


class Fixed(_NoTurn):
    """No relative motion: 6 rows."""

    def freedom(self) -> Freedom:
        return ()

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._find_offset(s), _find_misalignment(self._find_turn(s)))


class Revolute(_ParallelZ):
    """Turns about z: 5 rows."""

    def freedom(self) -> Freedom:
        return (Axis("angle", "rate", turn=Z),)

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._find_offset(s), _find_tilt(self._find_turn(s)))


class Prismatic(_NoTurn):
    """Slides along z: 5 rows."""

    def freedom(self) -> Freedom:
        return (Axis("distance", "speed", slide=Z),)

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._find_offset(s)[0:2], _find_misalignment(self._find_turn(s)))


class Cylindrical(_ParallelZ):
    """Turns about z and slides along it: 4 rows."""

    def freedom(self) -> Freedom:
        return (Axis("distance", "speed", slide=Z), Axis("angle", "rate", turn=Z))

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._find_offset(s)[0:2], _find_tilt(self._find_turn(s)))


class Spherical(_Joint):
    """Turns about every axis: 3 rows."""

    def freedom(self) -> Freedom:
        return (Ball(),)

    def residual(self, s: State) -> ca.SX:
        return self._find_offset(s)


@dataclass(frozen=True, eq=False)
class Bend(_Joint):
    """Turns about x of frame a, then the new y, then the new z: 3 rows.

    Of a flexible link (`nsopt.robots.flexible_link`), with three angles as coordinates. They are
    singular where the turn about y is a quarter; a `Spherical` has Euler parameters instead.

    Parameters
    ----------
    link : str
        Name of the flexible link of which it is a part, if it is one.
    """

    link: str = ""

    def freedom(self) -> Freedom:
        return (
            Axis("angle_x", "rate_x", turn=X),
            Axis("angle_y", "rate_y", turn=Y),
            Axis("angle_z", "rate_z", turn=Z),
        )

    def residual(self, s: State) -> ca.SX:
        return self._find_offset(s)


class Universal(_Joint):
    """Turns about x of frame a and y of frame b, which stay perpendicular: 4 rows."""

    def freedom(self) -> Freedom:
        return (Axis("angle_x", "rate_x", turn=X), Axis("angle_y", "rate_y", turn=Y))

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._find_offset(s), self._find_turn(s)[0, 1])


class PinInSlot(_ParallelZ):
    """A pin along z of b slides in a slot along x of a, and turns in it: 4 rows.

    A higher pair of two freedoms [mobility 2016, example 2, eqs. 8-10]. Both z axes must point the
    same way, which `alignment` checks (remark 2).
    """

    def freedom(self) -> Freedom:
        return (Axis("distance", "speed", slide=X), Axis("angle", "rate", turn=Z))

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._find_offset(s)[1:3], _find_tilt(self._find_turn(s)))


class Planar(_ParallelZ):
    """Slides in the xy plane of a and turns about its z: 3 rows."""

    def freedom(self) -> Freedom:
        return (Axis("x", "vx", slide=X), Axis("y", "vy", slide=Y), Axis("angle", "rate", turn=Z))

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._find_offset(s)[2], _find_tilt(self._find_turn(s)))


class PointOnLine(_Joint):
    """The origin of b stays on the z axis of a: 2 rows."""

    def residual(self, s: State) -> ca.SX:
        return self._find_offset(s)[0:2]


@dataclass(frozen=True, eq=False)
class Screw(_Joint):
    """Turns about z and advances along it in proportion: 5 rows.

    Parameters
    ----------
    pitch : float or Parameter [m]
        Advance per turn, right-handed where positive.

    Raises
    ------
    ValueError
        If the pitch is zero (that is a `Revolute`).
    """

    pitch: Scalar

    def __post_init__(self) -> None:
        super().__post_init__()
        if finite(f"pitch of Screw {self.name!r}", self.pitch, ()) == 0:
            raise ValueError(f"pitch of Screw {self.name!r} must not be zero: use Revolute")

    def freedom(self) -> Freedom:
        return (Axis("angle", "rate", turn=Z, pitch=self.pitch),)

    def residual(self, s: State) -> ca.SX:
        # The sine of (angle - advance / lead) has no jump after a turn, unlike the angle itself.
        sine, _ = self._find_angle_error(s)
        lead = s.value(self.pitch) / (2 * np.pi)
        return ca.vertcat(self._find_offset(s)[0:2], _find_tilt(self._find_turn(s)), lead * sine)

    def alignment(self, s: State) -> ca.SX:
        _, cosine = self._find_angle_error(s)
        return ca.vertcat(self._find_turn(s)[2, 2], cosine)

    def _find_angle_error(self, s: State) -> tuple[ca.SX, ca.SX]:
        """Return sine and cosine of the turn less the turn that belongs to the advance along z."""
        R = self._find_turn(s)
        angle = 2 * np.pi * self._find_offset(s)[2] / s.value(self.pitch)
        sine, cosine = ca.sin(angle), ca.cos(angle)
        return R[1, 0] * cosine - R[0, 0] * sine, R[0, 0] * cosine + R[1, 0] * sine


@dataclass(frozen=True, eq=False)
class Distance(Pair, Constraint):
    """Keeps the origins of two frames at a distance: 1 row.

    A rod with a ball at each end, of no mass, that may pull and push. A length that is a function
    of time is a linear actuator that obeys at any force.

    Parameters
    ----------
    a, b : Frame
        Their axes do not matter.
    length : float or Parameter [m], or a function of time
        ``lambda t: ...`` with NumPy functions of the symbol t [s]; above zero throughout the run.

    Raises
    ------
    ValueError
        If the length is no positive number; of a function of time, at t = 0, when it is assembled.

    Notes
    -----
    The residual is (d.d - l^2) / (2 l) [m], with the same value and gradient to first order as
    |d| - l where the joint is closed, and smooth also where both origins coincide. Its multiplier
    is the force in the rod, positive where it pushes.
    """

    length: Scalar | TimeFunction

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.length):
            positive(self._what, self.length, "two points that coincide are a Spherical")

    @property
    def _what(self) -> str:
        return f"length of Distance {self.name!r}"

    def residual(self, s: State) -> ca.SX:
        d, length = s.motion(self.b).r - s.motion(self.a).r, self.length
        check = partial(positive, remedy="give a longer one")
        now = number_now(s, length, self._what, check) if callable(length) else s.value(length)
        return (ca.sumsqr(d) - now**2) / (2 * now)


@dataclass(frozen=True, eq=False)
class PointOnCurve(Pair, Constraint):
    """Keeps the origin of b on a curve in the xy plane of a, as a cam does its follower: 2 rows.

    Parameters
    ----------
    a, b : Frame
        On the cam, and on what carries the centre of the roller; axes of b do not matter.
    curve : callable
        ``curve(x, y)`` [m] is zero on the curve, and nowhere near it else, with a gradient of about
        one; NumPy functions of the symbols x and y. The pitch curve of a cam with the radius
        ``r(angle)`` is ``lambda x, y: np.sqrt(x**2 + y**2) - r(np.arctan2(y, x))``.

    Raises
    ------
    TypeError
        If the curve is no function.
    ValueError
        If it does not return one number, or one that is the same everywhere.
    """

    curve: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.curve, HeldFunction):
            return
        if not callable(self.curve):
            raise TypeError(
                f"{self._what} must be a function of x and y that is zero on it, got "
                f"{self.curve!r}: lambda x, y: ..."
            )
        object.__setattr__(self, "curve", HeldFunction(self.curve))
        x, y = ca.SX.sym("x"), ca.SX.sym("y")
        if not ca.depends_on(self._evaluate_curve(x, y), ca.vertcat(x, y)):
            raise ValueError(f"{self._what} must depend on x and y: it is the same everywhere")

    @property
    def _what(self) -> str:
        return f"curve of PointOnCurve {self.name!r}"

    def residual(self, s: State) -> ca.SX:
        x, y, z = ca.vertsplit(s.seen(self.a, self.b).r)
        return ca.vertcat(s.value(lambda _: self.curve.function(x, y)), z)

    def _evaluate_curve(self, x: ca.SX, y: ca.SX) -> ca.SX:
        found = at_time(lambda _: self.curve.function(x, y), x, constant)
        if not isinstance(found, ca.SX | float | int) or not ca.SX(found).is_scalar():
            raise ValueError(f"{self._what} must return one number, got {found!r}")
        return ca.SX(found)
