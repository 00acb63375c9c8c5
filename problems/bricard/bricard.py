"""Bricard's linkage, benchmark A04 of the IFToMM library: six hinges in a loop that still moves.

Five rods and the ground are six edges of a cube; each hinge is perpendicular to both of its rods.
By counting freedoms it would be rigid: one of the rows of its joints is redundant everywhere.
"""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Dynamics,
    Frame,
    Mechanism,
    Problem,
    Revolute,
    StepBounds,
    assemble,
)

LENGTH, MASS, SIDE = 1.0, 1.0, 0.1  # m, kg, m: rods of square cross-section
GRAVITY = (0.0, -9.81, 0.0)
CORNERS = LENGTH * np.array(
    [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float
)
"""The hinges at the start; the ground leads from the last to the first."""


def mechanism(coordinates: str = "absolute") -> Mechanism:
    """Return the linkage."""
    along = np.roll(CORNERS, -1, axis=0) - CORNERS
    around = np.diag(
        [MASS * SIDE**2 / 6, *[MASS * (LENGTH**2 + SIDE**2) / 12] * 2]
    )  # kg m^2, about the axes of a rod
    rods, frames = [], []
    for k in range(6):
        x, z = along[k] / LENGTH, np.cross(along[k - 1], along[k]) / LENGTH**2
        frames.append(np.column_stack([x, np.cross(z, x), z]))
    for k in range(5):
        inertia = frames[k] @ around @ frames[k].T
        middle = (CORNERS[k] + CORNERS[k + 1]) / 2
        rods.append(Body(f"rod {k + 1}", MASS, np.diag(inertia), position=middle))
    bodies = [GROUND, *rods, GROUND]
    joints = [
        Revolute(
            f"hinge {k + 1}",
            Frame.at(bodies[k], CORNERS[k], frames[k]),
            Frame.at(bodies[k + 1], CORNERS[k], frames[k]),
        )
        for k in range(6)
    ]
    return Mechanism(rods, joints, coordinates=coordinates)


def model(coordinates: str = "absolute") -> Dynamics:
    """Return the assembled linkage, which falls from rest."""
    return assemble(mechanism(coordinates), gravity=GRAVITY)


problem = Problem(model(), duration=10.0, steps=StepBounds(5e-4, 2e-3))
