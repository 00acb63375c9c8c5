"""CHARMIE's left arm from straight out to a grasp in front of its chest, with least resistance.

The torso stays in its reference position. Where the joints end is left open: the claw must be at a
point and point forward and down; inverse kinematics finds a posture to start the search from.
"""

import numpy as np
from _arm import left_arm

from nsopt import GROUND, Frame
from nsopt.trajectory import (
    ActuatorLimits,
    Capsule,
    ClearOf,
    EndAt,
    Horizon,
    JointResistance,
    Optimization,
    Orient,
    Quintic,
    Reach,
    Smoothness,
    StartAt,
    find_posture,
)

dynamics, claw = left_arm()
HALF = np.sqrt(0.5)
TARGET = (-0.05, 0.40, 0.95)  # m; the shoulder is at (-0.18, -0.03, 1.09)
FORWARD = np.array([[1.0, 0.0, 0.0], [0.0, HALF, HALF], [0.0, -HALF, HALF]])
TORSO = Capsule(Frame(GROUND, (0.0, -0.03, 0.70)), Frame(GROUND, (0.0, -0.03, 1.20)), 0.20)
still = np.zeros(6)
task = [
    Reach(claw, TARGET),
    Orient(claw, FORWARD, about_z=True),
    ActuatorLimits(),
    ClearOf(claw, TORSO),
]
optimization = Optimization(
    dynamics,
    Horizon(1.5, steps=60),
    [JointResistance(), Smoothness(weight=5e-3)],
    [StartAt(still, still), EndAt(v=still), *task],
    Quintic(still, find_posture(dynamics, task, still)),
)
