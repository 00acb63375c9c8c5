"""A quadruped jumps 0.1 m forwards in 0.5 s, all feet 2 cm up, rest to rest, at least effort."""

import numpy as np
from _solo12 import posture, solo12

from nsopt import GROUND, Frame, Solver
from nsopt.mpcc import Ipopt, Ldlt
from nsopt.trajectory import (
    ActuatorLimits,
    ClearOf,
    During,
    Effort,
    EndAt,
    HalfSpace,
    Horizon,
    Optimization,
    Quintic,
    Smoothness,
    StartAt,
)

robot = solo12()
STANDING, LANDED, REST = posture(0.8), posture(0.8, x=0.1), np.zeros(18)
FLOOR = HalfSpace(Frame(GROUND))

optimization = Optimization(
    robot.dynamics,
    Horizon(0.5, steps=20),
    [Effort(), Smoothness(weight=1e-2)],
    [
        StartAt(STANDING, REST),
        EndAt(LANDED, REST),
        ActuatorLimits(),
        *(During(ClearOf(foot, FLOOR, by=0.02), 0.5, 0.6) for foot in robot.feet.values()),
    ],
    Quintic(),
    # Not to 1e-8 as by default: which forces hold feet that land hangs on round-off there.
    solver=Solver(
        Ipopt(linear_solver=Ldlt()), schedules=[(10.0, 1e-1, 1e-3, 1e-5, 1e-6, 3e-7, 1e-7)]
    ),
)
