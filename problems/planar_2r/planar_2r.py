"""Two uniform links that swing in a vertical plane: the smallest robot, in joint coordinates."""

from __future__ import annotations

import numpy as np

from nsopt import Mechanism, Problem, Start, StepBounds, assemble
from nsopt.robots import DHRow, serial_from_dh

LENGTHS = (0.5, 0.4)  # m
MASSES = (3.0, 2.0)  # kg
RADIUS = 0.03  # m, of both links
DOWN = (0.0, -9.81, 0.0)  # m/s^2; joints turn about z, x is horizontal


def planar_2r() -> Mechanism:
    """Return the arm in relative coordinates, stretched out along x at zero joint angles.

    Links are homogeneous cylinders along x of their frames, which sit at their far ends.
    """
    return serial_from_dh(
        DHRow(
            a=length,
            mass=mass,
            com=(-length / 2, 0.0, 0.0),
            inertia=(mass * RADIUS**2 / 2, *[mass * (length**2 / 12 + RADIUS**2 / 4)] * 2),
        )
        for length, mass in zip(LENGTHS, MASSES, strict=True)
    )


dynamics = assemble(planar_2r(), gravity=DOWN)
problem = Problem(
    dynamics,
    duration=2.0,
    steps=StepBounds(1e-3, 2e-3),
    start=Start(np.array([-0.3, 0.8]), np.zeros(2)),
)
