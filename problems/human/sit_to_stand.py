"""A man rises from a seat in 2 s, from rest to rest, at least effort and resistance of his joints.

Feet and seat bear by contact alone: when the seat is left follows from the solve.
"""

from __future__ import annotations

import numpy as np
from _sitter import SITTING, STANDING, sitter

from nsopt import Solver
from nsopt.trajectory import (
    FROM_AFAR,
    STRAIGHT,
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    JointResistance,
    Optimization,
    Quintic,
    Smoothness,
    StartAt,
    Touching,
)

FEET, REST = np.zeros(3), np.zeros(6)

optimization = Optimization(
    sitter(),
    Horizon(2.0, steps=50),
    [Effort(scale=100.0), JointResistance(torque=100.0), Smoothness(weight=0.03)],
    [
        StartAt((*FEET, *SITTING), REST),
        EndAt((*FEET, *STANDING), REST),
        Touching("heel"),
        Touching("ball"),
        ActuatorLimits(),
    ],
    Quintic(),
    solver=Solver(schedules=[STRAIGHT, FROM_AFAR]),  # all that will bear bears at the start
)
