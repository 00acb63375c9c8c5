"""Where frames are at the end of a motion."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.mechanics import Dynamics, Frame
from nsopt.mechanics.checks import finite
from nsopt.trajectory.conditions.base import Bound, Condition
from nsopt.trajectory.costs import check_frame
from nsopt.trajectory.moment import Moment
from nsopt.trajectory.turns import check_axes, turned


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

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of Reach", self.frame, dynamics)

    def end(self, m: Moment) -> list[Bound]:
        at = np.asarray(self.position, dtype=float)
        return [Bound("reach", m.motion(self.frame).r, at, at)]


@dataclass(frozen=True)
class Orient(Condition):
    """How a frame is turned at the end of the motion.

    Parameters
    ----------
    frame : Frame
    axes : (3, 3)
        Columns are its axes in the world.
    about_z : bool
        Whether it may turn about its own z: of a tool, only the direction then counts.
    """

    frame: Frame
    axes: ArrayLike
    about_z: bool = False

    def __post_init__(self) -> None:
        check_axes("axes of Orient", self.axes)

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of Orient", self.frame, dynamics)

    def end(self, m: Moment) -> list[Bound]:
        R = turned(self.axes, m.motion(self.frame).A)
        if self.about_z:
            across, ahead = R[:2, 2], R[2, 2]
        else:
            across, ahead = ca.inv_skew((R - R.T) / 2), ca.trace(R) - 1
        still = np.zeros(across.numel())
        # The sine of the angle vanishes at half a turn as well; there the cosine is negative.
        return [
            Bound("orientation", across, still, still),
            Bound("orientation, half a turn away", ahead, np.zeros(1), np.full(1, np.inf)),
        ]
