"""A planar biped takes a step: 0.3 m forwards in 0.8 s, from rest to rest, at least effort.

Point feet with contact and dry friction; the hind foot swings to the front, 2 cm up in the middle.
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
    Revolute,
    Solver,
    assemble,
)
from nsopt.trajectory import (
    FROM_AFAR_SLOWLY,
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

LINK = 0.4  # m, thigh and shank
HIPS, STEP = 0.75, 0.3  # m: height of the hips; from foot to foot
FRICTION = Parameter("friction", 0.7)
FLOOR = Frame(GROUND, axes=np.column_stack([(1, 0, 0), (0, 0, -1), (0, 1, 0)]))


def biped() -> tuple[Dynamics, dict[str, Frame]]:
    """Return a torso on two legs with knees, and their feet; z out of the plane."""
    hip, knee, ankle = ((0.0, 2 * LINK - k * LINK, 0.0) for k in range(3))
    torso = Body("torso", 10.0, (0.3, 0.05, 0.3), position=(0.0, 2 * LINK + 0.2, 0.0))
    bodies, feet = [torso], dict[str, Frame]()
    joints: list[Planar | Revolute] = [Planar("base", Frame(GROUND, hip), Frame.at(torso, hip))]
    drives, contacts = list[Actuator](), list[PlaneContact]()
    law = ContactLaw(friction=FRICTION)
    for leg in ("left", "right"):
        thigh = Body(f"{leg} thigh", 2.0, (0.03, 0.003, 0.03), position=(0.0, 1.5 * LINK, 0.0))
        shank = Body(f"{leg} shank", 1.0, (0.014, 0.001, 0.014), position=(0.0, 0.5 * LINK, 0.0))
        bodies += [thigh, shank]
        joints += [
            Revolute(f"{leg}_hip", Frame.at(torso, hip), Frame.at(thigh, hip)),
            Revolute(f"{leg}_knee", Frame.at(thigh, knee), Frame.at(shank, knee)),
        ]
        drives += [
            Actuator(f"{leg}_hip", -1.5, 1.5, effort=100.0),
            Actuator(f"{leg}_knee", -2.0, 0.0, effort=100.0),
        ]
        feet[leg] = Frame.at(shank, ankle)
        contacts.append(PlaneContact(leg, FLOOR, feet[leg], law=law, planar=True))
    mechanism = Mechanism(bodies, joints, "relative", drives)
    return assemble(mechanism, contacts, (0.0, -9.81, 0.0)), feet


def legs(ahead: float) -> tuple[float, float]:
    """Return angles of hip and knee, the foot on the ground and so far ahead of the hips [m]."""
    bend = np.arccos(np.hypot(HIPS, ahead) / (2 * LINK))
    return float(np.arctan2(ahead, HIPS) + bend), float(-2 * bend)


BASE = (HIPS - 2 * LINK, 0.0)
BEGIN = (0.0, *BASE, *legs(-STEP / 2), *legs(STEP / 2))
END = (STEP, *BASE, *legs(STEP / 2), *legs(-STEP / 2))
REST = np.zeros(7)

dynamics, feet = biped()
optimization = Optimization(
    dynamics,
    Horizon(0.8, steps=40),
    [Effort(scale=20.0), Smoothness(weight=3e-3)],
    [
        StartAt(BEGIN, REST),
        EndAt(END, REST),
        During(ClearOf(feet["left"], HalfSpace(FLOOR), by=0.02), 0.45, 0.55),
        ActuatorLimits(),
    ],
    Quintic(),
    solver=Solver(schedules=[FROM_AFAR_SLOWLY]),
)
