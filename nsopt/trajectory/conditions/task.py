"""Positions and orientations of frames, paths of their origins."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.checks import finite, not_negative, positive
from nsopt.elements import AnyPath, check_path, path_at
from nsopt.mechanics import Dynamics, Frame
from nsopt.mpcc import Bound
from nsopt.trajectory.checks import check_axes, check_frame
from nsopt.trajectory.conditions.base import Condition, limit
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True)
class _OfFrame(Condition):
    """A condition on a frame, or on its origin."""

    frame: Frame

    def check(self, dynamics: Dynamics) -> None:
        check_frame(f"frame of {type(self).__name__}", self.frame, dynamics)


@dataclass(frozen=True)
class Reach(_OfFrame):
    """Target position of a point at the end of the motion, in world axes.

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    position : (3,) [m]
        Target.
    """

    position: ArrayLike

    def __post_init__(self) -> None:
        finite("position of Reach", self.position, (3,))

    def end(self, m: NodeSample) -> list[Bound]:
        target = np.asarray(self.position, dtype=float)
        return [Bound("reach", m.motion(self.frame).r, target, target)]


@dataclass(frozen=True)
class InCorridor(_OfFrame):
    """A point stays within a tolerance of a path, at every node.

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    path : PointPath, function of time or (3,) [m]
        As for `Programmed`, in world axes; times are those of the motion.
    tolerance : float [m]
        Above zero.

    Raises
    ------
    ValueError
        If ``path`` is of another kind, or the tolerance not above zero.
    """

    path: AnyPath
    tolerance: float

    def __post_init__(self) -> None:
        check_path("path of InCorridor", self.path)
        positive("tolerance of InCorridor", self.tolerance, "on the path itself it is OnPath")

    def along(self, m: NodeSample) -> list[Bound]:
        off = m.motion(self.frame).r - path_at("path of InCorridor", self.path, m.state)
        # The square is smooth on the path too; over the tolerance it is in metres.
        squared = ca.sumsqr(off) / self.tolerance
        return [limit("distance from the path", squared, -np.inf, self.tolerance)]


@dataclass(frozen=True)
class OnPath(_OfFrame):
    """A point follows a path, at every node and midpoint.

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    path : PointPath, function of time or (3,) [m]
        As for `InCorridor`.

    Raises
    ------
    ValueError
        If ``path`` is of another kind.

    Notes
    -----
    Between nodes the point is off the path by the error of the steps, as h^4; as h^2 near its first
    and last node if the velocity there is left free. A posture that is given must be on the path.
    """

    path: AnyPath

    def __post_init__(self) -> None:
        check_path("path of OnPath", self.path)

    def along(self, m: NodeSample) -> list[Bound]:
        off = m.motion(self.frame).r - path_at("path of OnPath", self.path, m.state)
        # Of a planar mechanism in the plane of the path the distance across it is zero anyway.
        kept = [k for k in range(3) if not off[k].is_zero()]
        return [limit("distance from the path", off[kept], 0.0, 0.0)]


@dataclass(frozen=True)
class Orient(_OfFrame):
    """Target orientation of a frame at the end of the motion, or `During` a part of it.

    Parameters
    ----------
    frame : Frame
    axes : (3, 3)
        Target, a rotation matrix; columns are the axes of the frame in the world.
    about_z : bool
        Whether rotation about its own z is free, as for a tool of which only the direction counts.
    within : float [rad]
        Angle by which the frame, or its z, may be off, from 0 to pi.

    Raises
    ------
    ValueError
        If ``axes`` is no rotation matrix, or ``within`` not from 0 to pi.
    """

    axes: ArrayLike
    about_z: bool = False
    within: float = 0.0

    def __post_init__(self) -> None:
        check_axes("axes of Orient", self.axes)
        not_negative("within of Orient", self.within)
        if self.within > np.pi:
            raise ValueError(
                f"within of Orient must be an angle of at most pi, got {self.within:g} rad"
            )

    def end(self, m: NodeSample) -> list[Bound]:
        R = ca.DM(np.asarray(self.axes, dtype=float)).T @ m.motion(self.frame).A  # from the target
        if self.within:
            # Instead of the angle its chord, 2 sin(angle / 2): the square is smooth at zero too.
            squared_chord = 2 * (1 - R[2, 2]) if self.about_z else 3 - ca.trace(R)
            most = 2 * np.sin(self.within / 2)
            return [limit("angle from the orientation", squared_chord / most, -np.inf, most)]
        if self.about_z:
            sine, cosine = R[:2, 2], R[2, 2]
        else:
            sine, cosine = ca.inv_skew((R - R.T) / 2), ca.trace(R) - 1
        # The sine of the angle vanishes at half a turn as well; there the cosine is negative.
        return [
            limit("orientation", sine, 0.0, 0.0),
            limit("orientation, half a turn away", cosine, 0.0, np.inf),
        ]
