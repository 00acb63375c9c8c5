"""What a motion must keep: at its start, at its end, or all along.

A new condition is one frozen dataclass derived from `Condition`; an export; a row in
``tests/catalog.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.mechanics import Dynamics, Frame
from nsopt.mechanics.checks import finite, numbers, positive
from nsopt.trajectory.costs import check_joints
from nsopt.trajectory.moment import Moment

Array = NDArray[np.float64]


class Bound(NamedTuple):
    """lower <= value <= upper."""

    label: str
    value: ca.SX  # (m,)
    lower: Array  # (m,)
    upper: Array  # (m,)


class Condition:
    """What holds of moments of a motion."""

    def check(self, dynamics: Dynamics) -> None:
        """Refuse a mechanism that it is not for; none by default.

        Raises
        ------
        ValueError
        """
        del dynamics

    def start(self, m: Moment) -> list[Bound]:
        """Return what holds at the start; nothing by default."""
        del m
        return []

    def along(self, m: Moment) -> list[Bound]:
        """Return what holds all along; nothing by default."""
        del m
        return []

    def end(self, m: Moment) -> list[Bound]:
        """Return what holds at the end; nothing by default."""
        del m
        return []


@dataclass(frozen=True)
class _Posture(Condition):
    """Coordinates and velocities; those left out are free.

    Parameters
    ----------
    q, v : (nq,), (nv,) or None
        Not-a-number leaves a single one free.
    """

    q: ArrayLike | None = None
    v: ArrayLike | None = None

    def check(self, dynamics: Dynamics) -> None:
        for name, x, n in (("q", self.q, dynamics.nq), ("v", self.v, dynamics.nv)):
            if x is not None and numbers(f"{name} of {type(self).__name__}", x).shape != (n,):
                raise ValueError(
                    f"{name} of {type(self).__name__} must have shape ({n},), got {np.shape(x)}: "
                    f"one for each of {', '.join(getattr(dynamics, name + '_names'))}"
                )

    def _bounds(self, m: Moment) -> list[Bound]:
        found = []
        for name, x, given in (("q", m.q, self.q), ("v", m.v, self.v)):
            if given is not None:
                wanted = np.asarray(given, dtype=float)
                at = np.flatnonzero(np.isfinite(wanted))
                found.append(Bound(name, x[at.tolist()], wanted[at], wanted[at]))
        return found


class StartAt(_Posture):
    """Where the motion starts: coordinates ``q`` and velocities ``v``."""

    def start(self, m: Moment) -> list[Bound]:
        return self._bounds(m)


class EndAt(_Posture):
    """Where the motion ends: coordinates ``q`` and velocities ``v``."""

    def end(self, m: Moment) -> list[Bound]:
        return self._bounds(m)


@dataclass(frozen=True)
class Reach(Condition):
    """A point at the end of the motion, in world axes.

    Parameters
    ----------
    frame : Frame
    position : (3,) [m]
        Of its origin.
    """

    frame: Frame
    position: ArrayLike

    def __post_init__(self) -> None:
        finite("position of Reach", self.position, (3,))

    def end(self, m: Moment) -> list[Bound]:
        at = np.asarray(self.position, dtype=float)
        return [Bound("reach", m.motion(self.frame).r, at, at)]


@dataclass(frozen=True)
class Within(Condition):
    """Limits of coordinates, velocities and inputs, by name.

    Parameters
    ----------
    name : str
        Of an entry of q or v, such as ``elbow.angle``, or of an input.
    lower, upper : float
    """

    name: str
    lower: float = -np.inf
    upper: float = np.inf

    def check(self, dynamics: Dynamics) -> None:
        known = [*dynamics.q_names, *dynamics.v_names, *(x.name for x in dynamics.parameters)]
        if self.name not in known:
            raise ValueError(
                f"Within names {self.name!r}, which is not there: one of {', '.join(known)}"
            )
        if not self.lower <= self.upper:
            raise ValueError(
                f"limits of {self.name!r} are reversed: lower {self.lower:g} exceeds upper "
                f"{self.upper:g}"
            )

    def along(self, m: Moment) -> list[Bound]:
        d = m.dynamics
        for names, x in ((d.q_names, m.q), (d.v_names, m.v)):
            if self.name in names:
                return [self._bound(x[names.index(self.name)])]
        return [self._bound(m.input(self.name))]

    def _bound(self, x: ca.SX) -> Bound:
        return Bound(self.name, x, np.array([self.lower]), np.array([self.upper]))


@dataclass(frozen=True)
class ActuatorLimits(Condition):
    """Range, speed and force of every actuator of the mechanism.

    Parameters
    ----------
    joints : sequence of str
        By default all that have an actuator.
    """

    joints: Sequence[str] | None = None

    def check(self, dynamics: Dynamics) -> None:
        known = [x.joint for x in dynamics.mechanism.actuators]
        check_joints("ActuatorLimits", self.joints or (), known)

    def along(self, m: Moment) -> list[Bound]:
        found = []
        owners = [name.rsplit(".", 1)[0] for name in m.dynamics.v_names]
        for x in m.dynamics.mechanism.actuators:
            if x.joint not in owners or (self.joints and x.joint not in self.joints):
                continue
            k = owners.index(x.joint)
            limits = (
                ("range", m.q[k], x.lower, x.upper),
                ("speed", m.v[k], -x.velocity, x.velocity),
                ("force", m.drive[k], -x.effort, x.effort),
            )
            found += [
                Bound(f"{what} of {x.joint}", value, np.array([low]), np.array([high]))
                for what, value, low, high in limits
                if np.isfinite([low, high]).any()
            ]
        return found


@dataclass(frozen=True)
class ClearOf(Condition):
    """A sphere that a point keeps out of.

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    centre : (3,) [m]
        World axes.
    radius : float [m]
    """

    frame: Frame
    centre: ArrayLike
    radius: float

    def __post_init__(self) -> None:
        finite("centre of ClearOf", self.centre, (3,))
        positive("radius of ClearOf", self.radius)

    def along(self, m: Moment) -> list[Bound]:
        away = m.motion(self.frame).r - ca.SX(ca.DM(np.asarray(self.centre, dtype=float)))
        # Smooth also at the centre; metres at the surface.
        depth = (ca.sumsqr(away) - self.radius**2) / (2 * self.radius)
        return [Bound("distance from the sphere", depth, np.zeros(1), np.full(1, np.inf))]
