"""The pendulum of [RoM 2023, section 4], shared by its three analyses."""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Cone,
    CubicLaw,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    RangeOfMotion,
    Spherical,
    Tracker,
    assemble,
)

LONGITUDES = np.radians([0, 90, 135, 180, 270, 315, 360])
LATITUDES = np.radians([30, 70, 100, 80, 50, 45, 30])
LENGTH = 0.15  # m, from the joint to the centre of mass
HALF = np.sqrt(0.5)
DOWN = np.array([[-1.0, 0, 0], [0, 1, 0], [0, 0, -1]]).T  # xi, eta, zeta of the joint


def pendulum(restricted: bool, damping: float) -> Dynamics:
    """Return the pendulum at rest, level, at longitude 135 deg."""
    # y of the body is the pointer u_r; it starts at latitude 90 deg, inside the cone.
    along = np.array([HALF, HALF, 0.0])
    body = Body(
        "pendulum",
        mass=4.0,
        inertia=(0.03, 0.02, 0.03),
        position=LENGTH * along,
        orientation=(np.cos(np.pi / 8), 0.0, 0.0, -np.sin(np.pi / 8)),
    )
    pointer = np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])  # z of the frame is y of the body
    end = (0.0, -LENGTH, 0.0)
    joint = Spherical("joint", Frame(GROUND), Frame(body, end))
    limit = RangeOfMotion(
        "cone",
        Frame(GROUND, axes=DOWN),
        Frame(body, end, axes=pointer),
        Cone(LONGITUDES, LATITUDES),
        CubicLaw(Parameter("peak", 226.0), Parameter("compliance", np.radians(11.5))),
        damping=Parameter("damping", damping),
    )
    centre = Tracker("centre of mass", Frame(body))
    elements = [limit, centre] if restricted else [centre]
    return assemble(Mechanism([body], [joint], "absolute"), elements, gravity=(0.0, 0.0, -9.81))
