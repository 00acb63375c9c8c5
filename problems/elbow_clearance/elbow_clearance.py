"""A robot arm with a worn elbow, moved by computed torque.

An arm of two links in a vertical plane lifts a load along a smooth path. Its shoulder is ideal, its
elbow has a radial clearance of 0.1 mm that the controller does not know of. All numbers are chosen
here, of the size of a service robot's arm.
"""

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt import (
    GROUND,
    Body,
    Frame,
    JointDrives,
    Mechanism,
    Parameter,
    Problem,
    Revolute,
    RevoluteClearance,
    StepBounds,
    Tracker,
    Turn,
    assemble,
)
from nsopt.robots import inverse_dynamics

GRAVITY = (0.0, 0.0, -9.81)
UPPER, FORE = 0.40, 0.35  # m, from shoulder to elbow, from elbow to tip
FROM, TO = np.radians([-70.0, 40.0]), np.radians([-10.0, 95.0])  # of shoulder and elbow
PEAK = np.array([60.0, 40.0])  # N m, what the motors of shoulder and elbow can do
CLEARANCE = Parameter("clearance", 1e-4)  # m, radial
AXES = np.column_stack([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])  # turns lift: z against world y


def turned(angle: float) -> NDArray[np.float64]:
    """Return the rotation that lifts x by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])


def arm(angles: NDArray[np.float64], drop: float) -> tuple[Body, Body]:
    """Return upper arm and forearm, the forearm hung lower at the elbow by ``drop`` [m]."""
    first, second = turned(angles[0]), turned(angles[0] + angles[1])
    elbow = first @ (UPPER, 0, 0)
    # A tube of 2.5 kg with the elbow's motor; a tube of 1 kg with a load of 1 kg at its tip, that
    # holds the load 10 mm beside the middle of the elbow.
    upper = Body("upper arm", 2.5, (3e-3, 4e-2, 4e-2), first @ (0.22, 0, 0), first)
    hung = elbow + second @ (0.26, 0.005, 0) - np.array([0, 0, drop])
    fore = Body("forearm", 2.0, (2e-3, 2.6e-2, 2.6e-2), hung, second)
    return upper, fore


def joints(upper: Body, fore: Body) -> tuple[tuple[Frame, Frame], tuple[Frame, Frame]]:
    """Return the frames of shoulder and elbow."""
    shoulder = Frame(GROUND, axes=AXES), Frame(upper, (-0.22, 0, 0), AXES)
    elbow = Frame(upper, (UPPER - 0.22, 0, 0), AXES), Frame(fore, (-0.26, -0.005, 0), AXES)
    return shoulder, elbow


def nominal() -> Mechanism:
    """Return the arm as the controller knows it, with an ideal elbow."""
    links = arm(FROM, 0.0)
    shoulder, elbow = joints(*links)
    hinges = [Revolute("shoulder", *shoulder), Revolute("elbow", *elbow)]
    return Mechanism(links, hinges, coordinates="relative")


def path(t: Any, move_time: Any) -> tuple[Any, Any, Any]:
    """Return angles, rates and accelerations (2,) of a quintic from rest to rest."""
    x = ca.fmin(t / move_time, 1)
    span = TO - FROM
    s = x**3 * (10 - 15 * x + 6 * x**2)
    rate = 30 * x**2 * (1 - x) ** 2 / move_time
    acceleration = 60 * x * (1 - x) * (1 - 2 * x) / move_time**2
    return FROM + span * s, span * rate, span * acceleration


torques = inverse_dynamics(nominal(), GRAVITY)


def computed_torque(t: ca.SX, q: ca.SX, v: ca.SX, gains: ca.SX) -> ca.SX:
    """Return the torques (2,) that bring the ideal arm back to its path, as motors can."""
    move_time, stiffness, damping = gains[0], gains[1], gains[2]
    angles, rates, accelerations = path(t, move_time)
    wanted = accelerations + stiffness * (angles - q) + damping * (rates - v)
    return ca.fmin(ca.fmax(torques(q, v, wanted), -PEAK), PEAK)


upper, fore = arm(FROM, drop=CLEARANCE.value)  # at rest, hung on its pin
shoulder, elbow = joints(upper, fore)
elements = [
    RevoluteClearance(
        "elbow",
        elbow[0],
        elbow[1],
        length=0.06,
        clearance=CLEARANCE,
        axial_clearance=1e-4,
        radius=0.01,
    ),
    JointDrives(
        "motors",
        [Turn(*shoulder), Turn(*elbow)],
        computed_torque,
        [Parameter("move_time", 1.0), Parameter("stiffness", 400.0), Parameter("damping", 40.0)],
    ),
    Tracker("tip", Frame(fore, (FORE - 0.26, -0.005, 0))),
]
mechanism = Mechanism([upper, fore], [Revolute("shoulder", *shoulder)], coordinates="relative")
dynamics = assemble(mechanism, elements, GRAVITY)
problem = Problem(dynamics, duration=1.25, steps=StepBounds(1e-5, 5e-4))
