"""A finger pushes a block 0.3 m along the ground in 1 s, from rest to rest, at least effort.

Nothing but dry friction holds the block, and the finger must go to it first.
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
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.trajectory import (
    FREE,
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    Optimization,
    Quintic,
    StartAt,
)

BEHIND = 0.1  # m, the finger from the block at the start
DISTANCE, DURATION = 0.3, 1.0  # m, s
FRICTION = Parameter("friction", 0.3)


def pushed() -> Dynamics:
    """Return a block of 1 kg on the ground, and a finger of 0.5 kg on a rail along x; z is up."""
    block = Body("block", 1.0, point_mass=True)
    finger = Body("finger", 0.5, (1e-3, 1e-3, 1e-3), position=(-BEHIND, 0.0, 0.0))
    along = (1.0, 0.0, 0.0)
    rail = Prismatic("rail", Frame.at(None, (-BEHIND, 0, 0), along), Frame(finger, axes=along))
    law = ContactLaw(friction=FRICTION)
    ground = PlaneContact("ground", Frame(GROUND), Frame(block), law=law, planar=True)
    face = Frame(block, axes=(-1.0, 0.0, 0.0))
    tip = PlaneContact("tip", face, Frame(finger))
    drives = [Actuator("rail", effort=50.0)]
    mechanism = Mechanism([block, finger], [rail], "relative", drives)
    return assemble(mechanism, [ground, tip], (0.0, 0.0, -9.81))


optimization = Optimization(
    pushed(),
    Horizon(DURATION, steps=100),
    [Effort()],
    [
        StartAt(np.zeros(4), np.zeros(4)),
        EndAt((DISTANCE, 0.0, 0.0, FREE), (0.0, 0.0, 0.0, FREE)),
        ActuatorLimits(),
    ],
    Quintic(),
)
