"""Derivatives of motions and optima, in closed form."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.optimize import minimize

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactAligned,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Revolute,
    Start,
    StepBounds,
    TorsionSpringDamper,
    assemble,
)
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    IN_STEPS,
    Effort,
    EndAt,
    Horizon,
    Optimization,
    StartAt,
    Straight,
    sensitivities,
)

from .figure import Figure, Subject
from .runs import Array, G, extrapolated

# A damped oscillator

INERTIA, STIFFNESS, DAMPING, BEGIN, TIME = 0.2, 5.0, 0.1, 0.3, 1.5


@cache
def swung(h: float) -> tuple[Array, Array]:
    """Return derivatives of its angle by (stiffness, damping), and by (q, v) of its start."""
    body = Body("body", 1.0, (0.1, 0.1, INERTIA))
    ends = Frame(GROUND), Frame(body)
    spring = TorsionSpringDamper(
        "spring", *ends, Parameter("stiffness", STIFFNESS), damping=Parameter("damping", DAMPING)
    )
    dynamics = assemble(Mechanism([body], [Revolute("hinge", *ends)], "relative"), [spring])
    forward = sensitivities(
        dynamics,
        Start(np.array([BEGIN]), np.zeros(1)),
        TIME,
        steps=StepBounds(h, h),
        by=("stiffness", "damping"),
    ).forward()
    start = np.array([forward.q0[0, 0, 0], forward.v0[0, 0, 0]])
    return forward.parameters[0, 0], start


def by(group: int, k: int) -> float:
    """Return such a derivative, extrapolated from two runs."""
    return extrapolated(swung(2e-3)[group][k], swung(1e-3)[group][k])


def _angle(stiffness: complex, damping: complex, begin: complex, speed: complex) -> complex:
    d = damping / (2 * INERTIA)
    w = np.sqrt(stiffness / INERTIA - d**2)
    cosine, sine = np.cos(w * TIME), np.sin(w * TIME)
    return complex(np.exp(-d * TIME) * (begin * cosine + (speed + d * begin) / w * sine))


def _slope(k: int) -> float:
    """Return the derivative of the closed form by its k-th argument: by a complex step, exact."""
    at = np.array([STIFFNESS, DAMPING, BEGIN, 0.0], dtype=complex)
    at[k] += 1e-30j
    return _angle(*at).imag / 1e-30


# A ball that has bounced once

HEIGHT, REBOUND, LATE = 1.0, 0.8, 0.8


@cache
def bounced() -> tuple[float, float, float]:
    """Return the derivatives of its height after 0.8 s by restitution, first height and speed."""
    body = Body("ball", 1.0, position=(0, 0, HEIGHT), point_mass=True)
    law = ContactLaw(restitution=Parameter("e", REBOUND))
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=law)
    dynamics = assemble(Mechanism([body]), [floor], (0, 0, -G))
    forward = sensitivities(
        dynamics, None, LATE, steps=StepBounds(1e-6, 1e-2), scheme=ContactAligned(), by=("e",)
    ).forward()
    return forward.parameters[0, 2, 0], forward.q0[0, 2, 2], forward.v0[0, 2, 2]


MET = np.sqrt(2 * HEIGHT / G)
BY_TIME = REBOUND * G * (LATE - 2 * MET) + G * (LATE - MET)
BY_E = G * MET * (LATE - MET)
# By the height: of the impact's time, 1 / (g t). By the speed: time 1 / g, speed of the impact 0.
BY_HEIGHT = BY_TIME / (G * MET)
BY_SPEED = BY_TIME / G - REBOUND * (LATE - MET)

# Optima


def by_mass() -> float:
    """Return what a kilogram costs on a way of 1 m in 1 s, rest to rest, by the multipliers."""
    body = Body("cart", Parameter("mass", 1.5), (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(body))
    dynamics = assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]))
    stated = Optimization(
        dynamics,
        Horizon(1.0, 20),
        [Effort()],
        [StartAt([0], [0]), EndAt([1], [0])],
        Straight([0], [1]),
    )
    return stated.cost_gradient(stated.solve())["mass"]


def by_restitution() -> float:
    """Return what restitution is worth where a cart goes to a wall and back, by the multipliers."""
    stated = replace(load_optimization("bounce"), plan=IN_STEPS)
    return stated.cost_gradient(stated.solve({"restitution": 0.8}, 200))["restitution"]


def _worth() -> float:
    """Return the same by two cubics, their blow at the best time and speed."""

    def cost(x: Array, e: float) -> float:
        t, v = x
        there = 12 / t**3 - 12 * v / t**2 + 4 * v**2 / t
        left, back = 2 - t, e * v
        return float(there + 12 / left**3 - 12 * back / left**2 + 4 * back**2 / left)

    options = {"xatol": 1e-10, "fatol": 1e-14}
    best = minimize(cost, [1.0, 1.5], (0.8,), "Nelder-Mead", options=options).x
    return (cost(best, 0.8 + 1e-5) - cost(best, 0.8 - 1e-5)) / 2e-5


FORM = "derivative of the closed form"

SUBJECT = Subject(
    "Derivatives",
    (
        *(
            Figure(
                f"damped oscillator, its angle after 1.5 s by {name}, extrapolated",
                unit,
                _slope(2 * group + k),
                FORM,
                lambda group=group, k=k: by(group, k),
                1e-6,
            )
            for group, k, name, unit in (
                (0, 0, "its stiffness", "rad²/(N m)"),
                (0, 1, "its damping", "rad²/(N m s)"),
                (1, 0, "the angle of its start", "1"),
                (1, 1, "the velocity of its start", "s"),
            )
        ),
        *(
            Figure(
                f"ball after one impact, its height at 0.8 s by {name}",
                unit,
                float(known),
                FORM + ", the time of the impact included",
                lambda k=k: bounced()[k],
                1e-8,
            )
            for k, (name, unit, known) in enumerate(
                (
                    ("its restitution", "m", BY_E),
                    ("its first height", "1", BY_HEIGHT),
                    ("its first velocity", "s", BY_SPEED),
                )
            )
        ),
        Figure(
            "double integrator of 1.5 kg, least ∫ u² dt by its mass",
            "N² s/kg",
            36.0,
            "12 m² by m",
            by_mass,
            1e-6,
        ),
        Figure(
            "to a wall and back by a blow, e = 0.8, least ∫ u² dt by e",
            "N² s",
            _worth(),
            "two cubics, envelope theorem",
            by_restitution,
            5e-3,
        ),
    ),
)
