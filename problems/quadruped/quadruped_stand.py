"""A quadruped stands still for 0.2 s on four feet with friction in space, at least effort."""

import numpy as np
from _solo12 import posture, solo12

from nsopt.trajectory import (
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    Optimization,
    Quintic,
    Smoothness,
    StartAt,
)

robot = solo12()
STANDING, REST = posture(0.8), np.zeros(18)

optimization = Optimization(
    robot.dynamics,
    Horizon(0.2, steps=10),
    [Effort(), Smoothness()],
    [StartAt(STANDING, REST), EndAt(STANDING, REST), ActuatorLimits()],
    Quintic(),
)
