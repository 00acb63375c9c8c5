"""Paths that a frame is told to follow: corners, splines, arcs, or any function of time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import casadi as ca
import numpy as np
import scipy

from nsopt.arrays import Array
from nsopt.checks import finite, numbers, plain, positive
from nsopt.elements.vector import vector_now
from nsopt.mechanics import Frame, Outline, State, Vector, axes_matrix
from nsopt.parameter import Numbers, Scalar, number

DRAWN = 49  # points of a curved path in pictures


class PointPath(ABC):
    """A motion of a point: three coordinates over time [m]; or three angles [rad]."""

    @abstractmethod
    def at(self, s: State) -> ca.SX:
        """Return where it is at the time of a state, (3,); its speed may not jump."""

    def outline(self) -> Array:
        """Return points along it, (n, 3), for pictures; none by default."""
        return np.zeros((0, 3))


@dataclass(frozen=True)
class CornerPath(PointPath):
    """Straight lines from corner to corner, at rest in each, by a quintic [CoPCoD 2023, eq. 28].

        s = 10 x^3 - 15 x^4 + 6 x^5,   x = (t - begin) / time of the side

    Before the first and after the last corner it rests.

    Parameters
    ----------
    corners : (n, 3) [m]
        In order, numbers or Parameters; the first once more at the end of a closed one.
    side : float or Parameter, or n - 1 of them [s]
        Time from each corner to the next.
    begin : float or Parameter [s]
        When it leaves the first.

    Raises
    ------
    ValueError
        If there are fewer than two corners, or a number is out of range.
    """

    corners: Numbers
    side: Scalar | Sequence[Scalar] = 1.0
    begin: Scalar = 0.0

    def __post_init__(self) -> None:
        count = len(_points("corners of a CornerPath", self.corners))
        for side in self._divide_corners(count - 1):
            positive("side of a CornerPath [s]", side)
        finite("begin of a CornerPath", self.begin, ())

    def _divide_corners(self, count: int) -> list[Scalar]:
        given = self.side
        sides = list(given) if isinstance(given, Sequence | np.ndarray) else [given] * count
        if len(sides) != count:
            raise ValueError(
                f"side of a CornerPath must be one time, or {count} of them, got {len(sides)}"
            )
        return sides

    def at(self, s: State) -> ca.SX:
        corners, begin = s.value(self.corners), s.value(self.begin)
        r = corners[0, :].T
        for k, side in enumerate(self._divide_corners(corners.shape[0] - 1)):
            T = s.value(side)
            # The whole of each side that is passed, nothing of those to come.
            r += (corners[k + 1, :] - corners[k, :]).T * _ease((s.t - begin) / T)
            begin += T
        return r

    def outline(self) -> Array:
        return _points("corners of a CornerPath", self.corners)


@dataclass(frozen=True)
class SplinePath(PointPath):
    """A cubic spline through points, at rest at both ends, where it stays.

    Parameters
    ----------
    times : (n,) [s]
        Rising; plain numbers.
    points : (n, 3) [m]
        Plain numbers.
    periodic : bool
        Closed and repeated without end instead: the last point is the first one again.

    Raises
    ------
    ValueError
        If there are fewer than two points, times do not rise, or it is not closed though periodic.
    """

    times: Numbers
    points: Numbers
    periodic: bool = False

    def __post_init__(self) -> None:
        points = _points("points of a SplinePath", self.points)
        for what, value in (("times", self.times), ("points", self.points)):
            plain(f"{what} of a SplinePath", value, "a spline keeps its form only as numbers")
        times = finite("times of a SplinePath", self.times, (len(points),))
        if np.any(np.diff(times) <= 0):
            raise ValueError(f"times of a SplinePath must rise, got {times.tolist()}")
        if self.periodic and not np.allclose(points[0], points[-1], rtol=0, atol=1e-12):
            raise ValueError(
                f"a periodic SplinePath must be closed, but leads from {points[0].tolist()} to "
                f"{points[-1].tolist()}: give the first point again as the last"
            )

    def at(self, s: State) -> ca.SX:
        # Coefficients (4, n - 1, 3) of the pieces, the highest power first.
        times, coefficients = np.asarray(self.times, float), self._spline.c
        t = self._within(s.t, times)
        r = ca.SX.zeros(3)
        for k, begin in enumerate(times[:-1]):
            u, (a, b, c, d) = t - float(begin), (ca.SX(ca.DM(x)) for x in coefficients[:, k])
            piece = ((a * u + b) * u + c) * u + d
            r = ca.if_else(t >= float(begin), piece, r) if k else piece
        return r

    def outline(self) -> Array:
        times = np.asarray(self.times, float)
        return np.asarray(self._spline(np.linspace(times[0], times[-1], DRAWN)))

    @property
    def _spline(self) -> scipy.interpolate.CubicSpline[np.float64]:
        times, points = np.asarray(self.times, float), np.asarray(self.points, float)
        if self.periodic:
            return scipy.interpolate.CubicSpline(times, points, bc_type="periodic")
        return scipy.interpolate.CubicSpline(times, points, bc_type="clamped")

    def _within(self, t: ca.SX, times: Array) -> ca.SX:
        """Return a time, moved into the range of the spline: to its ends, or by whole periods."""
        first, last = float(times[0]), float(times[-1])
        if not self.periodic:
            return ca.fmin(ca.fmax(t, first), last)
        turns = ca.floor((t - first) / (last - first))
        return t - turns * (last - first)


@dataclass(frozen=True)
class ArcPath(PointPath):
    """An arc of a circle, from rest to rest by the quintic, or round and round.

    Parameters
    ----------
    centre : (3,) [m]
    radius : float or Parameter [m]
    angle : float or Parameter [rad]
        Of the arc, about the normal from its x axis.
    duration : float or Parameter [s]
        From one end of the arc to the other.
    normal : (3,) or (3, 3)
        The axis of the circle, or axes as columns x, where the arc begins, y, and z, the axis of
        the circle. Plain numbers, as for `Frame`.
    begin : float or Parameter [s]
        When it is at x.
    constant_speed : bool
        Whether it goes on and on at the mean speed, before ``begin`` and after the arc too.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    centre: Numbers
    radius: Scalar
    angle: Scalar = 2 * np.pi
    duration: Scalar = 1.0
    normal: Numbers = (0.0, 0.0, 1.0)
    begin: Scalar = 0.0
    constant_speed: bool = False

    def __post_init__(self) -> None:
        finite("centre of an ArcPath", self.centre, (3,))
        positive("radius of an ArcPath", self.radius)
        positive("duration of an ArcPath", self.duration)
        for what in ("angle", "begin"):
            finite(f"{what} of an ArcPath", getattr(self, what), ())
        plain("normal of an ArcPath", self.normal)
        axes = axes_matrix("normal of an ArcPath", self.normal)
        object.__setattr__(self, "normal", axes)

    def at(self, s: State) -> ca.SX:
        share = (s.t - s.value(self.begin)) / s.value(self.duration)
        angle = s.value(self.angle) * (share if self.constant_speed else _ease(share))
        circle = s.value(self.radius) * ca.vertcat(ca.cos(angle), ca.sin(angle), 0)
        return s.value(self.centre) + ca.SX(ca.DM(self.normal)) @ circle

    def outline(self) -> Array:
        angles = float(number(self.angle)) * np.linspace(0, 1, DRAWN)
        circle = np.array([np.cos(angles), np.sin(angles), 0 * angles]) * number(self.radius)
        return np.asarray(number(self.centre) + (np.asarray(self.normal) @ circle).T)


