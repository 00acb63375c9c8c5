"""A collaborative arm of seven joints that sinks from a bent posture, its motors short-circuited.

A design of our own with numbers that such arms have: 15 kg, 0.9 m from shoulder to flange.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nsopt import Mechanism, Problem, Start, StepBounds, TorsionSpringDamper, assemble
from nsopt.mechanics import Actuator
from nsopt.robots import DHRow, serial_from_dh


class Part(NamedTuple):
    """A link; its mass is spread over a cylinder about its line from joint to joint.

    ``along`` is that line's axis in link axes, ``centre`` the way from the link's origin
    to the centre of mass along it.
    """

    d: float  # m
    alpha: float  # deg
    mass: float  # kg
    along: str  # "y" or "z"
    centre: float  # m
    radius: float  # m
    length: float  # m


class Drive(NamedTuple):
    """Limits of a joint."""

    limit: float  # deg, either way
    velocity: float  # rad/s
    effort: float  # N m
    rotor: float  # kg m^2
    ratio: float
    damping: float  # N m s/rad, at the joint, of the short-circuited motor


# Shoulder of three joints with axes through one point, elbow, wrist of three.
PARTS = [
    Part(0.333, -90.0, 3.2, "y", 0.06, 0.065, 0.26),
    Part(0.0, 90.0, 3.0, "z", 0.08, 0.060, 0.25),
    Part(0.40, 90.0, 2.6, "y", -0.06, 0.055, 0.22),
    Part(0.0, -90.0, 2.4, "z", 0.08, 0.055, 0.22),
    Part(0.39, -90.0, 1.8, "y", 0.08, 0.050, 0.24),
    Part(0.0, 90.0, 1.3, "z", 0.02, 0.045, 0.12),
    Part(0.11, 0.0, 0.7, "z", -0.03, 0.040, 0.06),
]
DRIVES = [
    Drive(170.0, 2.2, 90.0, 2.4e-5, 100.0, 40.0),
    Drive(120.0, 2.2, 90.0, 2.4e-5, 100.0, 40.0),
    Drive(170.0, 2.2, 90.0, 2.4e-5, 100.0, 30.0),
    Drive(120.0, 2.2, 90.0, 2.4e-5, 100.0, 30.0),
    Drive(170.0, 2.6, 15.0, 6e-6, 100.0, 8.0),
    Drive(120.0, 2.6, 15.0, 6e-6, 100.0, 8.0),
    Drive(175.0, 2.6, 15.0, 6e-6, 100.0, 8.0),
]
BENT = (0.3, 0.6, -0.2, -1.4, 0.1, 0.9, 0.0)
"""A posture with the elbow bent [rad]."""


def arm_7dof() -> Mechanism:
    """Return the arm in relative coordinates, stretched upward at zero joint angles."""
    arm = serial_from_dh([_row(part) for part in PARTS])
    actuators = [
        Actuator(
            f"joint{i}",
            lower=-np.radians(drive.limit),
            upper=np.radians(drive.limit),
            velocity=drive.velocity,
            effort=drive.effort,
            damping=drive.damping,
            rotor_inertia=drive.rotor,
            gear_ratio=drive.ratio,
        )
        for i, drive in enumerate(DRIVES, 1)
    ]
    return Mechanism(arm.bodies, arm.joints, coordinates="relative", actuators=actuators)


def _row(part: Part) -> DHRow:
    k = "xyz".index(part.along)
    com, inertia = np.zeros(3), np.full(3, part.length**2 / 12 + part.radius**2 / 4)
    com[k], inertia[k] = part.centre, part.radius**2 / 2
    return DHRow(
        d=part.d,
        alpha=np.radians(part.alpha),
        mass=part.mass,
        com=tuple(com),
        inertia=tuple(part.mass * inertia),
    )


arm = arm_7dof()
brakes = [
    TorsionSpringDamper(f"brake{i}", joint.frames[0], joint.frames[1], 0.0, damping=drive.damping)
    for i, (joint, drive) in enumerate(zip(arm.joints, arm.actuators, strict=True), 1)
]
dynamics = assemble(arm, brakes, gravity=(0.0, 0.0, -9.81))
problem = Problem(
    dynamics,
    duration=1.0,
    steps=StepBounds(1e-3, 2e-3),
    start=Start(np.array(BENT), np.zeros(7)),
)
