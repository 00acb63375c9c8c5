"""Ranges of motion: cones, laws, rebounds, the pendulum of the paper."""

from __future__ import annotations

from functools import cache, partial

import casadi as ca
import numpy as np
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Body,
    Cone,
    CubicLaw,
    Frame,
    Mechanism,
    Result,
    Revolute,
    TurnRange,
    assemble,
    load_problem,
)
from nsopt.elements.range_of_motion import Chord, Excess, PrintedExcess, SphericalAngle
from nsopt.elements.range_of_motion.nearest import nearest
from nsopt.mechanics import State

from .figure import Figure, Subject
from .runs import Array, run

ROM = "[RoM 2023]"
PAPER = Cone(
    np.radians([0, 90, 135, 180, 270, 315, 360]), np.radians([30, 70, 100, 80, 50, 45, 30])
)
QUADRANTS = np.radians([0, 90, 180, 270, 360])
ELLIPTIC = Cone(QUADRANTS, np.radians([60, 30, 60, 30, 60]))
CIRCULAR = Cone(QUADRANTS, np.radians([40, 40, 40, 40, 40]))


def direction(longitude: float, latitude: float) -> Array:
    """Return the unit vector at a longitude and a latitude [deg]."""
    psi, sigma = np.radians([longitude, latitude])
    return np.array([np.sin(sigma) * np.cos(psi), np.sin(sigma) * np.sin(psi), np.cos(sigma)])


def excess(cone: Cone, measure: Excess, longitude: float, latitude: float) -> float:
    """Return by how much a direction is outside a cone [deg]."""
    u = ca.SX.sym("u", 3)
    f = ca.Function("f", [u], [measure.value(nearest(cone.curve(), u))], {"cse": True})
    return float(np.degrees(float(f(direction(longitude, latitude)))))


def off_the_ellipse() -> float:
    """Return by how much the edge of the elliptic cone is off the polar form of eq. 13 [deg]."""
    psi, sigma = ELLIPTIC.edge(1001)
    known = 60 * 30 / np.hypot(30 * np.cos(psi), 60 * np.sin(psi))
    return float(np.max(np.abs(np.degrees(sigma) - known)))


# A wheel that turns into the end of its range

INERTIA, SPEED, PEAK, WIDTH = 0.2, 4.0, 30.0, 0.2
LAW = CubicLaw(PEAK, WIDTH)


@cache
def rebound() -> Result:
    """Return a wheel that turns freely by 0.3 rad into the end of its range and comes back."""
    body = Body("wheel", 1.0, (0.1, 0.1, INERTIA), angular_velocity=(0, 0, SPEED))
    ends = Frame(GROUND), Frame(body)
    stop = TurnRange("end", *ends, -1.0, 0.3, LAW)
    dynamics = assemble(Mechanism([body], [Revolute("hinge", *ends)], "relative"), [stop])
    return run(dynamics, 0.5, 1e-4)


def _deepest() -> float:
    """Return the excess whose potential is the kinetic energy [rad]."""
    energy = INERTIA * SPEED**2 / 2

    def left(x: float) -> float:
        return float(PEAK * WIDTH * (x**3 - x**4 / 2) - energy)

    return float(WIDTH * brentq(left, 0, 1, xtol=1e-15))


def law(what: str, x: float) -> float:
    """Return moment [N m] or potential [J] of the cubic law at an excess [rad]."""
    s = State(ca.SX(0), {}, {})
    return float(ca.DM(getattr(LAW, what)(s, ca.SX(x))))


# The pendulum of the paper


@cache
def pendulum() -> Result:
    """Return the run of the pendulum of the paper, without damping."""
    dynamics = load_problem("rom_pendulum_damped").dynamics
    return run(dynamics, 5.0, 5e-4, parameters={"damping": 0.0})


def first_contact() -> float:
    """Return when it is first outside its cone [s]."""
    result = pendulum()
    return float(result["time"].values[int(np.argmax(result["cone.excess"].values > 0))])


def peak() -> float:
    """Return the largest moment of the cone [N m]."""
    return float(np.max(np.linalg.norm(pendulum()["joint_resistance"].values[:, 0], axis=1)))


def swing_of_energy() -> float:
    """Return the energy gained [J]."""
    energy = pendulum()["total_energy"].values
    return float(energy[-1] - energy[0])


MEASURES = [
    (PrintedExcess(), 7.290, "eq. 33 as printed"),
    (Chord(), 6.322, "the norm of eq. 30"),
    (SphericalAngle(), 6.335, "angle on the sphere"),
]

SUBJECT = Subject(
    "Range of motion",
    (
        *(
            Figure(
                f"cone of the paper at (150, 104) deg, excess, {name}",
                "deg",
                value,
                f"errata of {ROM}, by a search of the edge",
                partial(excess, PAPER, measure, 150.0, 104.0),
                6e-4,
            )
            for measure, value, name in MEASURES
        ),
        Figure(
            "circular cone of 40 deg, excess of a direction at 50 deg",
            "deg",
            10.0,
            "50 - 40",
            partial(excess, CIRCULAR, SphericalAngle(), 45.0, 50.0),
            1e-6,
        ),
        Figure(
            "elliptic cone of 60 and 30 deg, latitude of its edge, largest difference",
            "deg",
            0.0,
            f"{ROM} eq. 13 in polar form",
            off_the_ellipse,
            1e-9,
        ),
        Figure(
            "cubic law at half of its width, moment",
            "N m",
            PEAK / 2,
            f"{ROM} eq. 32",
            partial(law, "moment", WIDTH / 2),
            1e-12,
        ),
        Figure(
            "cubic law at its width, potential",
            "J",
            PEAK * WIDTH / 2,
            "integral of eq. 32",
            partial(law, "potential", WIDTH),
            1e-12,
        ),
        Figure(
            "wheel that turns into the end of its range, deepest excess",
            "rad",
            _deepest(),
            "energy: V(κ) = J ω² / 2",
            lambda: float(rebound()["end.excess"].values.max()),
            1e-6,
        ),
        Figure(
            "wheel that turns into the end of its range, angular velocity after it",
            "rad/s",
            -SPEED,
            "conservation of energy",
            lambda: float(rebound()["v"].values[-1, 0]),
            1e-5,
        ),
        Figure(
            "pendulum of the paper, its first contact with the cone",
            "s",
            0.35,
            f"{ROM} section 4, to two digits",
            first_contact,
            0.01,
        ),
        Figure(
            "pendulum of the paper, peak moment of the cone in 5 s",
            "N m",
            107.5,
            f"{ROM} section 4, between 100 and 115",
            peak,
            7.5,
        ),
        Figure(
            "pendulum of the paper without damping, energy gained in 5 s",
            "J",
            0.0,
            "conservation of energy: the law has a potential",
            swing_of_energy,
            1e-3,
        ),
    ),
)
