"""A hopper on one leg: 0.4 m forwards in 0.8 s, from rest to rest, at least effort.

The ground holds it by contact and dry friction alone. In the middle the foot passes what is 5 cm
high.
"""

from __future__ import annotations

import numpy as np

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlaneContact,
    Prismatic,
    Revolute,
    assemble,
)
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

HEIGHT = 0.5  # m, of the hip, the leg as long as it is at zero
DISTANCE = 0.4  # m
HURDLE = 0.05  # m
FRICTION = Parameter("friction", 0.7)
DOWN, UP = (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)


FLOOR = Frame(GROUND, axes=np.column_stack([(1, 0, 0), (0, 0, -1), UP]))


def hopper() -> tuple[Dynamics, Frame]:
    """Return a body whose leg turns about its centre and slides out and in, and its foot."""
    hip = (0.0, HEIGHT, 0.0)
    body = Body("body", 6.0, (0.05, 0.08, 0.08), position=hip)
    upper = Body("upper leg", 1.0, (0.004, 0.001, 0.004), position=(0.0, HEIGHT - 0.1, 0.0))
    lower = Body("lower leg", 0.5, (0.002, 0.0005, 0.002), position=(0.0, HEIGHT - 0.3, 0.0))
    joints = [
        Planar("base", Frame(GROUND), Frame(body)),
        Revolute("hip", Frame.at(body, hip), Frame.at(upper, hip)),
        Prismatic("leg", Frame.at(upper, hip, DOWN), Frame.at(lower, hip, DOWN)),
    ]
    drives = [
        Actuator("hip", -1.2, 1.2, effort=80.0),
        Actuator("leg", -0.2, 0.1, effort=400.0),
    ]
    foot = Frame.at(lower, (0.0, 0.0, 0.0))
    law = ContactLaw(friction=FRICTION)
    ground = PlaneContact("foot", FLOOR, foot, law=law, planar=True, scale=0.1)
    mechanism = Mechanism([body, upper, lower], joints, "relative", drives)
    return assemble(mechanism, [ground], (0.0, -9.81, 0.0)), foot


STANDING = (0.0, HEIGHT, 0.0, 0.0, 0.0)
LANDED = (DISTANCE, *STANDING[1:])
REST = np.zeros(5)

dynamics, foot = hopper()
optimization = Optimization(
    dynamics,
    Horizon(0.8, steps=40),
    [Effort(scale=50.0), Smoothness(weight=1e-3)],
    [
        StartAt(STANDING, REST),
        EndAt(LANDED, REST),
        During(ClearOf(foot, HalfSpace(FLOOR), by=HURDLE), 0.4, 0.6),
        ActuatorLimits(),
    ],
    Quintic(),
)
