"""Costs of the distance from what is wanted, all along or at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.mechanics import Dynamics, Frame, State
from nsopt.mechanics.checks import finite, positive
from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.costs.checks import check_frame, wanted, whole
from nsopt.trajectory.moment import Moment
from nsopt.trajectory.turns import check_axes, turned


@dataclass(frozen=True, kw_only=True)
class Tracking(Cost):
    """Integral of squared distances of the coordinates from a course.

    Parameters
    ----------
    course : callable
        Of t [s], (nq,) numbers or expressions, internal states of friction left out; NumPy
        functions work on it.
    """

    course: Callable[[ca.SX], Any]

    def check(self, dynamics: Dynamics) -> None:
        names = dynamics.q_names[: dynamics.nq - len(dynamics.internal_names)]
        found = State(ca.SX.sym("t"), {}, {}).value(self.course).numel()
        if found != len(names):
            raise ValueError(
                f"course of Tracking must return {len(names)} numbers, one for each of "
                f"{', '.join(names)}, got {found}"
            )

    def rate(self, m: Moment) -> ca.SX:
        course = m.state.value(self.course)
        return ca.sumsqr(m.q[: course.numel()] - course)


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

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of TaskTracking", self.frame, dynamics)

    def rate(self, m: Moment) -> ca.SX:
        return ca.sumsqr(m.motion(self.frame).r - m.state.value(self.path))


@dataclass(frozen=True, kw_only=True)
class FinalPose(Cost):
    """Squared distance of the last coordinates from wanted ones [rad^2 or m^2].

    Parameters
    ----------
    q : (nq,)
        Not-a-number leaves one out; internal states of friction may be left out.
    """

    q: ArrayLike

    def check(self, dynamics: Dynamics) -> None:
        q = whole(dynamics, self.q, np.nan)
        if np.isnan(wanted("q of FinalPose", q, dynamics.q_names)).all():
            raise ValueError("FinalPose wants nothing: give a coordinate")

    def final(self, m: Moment) -> ca.SX:
        q = np.asarray(whole(m.dynamics, self.q, np.nan), dtype=float)
        at = np.flatnonzero(np.isfinite(q))
        return ca.sumsqr(m.q[at.tolist()] - q[at])


@dataclass(frozen=True, kw_only=True)
class FinalTask(Cost):
    """Squared distance of a frame at the end from where it should be [m^2].

    Parameters
    ----------
    frame : Frame
    position : (3,) [m], optional
        Of its origin, world axes.
    axes : (3, 3), optional
        Columns are its wanted axes in the world.
    length : float [m]
        What a turn of a radian counts as.
    """

    frame: Frame
    position: ArrayLike | None = None
    axes: ArrayLike | None = None
    length: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.position is None and self.axes is None:
            raise ValueError("FinalTask wants nothing: give a position, or axes, or both")
        if self.position is not None:
            finite("position of FinalTask", self.position, (3,))
        if self.axes is not None:
            check_axes("axes of FinalTask", self.axes)
        positive("length of FinalTask", self.length)

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of FinalTask", self.frame, dynamics)

    def final(self, m: Moment) -> ca.SX:
        motion, found = m.motion(self.frame), ca.SX(0)
        if self.position is not None:
            found += ca.sumsqr(motion.r - ca.SX(ca.DM(np.asarray(self.position, dtype=float))))
        if self.axes is not None:
            # 2 (1 - cos) is the squared angle while it is small, and smooth at half a turn.
            found += self.length**2 * (3 - ca.trace(turned(self.axes, motion.A)))
        return found