AnyPath: TypeAlias = PointPath | Vector
"""A path, a function of time that returns (3,), or a point where it rests."""


def check_path(what: str, path: object) -> None:
    """Check ``path``, named ``what`` in errors; functions of time are checked at assembly."""
    if not isinstance(path, PointPath) and not callable(path):
        finite(what, path, (3,))


def path_at(what: str, path: AnyPath, s: State) -> ca.SX:
    """Return where a path is at the time of a state, (3,); errors as of `vector_now`."""
    return path.at(s) if isinstance(path, PointPath) else vector_now(s, path, what)


def path_outline(a: Frame, path: AnyPath) -> list[Outline]:
    """Return what to draw of a path in frame a; nothing of functions of time and of points."""
    line = path.outline() if isinstance(path, PointPath) else np.zeros((0, 3))
    return [Outline(a, line)] if len(line) else []


def _ease(x: ca.SX) -> ca.SX:
    """Return the share of the way at the share x of its time: from rest to rest, 0 before it."""
    x = ca.fmin(ca.fmax(x, 0), 1)
    return x**3 * (10 - 15 * x + 6 * x**2)


def _points(what: str, given: Numbers) -> Array:
    """Return points as (n, 3), n at least two."""
    points = numbers(what, given)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
        raise ValueError(f"{what} must be two or more of three numbers, got shape {points.shape}")
    return finite(what, given, points.shape)
