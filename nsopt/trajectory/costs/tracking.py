"""Costs of the distance from a reference, along the motion or at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.checks import finite, positive
from nsopt.mechanics import Dynamics, Frame, State
from nsopt.trajectory.checks import check_axes, check_frame, read_targets, with_internal_states
from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True, kw_only=True)
class Tracking(Cost):
    """Integral of squared distances of the coordinates from a reference trajectory.

    Parameters
    ----------
    trajectory : callable
        Function of t [s] that returns (nq,) numbers or expressions, without internal states of
        friction; NumPy functions may be used.
    """

    trajectory: Callable[[ca.SX], Any]

    def check(self, dynamics: Dynamics) -> None:
        names = dynamics.q_names[: dynamics.nq - len(dynamics.internal_names)]
        size = State(ca.SX.sym("t"), {}, {}).value(self.trajectory).numel()
        if size != len(names):
            raise ValueError(
                f"trajectory of Tracking must return {len(names)} numbers, one for each of "
                f"{', '.join(names)}, got {size}"
            )

    def rate(self, m: NodeSample) -> ca.SX:
        trajectory = m.state.value(self.trajectory)
        return ca.sumsqr(m.q[: trajectory.numel()] - trajectory)


@dataclass(frozen=True, kw_only=True)
class TaskTracking(Cost):
    """Integral of squared distances of a point from a path [m^2 s].

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    path : callable
        Function of t [s] that returns (3,) [m] in world axes.
    """

    frame: Frame
    path: Callable[[ca.SX], Any]

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of TaskTracking", self.frame, dynamics)

    def rate(self, m: NodeSample) -> ca.SX:
        return ca.sumsqr(m.motion(self.frame).r - m.state.value(self.path))


@dataclass(frozen=True, kw_only=True)
class FinalPose(Cost):
    """Squared distance of the final coordinates from target values [rad^2 or m^2].

    Parameters
    ----------
    q : (nq,)
        Target; `FREE` leaves a coordinate out; internal states of friction may be left out.
    """

    q: ArrayLike

    def check(self, dynamics: Dynamics) -> None:
        q = with_internal_states(dynamics, self.q, np.nan)
        if np.isnan(read_targets("q of FinalPose", q, dynamics.q_names)).all():
            raise ValueError("FinalPose has no target: give a coordinate")

    def final(self, m: NodeSample) -> ca.SX:
        q = np.asarray(with_internal_states(m.dynamics, self.q, np.nan), dtype=float)
        stated = np.flatnonzero(np.isfinite(q))
        return ca.sumsqr(m.q[stated.tolist()] - q[stated])


@dataclass(frozen=True, kw_only=True)
class FinalTask(Cost):
    """Squared distance of a frame at the end from its target position and axes [m^2].

    Parameters
    ----------
    frame : Frame
    position : (3,) [m], optional
        Target of its origin, world axes.
    axes : (3, 3), optional
        Target; columns are its axes in the world.
    length : float [m]
        Distance that a rotation of one radian counts as.
    """

    frame: Frame
    position: ArrayLike | None = None
    axes: ArrayLike | None = None
    length: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.position is None and self.axes is None:
            raise ValueError("FinalTask has no target: give a position, or axes, or both")
        if self.position is not None:
            finite("position of FinalTask", self.position, (3,))
        if self.axes is not None:
            check_axes("axes of FinalTask", self.axes)
        positive("length of FinalTask", self.length)

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of FinalTask", self.frame, dynamics)

    def final(self, m: NodeSample) -> ca.SX:
        motion, error = m.motion(self.frame), ca.SX(0)
        if self.position is not None:
            error += ca.sumsqr(motion.r - ca.SX(ca.DM(np.asarray(self.position, dtype=float))))
        if self.axes is not None:
            # 2 (1 - cos) is the squared angle while it is small, and smooth at half a turn.
            R = ca.DM(np.asarray(self.axes, dtype=float)).T @ motion.A  # from the target axes
            error += self.length**2 * (3 - ca.trace(R))
        return error
