"""Programmed motion: courses, what drives need for them, how constraints are stabilized."""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np

from nsopt import (
    GROUND,
    ArcPath,
    Body,
    CornerPath,
    Driven,
    Frame,
    Mechanism,
    Programmed,
    Result,
    Revolute,
    RungeKutta,
    Start,
    assemble,
    consistent,
)
from nsopt.elements import PointPath

from .figure import Figure, Subject
from .runs import Array, G, run

COPCOD = "[CoPCoD 2023]"

# A crank whose angle is 4 pi t^2

MASS, ARM, INERTIA = 0.3, 0.025, 1e-4


@cache
def crank() -> Result:
    """Return the run of the driven crank."""
    body = Body("crank", MASS, (INERTIA,) * 3, position=(ARM, 0, 0))
    bearing = Revolute("bearing", Frame(GROUND), Frame.at(body, (0, 0, 0)))
    motor = Driven("motor", bearing, lambda t: 4 * np.pi * t**2)
    dynamics = assemble(Mechanism([body], [bearing, motor], "relative"), gravity=(0, -G, 0))
    return run(dynamics, 1.0, 1e-3, start=consistent(dynamics))


def mean_torque() -> float:
    """Return the mean torque of the motor over its two turns in time [N m]."""
    return float(np.mean(crank()["motor.torque"].values[1:]))


def _mean_torque() -> float:
    t = (np.arange(200_000) + 0.5) / 200_000
    weight = MASS * G * ARM * np.cos(4 * np.pi * t**2)
    return float((INERTIA + MASS * ARM**2) * 8 * np.pi + np.mean(weight))


# Where paths are


def place(path: PointPath, axis: int, t: float) -> float:
    """Return a coordinate of a path, by what a particle that rests at the origin is off it [m]."""
    body = Body("point", 1.0, point_mass=True)
    dynamics = assemble(Mechanism([body], [Programmed("tip", Frame(GROUND), Frame(body), path)]))
    return -float(np.asarray(dynamics.closure(t, np.zeros(3), dynamics.values()))[axis, 0])


CORNERS = CornerPath([(0, 0, 0), (1, 0, 0)], side=1.0)
ARC = ArcPath((0, 0, 0), 0.4, np.pi, 2.0, (0, 0, 1.0), constant_speed=True)

# How what is off decays


@cache
def off(alpha: float, beta: float) -> tuple[Array, Array]:
    """Return times and how far a particle is off its place, by the step of Runge and Kutta."""
    body = Body("point", 1.0, point_mass=True)
    tip = Programmed("tip", Frame(GROUND), Frame(body), (0.0, 0.0, 0.0))
    dynamics = assemble(Mechanism([body], [tip]), gravity=(0, 0, -G))
    start = Start(np.array([1e-3, 0, 0]), np.zeros(3))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "at the start joint 'tip' is", UserWarning)  # as meant
        result = run(dynamics, 0.4, 1e-4, RungeKutta(alpha, beta), start)
    return result["time"].values, result["q"].values[:, 0]


def decay(alpha: float, beta: float) -> float:
    """Return the rate at which it decays once the fast part has gone [1/s]."""
    t, x = off(alpha, beta)
    late = t > 0.1
    return float(-np.polyfit(t[late], np.log(np.abs(x[late])), 1)[0])


def work() -> float:
    """Return the work of the motor in half a second [J]."""
    result = crank()
    return float(result["external_work"].values[500])


SUBJECT = Subject(
    "Programmed motion",
    (
        Figure(
            "crank driven by φ = 4π t², its angle after 1 s",
            "rad",
            4 * np.pi,
            "its course",
            lambda: float(crank()["q"].values[-1, 0]),
            1e-10,
        ),
        Figure(
            "crank driven by φ = 4π t², mean torque in 1 s",
            "N m",
            _mean_torque(),
            "(J + m l²) φ'' + m g l cos φ",
            mean_torque,
            5e-6,
        ),
        Figure(
            "crank driven by φ = 4π t², work in 0.5 s",
            "J",
            float(
                (INERTIA + MASS * ARM**2) * (4 * np.pi) ** 2 / 2 + MASS * G * ARM * np.sin(np.pi)
            ),
            "energy gained",
            work,
            1e-5,
        ),
        *(
            Figure(
                f"side of 1 m in 1 s from corner to corner, where it is at {t:g} s",
                "m",
                10 * t**3 - 15 * t**4 + 6 * t**5,
                f"{COPCOD} eq. 28",
                partial(place, CORNERS, 0, t),
                1e-14,
            )
            for t in (0.25, 0.6)
        ),
        Figure(
            "arc of 0.4 m, π in 2 s, squared distance from its begin at 1 s over r²",
            "1",
            2.0,
            "a right angle",
            lambda: float(
                sum((place(ARC, k, 1.0) - place(ARC, k, 0.0)) ** 2 for k in range(3)) / 0.16
            ),
            1e-12,
        ),
        *(
            Figure(
                f"`RungeKutta({alpha:g}, {beta:g})`, rate at which what is off decays",
                "1/s",
                float(alpha - np.sqrt(alpha**2 - beta**2)),
                f"{COPCOD} gains: α - √(α² - β²)",
                partial(decay, alpha, beta),
                1e-4,
            )
            for alpha, beta in ((1000.0, 100.0), (500.0, 50.0))
        ),
    ),
)
