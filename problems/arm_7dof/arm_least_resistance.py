"""The 7-DOF arm from side to side behind its base in 2.5 s, with least resistance of its joints.

Resistance is what the joints themselves put against the motion: the brakes of their motors, the
pads before the ends of their ranges, the cones of shoulder and wrist [RoM 2023, eq. 2]. The quintic
goes straight through where the shoulder's cone presses; the optimum lifts the upper arm over it.
"""

from __future__ import annotations

import numpy as np
from _cones import limits
from arm_7dof import arm_7dof

from nsopt import assemble
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

LEFT = (-1.2, -1.1, -0.2, -0.9, 0.1, 0.6, 0.0)
RIGHT = (1.2, -1.1, 0.3, -0.6, 0.7, 0.9, 0.6)
"""Where the motion starts and ends [rad]."""

robot = arm_7dof()
dynamics = assemble(robot, limits(robot), gravity=(0.0, 0.0, -9.81))
still = np.zeros(7)
optimization = Optimization(
    dynamics,
    Horizon(2.5, steps=100),
    [JointResistance(), Smoothness(weight=0.02)],  # else accelerations are as steep as steps are
    [StartAt(LEFT, still), EndAt(RIGHT, still), ActuatorLimits()],
    Quintic(LEFT, RIGHT),
)
