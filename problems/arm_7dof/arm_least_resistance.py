"""The 7-DOF arm from pose to pose in 2 s, with the least resistance of its joints.

Resistance is what the joints themselves put against the motion: the brakes of their motors and the
pads before the ends of their ranges [RoM 2023, eq. 2].
"""

from __future__ import annotations

import numpy as np
from arm_7dof import BENT, arm_7dof

from nsopt import CubicLaw, assemble
from nsopt.robots import resistances
from nsopt.trajectory import (
    ActuatorLimits,
    EndAt,
    Horizon,
    JointResistance,
    Optimization,
    Quintic,
    Smoothness,
    StartAt,
)

HAND_OVER = (-1.1, 1.2, 0.5, -0.7, 0.9, -0.3, 0.6)
"""Where the motion ends [rad]."""

robot = arm_7dof()
pads = CubicLaw(peak=40.0, compliance=np.radians(10.0))
stops = {f"joint{k}": pads for k in (2, 4, 6)}  # the others turn nearly all the way round
dynamics = assemble(robot, resistances(robot, stop=stops), gravity=(0.0, 0.0, -9.81))
still = np.zeros(7)
optimization = Optimization(
    dynamics,
    Horizon(2.0, steps=100),
    [JointResistance(), Smoothness(weight=0.02)],  # else accelerations are as steep as steps are
    [StartAt(BENT, still), EndAt(HAND_OVER, still), ActuatorLimits()],
    Quintic(BENT, HAND_OVER),
)
