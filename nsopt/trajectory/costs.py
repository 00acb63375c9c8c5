"""What an optimum is best in: costs of a motion, each reported by itself.

A new cost is one frozen dataclass derived from `Cost` with ``rate``, what it costs per second, or
``final``, what the end of the motion costs; an export; a row in ``tests/catalog.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics, Frame
from nsopt.mechanics.checks import not_negative
from nsopt.trajectory.moment import Moment


@dataclass(frozen=True, kw_only=True)
class Cost:
    """A cost over the motion and at its end.

    Parameters
    ----------
    weight : float
        By which it enters the sum; shares are reported with it.

    Raises
    ------
    ValueError
        If the weight is negative.
    """

    weight: float = 1.0

    def __post_init__(self) -> None:
        not_negative(f"weight of {type(self).__name__}", self.weight)

    def check(self, dynamics: Dynamics) -> None:
        """Refuse a mechanism that it is not for; none by default.

        Raises
        ------
        ValueError
        """
        del dynamics

    def rate(self, m: Moment) -> ca.SX:
        """Return the cost per second; zero by default."""
        del m
        return ca.SX(0)

    def final(self, m: Moment) -> ca.SX:
        """Return the cost of the end; zero by default."""
        del m
        return ca.SX(0)


def check_joints(what: str, joints: Sequence[str], known: Sequence[str]) -> None:
    """Raise a ValueError that names a joint which is not there."""
    for name in joints:
        if name not in known:
            raise ValueError(
                f"{what} names the joint {name!r}, which is not there: one of {', '.join(known)}"
            )


@dataclass(frozen=True, kw_only=True)
class Effort(Cost):
    """Integral of the squared forces of the drives [N^2 m^2 s or N^2 s].

    Parameters
    ----------
    scale : float [N m or N]
        Force that costs one per second.
    """

    scale: float = 1.0

    def rate(self, m: Moment) -> ca.SX:
        return ca.sumsqr(m.drive / self.scale)


@dataclass(frozen=True, kw_only=True)
class InputEffort(Cost):
    """Integral of the square of an input, halves and the like by the weight.

    Parameters
    ----------
    input : str
        Name of the Parameter that is an input.
    """

    input: str

    def check(self, dynamics: Dynamics) -> None:
        names = [parameter.name for parameter in dynamics.parameters]
        if self.input not in names:
            raise ValueError(
                f"InputEffort names the input {self.input!r}, which is no Parameter of the "
                f"mechanism: one of {', '.join(names) or 'none'}"
            )

    def rate(self, m: Moment) -> ca.SX:
        return m.input(self.input) ** 2


@dataclass(frozen=True, kw_only=True)
class JointResistance(Cost):
    """Integral of squared resistances of joints, and of reactions if they count.

    Moments beyond the range of motion, damping, friction [RoM 2023, eq. 2]: what loads and wears
    a joint.

    Parameters
    ----------
    joints : sequence of str
        By default all of them.
    torque, force : float [N m], [N]
        Resistance that costs one per second; a part with an infinite one does not count.
    reaction_torque, reaction_force : float [N m], [N]
        The same of the reactions.
    """

    joints: Sequence[str] | None = None
    torque: float = 1.0
    force: float = np.inf
    reaction_torque: float = np.inf
    reaction_force: float = np.inf

    def check(self, dynamics: Dynamics) -> None:
        check_joints("JointResistance", self.joints or (), dynamics.joint_names)

    def rate(self, m: Moment) -> ca.SX:
        found = ca.SX(0)
        for joint in self.joints or m.dynamics.joint_names:
            resistance = m.resistance(joint)
            found += _squares(resistance, self.force, self.torque)
            if np.isfinite([self.reaction_force, self.reaction_torque]).any():
                found += _squares(m.reaction(joint), self.reaction_force, self.reaction_torque)
        return found


def _squares(wrench: ca.SX, force: float, torque: float) -> ca.SX:
    found = ca.SX(0)
    for part, size in ((wrench[:3], force), (wrench[3:], torque)):
        if np.isfinite(size):
            found += ca.sumsqr(part) / size**2
    return found


@dataclass(frozen=True, kw_only=True)
class Duration(Cost):
    """The time that the motion takes [s]."""

    def rate(self, m: Moment) -> ca.SX:
        del m
        return ca.SX(1)


@dataclass(frozen=True, kw_only=True)
class Smoothness(Cost):
    """Integral of squared accelerations of the coordinates [rad^2/s^3 or m^2/s^3]."""

    def rate(self, m: Moment) -> ca.SX:
        return ca.sumsqr(m.a)


@dataclass(frozen=True, kw_only=True)
class Tracking(Cost):
    """Integral of squared distances of the coordinates from a course.

    Parameters
    ----------
    course : callable
        Of t [s], (nq,) numbers or expressions; NumPy functions work on it.
    """

    course: Callable[[ca.SX], Any]

    def rate(self, m: Moment) -> ca.SX:
        return ca.sumsqr(m.q - m.state.value(self.course))


@dataclass(frozen=True, kw_only=True)
class TaskTracking(Cost):
    """Integral of squared distances of a point from a path [m^2 s].

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    path : callable
        Of t [s], (3,) [m] in world axes.
    """

    frame: Frame
    path: Callable[[ca.SX], Any]

    def rate(self, m: Moment) -> ca.SX:
        return ca.sumsqr(m.motion(self.frame).r - m.state.value(self.path))


@dataclass(frozen=True, kw_only=True)
class BaseReaction(Cost):
    """Integral of squared reactions of one joint, such as that to the ground.

    Parameters
    ----------
    joint : str
    torque, force : float [N m], [N]
        That cost one per second.
    """

    joint: str
    torque: float = field(default=1.0)
    force: float = field(default=1.0)

    def check(self, dynamics: Dynamics) -> None:
        check_joints("BaseReaction", [self.joint], dynamics.joint_names)

    def rate(self, m: Moment) -> ca.SX:
        return _squares(m.reaction(self.joint), self.force, self.torque)
