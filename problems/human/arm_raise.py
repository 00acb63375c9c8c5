"""A human arm rises from hanging to a bar above the head in 1.2 s, at least effort and resistance.

The shoulder stays within its circumduction cone at all times; rotation and elbow stiffen before
their ends.
"""

from __future__ import annotations

import numpy as np
from _human_arm import SHOULDER, human_arm

from nsopt.trajectory import (
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    JointResistance,
    Optimization,
    Quintic,
    Reach,
    Smoothness,
    StartAt,
    Within,
)

HANGING = np.radians([0.0, 8.0, 0.0, 15.0])
BAR = np.add(SHOULDER, (-0.05, 0.0, 0.6))  # m, all but out of reach
STILL = np.zeros(4)

dynamics, palm = human_arm()
optimization = Optimization(
    dynamics,
    Horizon(1.2, steps=60),
    [Effort(), JointResistance(), Smoothness(weight=0.01)],
    [
        StartAt(HANGING, STILL),
        EndAt(v=STILL),
        Reach(palm, BAR),
        ActuatorLimits(),
        Within("shoulder.excess", upper=0.0),
    ],
    Quintic(),
)
