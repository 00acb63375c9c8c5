"""A slider-crank turned at constant 5000 rpm, with clearance in its piston pin.

Lengths, speed and clearance are those of the literature on clearance joints; masses and inertias
are chosen here, for steel of that size.
"""

from __future__ import annotations

import numpy as np
from slider_crank import ALONG_X, GRAVITY

from nsopt import (
    GROUND,
    Body,
    CompliantContact,
    ContactLaw,
    Driven,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    PlanarRevoluteClearance,
    Prismatic,
    Problem,
    Revolute,
    Start,
    StepBounds,
    assemble,
)
from nsopt.elements import CompliantLaw

CRANK, ROD = 0.05, 0.12  # m
MASSES = (0.30, 0.21, 0.14)  # kg: crank, rod, piston
INERTIAS = (1.0e-4, 2.5e-4, 1.0e-4)  # kg m^2, about the centres of mass
SPEED = Parameter("speed", 5000 * 2 * np.pi / 60)  # rad/s
CLEARANCE = Parameter("clearance", 5e-4)  # m, radial
RADIUS = 0.01  # m, of the pin
RIGID = ContactLaw()


def model(
    speed: Parameter = SPEED, law: ContactLaw = RIGID, soft: CompliantLaw | None = None
) -> Dynamics:
    """Return the mechanism: driven at its crank, its loop closed by the pin alone.

    Parameters
    ----------
    speed : Parameter [rad/s]
    law : ContactLaw
        Of the pin in its bore.
    soft : CompliantLaw, optional
        By which they press; rigid by default.
    """
    knee, piston = (CRANK, 0.0, 0.0), (CRANK + ROD, 0.0, 0.0)
    places = ((0.0, 0.0, 0.0), ((CRANK + piston[0]) / 2, 0.0, 0.0), piston)
    names = ("crank", "rod", "piston")
    crank, rod, slider = (
        Body(name, m, (J, J, J), position=place)  # the crank is balanced
        for name, m, J, place in zip(names, MASSES, INERTIAS, places, strict=True)
    )
    bearing = Revolute("main bearing", Frame(GROUND), Frame(crank))
    joints = [
        bearing,
        Revolute("crank pin", Frame.at(crank, knee), Frame.at(rod, knee)),
        Prismatic("guide", Frame(GROUND, axes=ALONG_X), Frame.at(slider, piston, ALONG_X)),
        Driven("motor", bearing, speed),
    ]
    pin = PlanarRevoluteClearance(
        "piston pin",
        Frame.at(slider, piston),
        Frame.at(rod, piston),
        clearance=CLEARANCE,
        radius=RADIUS,
        law=law,
    )
    pressed = pin if soft is None else CompliantContact("piston pin", pin, soft)
    return assemble(Mechanism([crank, rod, slider], joints, "relative"), [pressed], GRAVITY)


def start(dynamics: Dynamics, w: float = float(SPEED.value)) -> Start:
    """Return the start: stretched out, the pin in the middle, at the velocities of ideal joints.

    Parameters
    ----------
    dynamics : Dynamics
    w : float [rad/s]
        Speed of the crank.
    """
    velocities = {"main bearing": w, "crank pin": -w * (1 + CRANK / ROD)}
    return Start.named(dynamics, {}, velocities)


dynamics = model()
problem = Problem(
    dynamics,
    0.024,
    StepBounds(1e-8, 1e-5),
    start_at=lambda values: start(dynamics, values[SPEED.name]),
)
