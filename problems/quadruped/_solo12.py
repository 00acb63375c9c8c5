"""The quadruped solo12 on level ground: floating base, twelve joints, four feet with friction."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nsopt import GROUND, ContactLaw, Dynamics, Frame, Parameter, PlaneContact, assemble
from nsopt.robots import load_urdf

FILE = Path(__file__).parent / "solo12.urdf"
LEGS = ("FL", "FR", "HL", "HR")  # front and hind, left and right
SHANK = THIGH = 0.16  # m
ABREAST, ALONG = 0.0875 + 0.014 + 0.03745 + 0.008, 0.1946  # m, of a foot from the middle
SCALE = 0.01  # m, a typical opening
FRICTION = Parameter("friction", 0.7)


@dataclass(frozen=True, eq=False)
class Solo12:
    """The robot.

    Attributes
    ----------
    dynamics : Dynamics
    feet : dict of name to Frame
    """

    dynamics: Dynamics
    feet: dict[str, Frame]


def solo12() -> Solo12:
    """Return the robot, assembled; x forwards, z up."""
    robot = load_urdf(FILE, floating_base=True, merge_fixed=True)
    bodies = {body.name: body for body in robot.bodies}
    feet = {}
    for leg in LEGS:
        x, y = ALONG * (1 if leg[0] == "F" else -1), ABREAST * (1 if leg[1] == "L" else -1)
        feet[leg] = Frame.at(bodies[f"{leg}_lower"], (x, y, -THIGH - SHANK))
    law = ContactLaw(friction=FRICTION)
    ground = [
        PlaneContact(leg, Frame(GROUND), foot, law=law, scale=SCALE) for leg, foot in feet.items()
    ]
    return Solo12(assemble(robot, ground, (0.0, 0.0, -9.81)), feet)


def posture(bend: float, x: float = 0.0) -> NDArray[np.float64]:
    """Return coordinates (19,): feet on the ground below the hips, thighs forwards by ``bend``.

    Parameters
    ----------
    bend : float [rad]
    x : float [m]
        Of the base, forwards.
    """
    height = THIGH * np.cos(bend) + SHANK * np.cos(bend)
    return np.array([x, 0.0, height, 1.0, 0.0, 0.0, 0.0, *4 * (0.0, bend, -2 * bend)])
