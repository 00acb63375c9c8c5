"""A slider-crank with a worn piston pin, driven through a turn with least peaks of contact force.

The crank makes one turn in half a second and ends as it began, so that turns can follow one
another. Its drive may hurry and linger on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from slider_crank import ALONG_X, CRANK, GRAVITY, ROD, members

from nsopt import (
    GROUND,
    Actuator,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    PlanarRevoluteClearance,
    Prismatic,
    Revolute,
    Solver,
    Variational,
    assemble,
)
from nsopt.trajectory import (
    FREE,
    GRADUAL,
    ContactForce,
    Effort,
    Guess,
    Horizon,
    Optimization,
    Periodic,
    StartAt,
    Trajectory,
)

TURN = 2 * np.pi
PERIOD = 0.5  # s
CLEARANCE = Parameter("clearance", 1e-3)  # m, radial, of the piston pin
FORCE, TORQUE = 2.0, 0.15  # N and N m, about what pin and drive bear at constant speed
POWER = 8
"""Of the contact force: the higher, the more its peaks count."""


def model() -> Dynamics:
    """Return the mechanism: its loop is closed by the pin alone."""
    crank, rod, slider = members()
    knee, piston = (CRANK, 0.0, 0.0), (CRANK + ROD, 0.0, 0.0)
    joints = [
        Revolute("main bearing", Frame(GROUND), Frame.at(crank, (0.0, 0.0, 0.0))),
        Revolute("crank pin", Frame.at(crank, knee), Frame.at(rod, knee)),
        Prismatic("guide", Frame(GROUND, axes=ALONG_X), Frame.at(slider, piston, ALONG_X)),
    ]
    pin = PlanarRevoluteClearance(
        "piston pin", Frame.at(slider, piston), Frame.at(rod, piston), clearance=CLEARANCE
    )
    drives = [Actuator("main bearing")]
    return assemble(Mechanism([crank, rod, slider], joints, "relative", drives), [pin], GRAVITY)


class EvenTurn(Guess):
    """A turn at constant speed, the slider off by its distance from the main bearing at the start.

    From there the optimum costs less than half of that (0.386) from the pin in its bore.
    """

    def trajectory(
        self, share: NDArray[np.float64], bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        T, ratio = bounds[0], CRANK / ROD
        angle, speed = TURN * share, TURN / T
        tilt = -np.arcsin(ratio * np.sin(angle))  # of the rod from the line of the slider
        rate = -ratio * np.cos(angle) * speed / np.cos(tilt)
        x = CRANK * (np.cos(angle) - 1) + ROD * (np.cos(tilt) - 1)
        v = -CRANK * np.sin(angle) * speed - ROD * np.sin(tilt) * rate
        q = np.column_stack([angle, tilt - angle, x])
        v = np.column_stack([0 * angle + speed, rate - speed, v])
        return Trajectory(q, v, np.zeros_like(v), np.zeros((len(share), len(inputs))), T)


optimization = Optimization(
    model(),
    Horizon(PERIOD, steps=60),
    [
        ContactForce(scale=FORCE, power=POWER, weight=1 / PERIOD),
        Effort(scale=TORQUE, weight=0.02 / PERIOD),
    ],
    [StartAt(q=[0.0, FREE, FREE]), Periodic(advance=[TURN, -TURN, 0.0])],
    EvenTurn(),
    scheme=Variational(normal_implicitness=0.5),  # else the pin rattles from step to step
    solver=Solver(schedules=(GRADUAL,)),
)
