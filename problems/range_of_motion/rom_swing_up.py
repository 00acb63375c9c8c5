"""A pendulum that weak motors swing up to above level, where its cone is widest, without pressing.

Each motor has less than half of what would hold it level: it must swing. Resistance of the cone
and effort are least together, their weights such that pressing is rarely worth it.
"""

import numpy as np
from _swinging import angles, swinging

from nsopt.trajectory import (
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    JointResistance,
    Optimization,
    StartAt,
    Straight,
)

still = np.zeros(2)
up = np.array(angles(np.radians(135.0), np.radians(95.0)))
optimization = Optimization(
    swinging(),
    Horizon(2.5, steps=100),
    [Effort(), JointResistance()],
    [StartAt(still, still), EndAt(up, still), ActuatorLimits()],
    Straight(still, up),
)
