"""Ideal joints as residuals between two frames [NLP-clearance 2024, section 2.2].

Every joint is stated as ``Joint(name, a, b)`` with frames on two bodies, or on a body and the
ground, and is closed where the two coincide. Residuals are written in the axes of frame a: lengths
in metres, and products of unit axes.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.checks import finite
from nsopt.mechanics import Axis, Ball, Constraint, Freedom, Pair, State, X, Y, Z
from nsopt.parameter import Scalar


@dataclass(frozen=True, eq=False)
class _Joint(Pair, Constraint):
    """A joint by the pose of frame b as seen from frame a."""

    def _offset(self, s: State) -> ca.SX:
        """Return the origin of b from a, in the axes of a, shape (3,) [m]."""
        return s.seen(self.a, self.b).r

    def _turn(self, s: State) -> ca.SX:
        """Return the rotation from the axes of b to those of a, shape (3, 3)."""
        return s.seen(self.a, self.b).A


def _tilt(R: ca.SX) -> ca.SX:
    """Return x and y of the z axis of b in axes of a: zero where both z axes are parallel."""
    return ca.vertcat(R[0, 2], R[1, 2])


def _misalignment(R: ca.SX) -> ca.SX:
    """Return products of unlike axes of a and b, zero where all are parallel."""
    return ca.vertcat(R[0, 1], R[1, 2], R[2, 0])


class _NoTurn(_Joint):
    """A joint that keeps all three axes parallel."""

    def alignment(self, s: State) -> ca.SX:
        return ca.diag(self._turn(s))


class _ParallelZ(_Joint):
    """A joint that keeps both z axes parallel."""

    def alignment(self, s: State) -> ca.SX:
        return self._turn(s)[2, 2]


class Fixed(_NoTurn):
    """No relative motion: 6 rows."""

    def freedom(self) -> Freedom:
        return ()

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._offset(s), _misalignment(self._turn(s)))


class Revolute(_ParallelZ):
    """Turns about z: 5 rows."""

    def freedom(self) -> Freedom:
        return (Axis("angle", "rate", turn=Z),)

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._offset(s), _tilt(self._turn(s)))


class Prismatic(_NoTurn):
    """Slides along z: 5 rows."""

    def freedom(self) -> Freedom:
        return (Axis("distance", "speed", slide=Z),)

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._offset(s)[0:2], _misalignment(self._turn(s)))


class Cylindrical(_ParallelZ):
    """Turns about z and slides along it: 4 rows."""

    def freedom(self) -> Freedom:
        return (Axis("distance", "speed", slide=Z), Axis("angle", "rate", turn=Z))

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._offset(s)[0:2], _tilt(self._turn(s)))


class Spherical(_Joint):
    """Turns about every axis: 3 rows."""

    def freedom(self) -> Freedom:
        return (Ball(),)

    def residual(self, s: State) -> ca.SX:
        return self._offset(s)


class Bend(_Joint):
    """Turns about x of frame a, then the new y, then the new z: 3 rows.

    Of a flexible link (`nsopt.robots.flexible_link`), with three angles as coordinates. They are
    singular where the turn about y is a quarter; a `Spherical` has Euler parameters instead.
    """

    def freedom(self) -> Freedom:
        return (
            Axis("angle_x", "rate_x", turn=X),
            Axis("angle_y", "rate_y", turn=Y),
            Axis("angle_z", "rate_z", turn=Z),
        )

    def residual(self, s: State) -> ca.SX:
        return self._offset(s)


class Universal(_Joint):
    """Turns about x of frame a and y of frame b, which stay perpendicular: 4 rows."""

    def freedom(self) -> Freedom:
        return (Axis("angle_x", "rate_x", turn=X), Axis("angle_y", "rate_y", turn=Y))

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._offset(s), self._turn(s)[0, 1])


class PinInSlot(_ParallelZ):
    """A pin along z of b slides in a slot along x of a, and turns in it: 4 rows.

    A higher pair of two freedoms [mobility 2016, example 2, eqs. 8-10]. Both z axes must point the
    same way, which `alignment` checks (remark 2).
    """

    def freedom(self) -> Freedom:
        return (Axis("distance", "speed", slide=X), Axis("angle", "rate", turn=Z))

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._offset(s)[1:3], _tilt(self._turn(s)))


class Planar(_ParallelZ):
    """Slides in the xy plane of a and turns about its z: 3 rows."""

    def freedom(self) -> Freedom:
        return (Axis("x", "vx", slide=X), Axis("y", "vy", slide=Y), Axis("angle", "rate", turn=Z))

    def residual(self, s: State) -> ca.SX:
        return ca.vertcat(self._offset(s)[2], _tilt(self._turn(s)))


class PointOnLine(_Joint):
    """The origin of b stays on the z axis of a: 2 rows."""

    def residual(self, s: State) -> ca.SX:
        return self._offset(s)[0:2]


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
        sine, _ = self._angle_error(s)
        lead = s.value(self.pitch) / (2 * np.pi)
        return ca.vertcat(self._offset(s)[0:2], _tilt(self._turn(s)), lead * sine)

    def alignment(self, s: State) -> ca.SX:
        _, cosine = self._angle_error(s)
        return ca.vertcat(self._turn(s)[2, 2], cosine)

    def _angle_error(self, s: State) -> tuple[ca.SX, ca.SX]:
        """Return sine and cosine of the turn less the turn that belongs to the advance along z."""
        R = self._turn(s)
        angle = 2 * np.pi * self._offset(s)[2] / s.value(self.pitch)
        sine, cosine = ca.sin(angle), ca.cos(angle)
        return R[1, 0] * cosine - R[0, 0] * sine, R[0, 0] * cosine + R[1, 0] * sine
