"""A Puma 560 that falls from its nominal posture, braked by the viscous friction of its motors.

Kinematics, masses, inertias, rotors, gears and friction are the published table of Corke and
Armstrong-Helouvry (1994) in standard Denavit-Hartenberg parameters, limits those of Wang and Chen
(1991), both as the Robotics Toolbox has them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nsopt import Mechanism, Problem, Start, StepBounds, TorsionSpringDamper, assemble
from nsopt.mechanics import Actuator
from nsopt.robots import DHRow, serial_from_dh


class Geometry(NamedTuple):
    """A row of the table of Denavit and Hartenberg."""

    d: float  # m
    a: float  # m
    alpha: float  # deg


class Solid(NamedTuple):
    """A link, in the axes of its frame."""

    mass: float  # kg
    com: tuple[float, float, float]  # m
    inertia: tuple[float, float, float]  # kg m^2, about the centre of mass


class Motor(NamedTuple):
    """A motor, its numbers as measured at itself, and the range of its joint."""

    inertia: float  # kg m^2
    ratio: float  # negative where motor and joint turn opposite ways
    viscous: float  # N m s/rad
    coulomb: tuple[float, float]  # N m, as the joint turns forward and backward
    limits: tuple[float, float]  # deg


GEOMETRY = [
    Geometry(0.672, 0.0, 90.0),
    Geometry(0.0, 0.4318, 0.0),
    Geometry(0.15005, 0.0203, -90.0),
    Geometry(0.4318, 0.0, 90.0),
    Geometry(0.0, 0.0, -90.0),
    Geometry(0.0, 0.0, 0.0),
]
SOLIDS = [
    Solid(0.0, (0, 0, 0), (0, 0.35, 0)),  # no more than this can be told from experiments
    Solid(17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    Solid(4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125)),
    Solid(0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)),
    Solid(0.34, (0, 0, 0), (3e-4, 4e-4, 3e-4)),
    Solid(0.09, (0, 0, 0.032), (1.5e-4, 1.5e-4, 4e-5)),
]
MOTORS = [
    Motor(2e-4, -62.6111, 1.48e-3, (0.395, -0.435), (-160, 160)),
    Motor(2e-4, 107.815, 8.17e-4, (0.126, -0.071), (-45, 225)),
    Motor(2e-4, -53.7063, 1.38e-3, (0.132, -0.105), (-225, 45)),
    Motor(3.3e-5, 76.0364, 7.12e-5, (11.2e-3, -16.9e-3), (-110, 170)),
    Motor(3.3e-5, 71.923, 8.26e-5, (9.26e-3, -14.5e-3), (-100, 100)),
    Motor(3.3e-5, 76.686, 3.67e-5, (3.96e-3, -10.5e-3), (-266, 266)),
]
NOMINAL = (0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0)
"""The Toolbox's qn [rad]: the hand above a table. The elbow is beyond its range."""


def puma560(rotors: bool = True) -> Mechanism:
    """Return the arm on the ground, in relative coordinates, at zero joint angles.

    Parameters
    ----------
    rotors : bool
        Whether the inertia of the motors counts.
    """
    rows = [
        DHRow(
            a=row.a,
            alpha=np.radians(row.alpha),
            d=row.d,
            mass=solid.mass,
            com=solid.com,
            inertia=solid.inertia,
            physical=False,  # links 1 and 3 are no body's; they are taken as published
        )
        for row, solid in zip(GEOMETRY, SOLIDS, strict=True)
    ]
    actuators = [_actuator(f"joint{i}", motor, rotors) for i, motor in enumerate(MOTORS, 1)]
    return replace(serial_from_dh(rows), actuators=actuators)


def _actuator(joint: str, motor: Motor, rotors: bool) -> Actuator:
    """Return the data of a joint; its dry friction is the mean of both ways."""
    lower, upper = np.radians(motor.limits)
    forward, backward = motor.coulomb
    return Actuator(
        joint,
        lower=lower,
        upper=upper,
        damping=motor.viscous * motor.ratio**2,
        friction=(forward - backward) / 2 * abs(motor.ratio),
        rotor_inertia=motor.inertia * rotors,
        gear_ratio=motor.ratio,
    )


arm = puma560()
brakes = [
    TorsionSpringDamper(f"brake{i}", joint.frames[0], joint.frames[1], 0.0, damping=drive.damping)
    for i, (joint, drive) in enumerate(zip(arm.joints, arm.actuators, strict=True), 1)
]
dynamics = assemble(arm, brakes, gravity=(0.0, 0.0, -9.81))
problem = Problem(
    dynamics,
    duration=1.0,
    steps=StepBounds(1e-3, 2e-3),
    start=Start(np.array(NOMINAL), np.zeros(6)),
)
