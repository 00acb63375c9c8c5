"""Two fingers take a box from the floor and lift it by friction, from rest to rest, in a plane.

They are open at the start; nothing says when they touch the box, or when it leaves the floor. Their
friction stays 20 % below its limit.
"""

from __future__ import annotations

import numpy as np

from nsopt import (
    GROUND,
    Actuator,
    Body,
    BoxContact,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    Planar,
    PlaneContact,
    Prismatic,
    assemble,
    box_outline,
)
from nsopt.trajectory import (
    FREE,
    ContactForce,
    Effort,
    EndAt,
    FrictionMargin,
    Horizon,
    Optimization,
    Quintic,
    StartAt,
)

WIDTH, DEPTH, HEIGHT = 0.08, 0.06, 0.12  # m, of the box
BOX, HAND, FINGER = 0.5, 0.5, 0.1  # kg
TIP, OPEN = 0.01, 0.02  # m, radius of a fingertip, and how far it is from the box at the start
FRICTION, MARGIN = 0.5, 0.2
SQUEEZE = 0.1  # what 1 N^2 s of the forces on the box costs, over that of drives
LIFT, DURATION = 0.15, 1.0  # m, s
SIDES = {"left": 1.0, "right": -1.0}  # of each finger, along x, where it closes to
UPRIGHT = ((1, 0, 0), (0, 0, -1), (0, 1, 0))  # axes whose x and y are x and z of the world


def gripper() -> Dynamics:
    """Return a box on the floor, and a hand with two fingers that moves up and down; z is up."""
    middle, reach = HEIGHT / 2, WIDTH / 2 + TIP + OPEN
    inertia = BOX * np.array([DEPTH**2 + HEIGHT**2, WIDTH**2 + HEIGHT**2, WIDTH**2 + DEPTH**2]) / 12
    outline = box_outline(WIDTH, DEPTH, HEIGHT)
    box = Body("box", BOX, inertia, (0, 0, middle), outline=outline)
    hand = Body("hand", HAND, np.full(3, 1e-3), (0, 0, HEIGHT))
    place = Frame(GROUND, (0, 0, middle), UPRIGHT)
    lift = Prismatic("lift", Frame(GROUND, (0, 0, HEIGHT)), Frame(hand))
    bodies, joints = [box, hand], [lift, Planar("free", place, Frame(box, axes=UPRIGHT))]
    contacts = list[BoxContact | PlaneContact]()
    law, size = ContactLaw(friction=FRICTION), (WIDTH, DEPTH, HEIGHT)
    for side, way in SIDES.items():
        at, along = (-way * reach, 0, middle), (way, 0, 0)
        finger = Body(side, FINGER, np.full(3, 1e-4), at)
        bodies.append(finger)
        joints.append(
            Prismatic(f"{side} slide", Frame.at(hand, at, along), Frame(finger, axes=along))
        )
        tip = Frame(finger)
        contacts.append(BoxContact(f"{side} tip", Frame(box), tip, size, TIP, law=law, planar=True))
        edge = Frame(box, (-way * WIDTH / 2, 0, -middle))
        contacts.append(PlaneContact(f"{side} edge", Frame(GROUND), edge))
    drives = [Actuator("lift"), *(Actuator(f"{side} slide") for side in SIDES)]
    mechanism = Mechanism(bodies, joints, "relative", drives)
    return assemble(mechanism, contacts, (0.0, 0.0, -9.81))


optimization = Optimization(
    gripper(),
    Horizon(DURATION, steps=24),
    [Effort(), ContactForce(contacts=[f"{side} tip" for side in SIDES], weight=SQUEEZE)],
    [
        StartAt(np.zeros(6), np.zeros(6)),
        EndAt((FREE, 0.0, LIFT, 0.0, FREE, FREE), np.zeros(6)),
        FrictionMargin(MARGIN),
    ],
    Quintic(end=(LIFT, 0.0, LIFT, 0.0, OPEN, OPEN)),
)
