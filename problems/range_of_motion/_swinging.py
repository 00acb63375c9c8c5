"""The pendulum of the range-of-motion problems on two hinges, both driven.

Hinges about x and y in place of the ball joint: angles are coordinates of their own, and the turn
about the pendulum itself, which the cone leaves free, is left out.
"""

from __future__ import annotations

import numpy as np
from _rom_pendulum import DOWN, LATITUDES, LENGTH, LONGITUDES

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Cone,
    CubicLaw,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    RangeOfMotion,
    Revolute,
    assemble,
)
from nsopt.robots import resistances

TORQUE = 2.5  # N m of each motor; held level the pendulum weighs 5.9 N m
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def swinging() -> Dynamics:
    """Return the pendulum hanging down at zero angles."""
    cross = Body("cross", 0.0)
    body = Body("pendulum", 4.0, (0.03, 0.03, 0.02), position=(0.0, 0.0, -LENGTH))
    end = (0.0, 0.0, LENGTH)
    joints = [
        Revolute("roll", Frame(GROUND, axes=X), Frame(cross, axes=X)),
        Revolute("pitch", Frame(cross, axes=Y), Frame(body, end, axes=Y)),
    ]
    drives = [Actuator(joint.name, effort=TORQUE, damping=0.05) for joint in joints]
    pointer = np.diag([-1.0, 1.0, -1.0])  # z of the frame is the way down the pendulum
    limit = RangeOfMotion(
        "cone",
        Frame(GROUND, axes=DOWN),
        Frame(body, end, axes=pointer),
        Cone(LONGITUDES, LATITUDES),
        CubicLaw(Parameter("peak", 226.0), Parameter("compliance", np.radians(11.5))),
    )
    mechanism = Mechanism([cross, body], joints, "relative", drives)
    return assemble(mechanism, [*resistances(mechanism), limit], gravity=(0.0, 0.0, -9.81))


def angles(longitude: float, latitude: float) -> tuple[float, float]:
    """Return both angles [rad] at which the pendulum points there."""
    across = np.sin(latitude) * np.array([np.cos(longitude), np.sin(longitude)])
    x, y, z = DOWN @ np.array([*across, np.cos(latitude)])
    pitch = -np.arcsin(x)
    return float(np.arctan2(y, -z)), float(pitch)
