"""Targets of frames at the end of a motion: position and orientation."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.checks import finite, positive
from nsopt.elements import AnyPath, check_path, path_at
from nsopt.mechanics import Dynamics, Frame
from nsopt.mpcc import Bound
from nsopt.trajectory.checks import check_frame
from nsopt.trajectory.conditions.base import Condition
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.rotations import check_axes, relative_rotation


@dataclass(frozen=True)
class Reach(Condition):
    """Target position of a point at the end of the motion, in world axes.

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    position : (3,) [m]
        Target.
    """

    frame: Frame
    position: ArrayLike

    def __post_init__(self) -> None:
        finite("position of Reach", self.position, (3,))

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of Reach", self.frame, dynamics)

    def end(self, m: NodeSample) -> list[Bound]:
        target = np.asarray(self.position, dtype=float)
        return [Bound("reach", m.motion(self.frame).r, target, target)]


@dataclass(frozen=True)
class InCorridor(Condition):
    """A point stays within a tolerance of a path, at every node.

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    path : PointPath, function of time or (3,) [m]
        As for `Programmed`, in world axes; times are those of the motion.
    tolerance : float [m]

    Raises
    ------
    ValueError
        If the path is none, or the tolerance not above zero.
    """

    frame: Frame
    path: AnyPath
    tolerance: float

    def __post_init__(self) -> None:
        check_path("path of InCorridor", self.path)
        positive("tolerance of InCorridor", self.tolerance, "on the path itself it is Programmed")

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of InCorridor", self.frame, dynamics)

    def along(self, m: NodeSample) -> list[Bound]:
        off = m.motion(self.frame).r - path_at("path of InCorridor", self.path, m.state)
        # Of squares over the tolerance, smooth also on the path.
        share, most = ca.sumsqr(off) / self.tolerance, np.array([self.tolerance])
        return [Bound("distance from the path", share, np.full(1, -np.inf), most)]


@dataclass(frozen=True)
class Orient(Condition):
    """Target orientation of a frame at the end of the motion.

    Parameters
    ----------
    frame : Frame
    axes : (3, 3)
        Target; columns are the axes of the frame in the world.
    about_z : bool
        Whether rotation about its own z is free, as for a tool of which only the direction counts.
    """

    frame: Frame
    axes: ArrayLike
    about_z: bool = False

    def __post_init__(self) -> None:
        check_axes("axes of Orient", self.axes)

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of Orient", self.frame, dynamics)

    def end(self, m: NodeSample) -> list[Bound]:
        R = relative_rotation(self.axes, m.motion(self.frame).A)
        if self.about_z:
            sine, cosine = R[:2, 2], R[2, 2]
        else:
            sine, cosine = ca.inv_skew((R - R.T) / 2), ca.trace(R) - 1
        still = np.zeros(sine.numel())
        # The sine of the angle vanishes at half a turn as well; there the cosine is negative.
        return [
            Bound("orientation", sine, still, still),
            Bound(
                "orientation, half a turn away",
                cosine,
                np.zeros(1),
                np.full(1, np.inf),
            ),
        ]
