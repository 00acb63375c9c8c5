"""Joints with clearance: the event-driven solution of case A, falls through a clearance."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Composition,
    ContactAligned,
    Dynamics,
    Frame,
    Mechanism,
    MoreauJean,
    Parameter,
    Result,
    Revolute,
    SphericalClearance,
    Variational,
    assemble,
    load_problem,
)
from nsopt.schemes import Scheme

from .figure import Figure, Subject
from .runs import G, events, run, turned, wrapped

CASE_A = "event-driven solution of case A"
THETA, OMEGA, LOSS, IMPACT = -0.0137398064, -0.6619807182, 2.59676e-3, 0.014278431
IDEAL_THETA = -0.016225082719


@cache
def case_a(scheme: Scheme, h: float, duration: float = 2.0) -> Result:
    """Return a run of case A."""
    return run(load_problem("case_a").dynamics, duration, h, scheme)


def angle(scheme: Scheme, h: float) -> float:
    """Return the rotation after 2 s, where it is near the known one mod 2 pi [rad]."""
    return THETA + wrapped(turned(case_a(scheme, h))[-1] - THETA)


def loss(scheme: Scheme, h: float) -> float:
    """Return the energy lost [J]."""
    energy = case_a(scheme, h)["total_energy"].values
    return float(energy[0] - energy[-1])


def first_impact(what: str) -> float:
    """Return the time [s] or the loss [J] of the one impact, by steps that end there."""
    result = case_a(ContactAligned(), 1e-3, 0.05)
    if what == "loss":
        return float(np.nansum(result["contact_loss"].values))
    return float(result["time"].values[events(result)[0]])


def ideal_angle() -> float:
    """Return the rotation of case A after 2 s on an ideal hinge [rad]."""
    body = Body("pendulum", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(body, (0, 0, 0)))
    dynamics = assemble(Mechanism([body], [hinge], "relative"), gravity=(0, -G, 0))
    end = run(dynamics, 2.0, 2e-3, Composition())["q"].values[-1, 0]
    return IDEAL_THETA + wrapped(end - IDEAL_THETA)


@cache
def loose_ball() -> Dynamics:
    """Return a ball in the middle of a socket with clearance."""
    ball = Body("ball", 1.0, (1e-3,) * 3)
    clearance = Parameter("clearance", 1e-3)
    joint = SphericalClearance("socket", Frame(GROUND), Frame(ball), clearance, 0.01)
    return assemble(Mechanism([ball]), [joint], (0, 0, -G))


def fall(clearance: float, what: str) -> float:
    """Return when the ball meets the socket [s], or how fast, from the energy lost [m/s]."""
    duration = 1.2 * np.sqrt(2 * clearance / G)
    values = {"clearance": clearance}
    result = run(loose_ball(), duration, 1e-4, ContactAligned(), parameters=values)
    if what == "speed":
        return float(np.sqrt(2 * np.nansum(result["contact_loss"].values)))
    return float(result["time"].values[events(result)[0]])


def rule(scheme: Scheme) -> str:
    """Return the name of a scheme, as code."""
    return f"`{type(scheme).__name__}`"


FALLS = [(c, np.sqrt(2 * c / G), np.sqrt(2 * G * c)) for c in (1e-4, 3e-4)]

SUBJECT = Subject(
    "Joints with clearance",
    (
        *(
            Figure(
                f"case A, rotation after 2 s, {rule(scheme)}, h = {h:g} s",
                "rad",
                THETA,
                CASE_A,
                partial(angle, scheme, h),
                tolerance,
            )
            for scheme, h, tolerance in (
                (Variational(), 1e-3, 5e-5),
                (Variational(), 1e-4, 1e-6),
                (ContactAligned(), 1e-3, 5e-5),
                (MoreauJean(project=True), 1e-3, 4e-3),
            )
        ),
        Figure(
            "case A, angular velocity after 2 s, `Variational`, h = 0.1 ms",
            "rad/s",
            OMEGA,
            CASE_A,
            lambda: float(case_a(Variational(), 1e-4)["v"].values[-1, 5]),
            2e-5,
        ),
        *(
            Figure(
                f"case A, energy lost in 2 s, `Variational`, h = {h:g} s",
                "J",
                LOSS,
                CASE_A,
                partial(loss, Variational(), h),
                5e-3 * LOSS,
            )
            for h in (1e-3, 1e-4)
        ),
        Figure(
            "case A, time of the impact, `ContactAligned`, h = 1 ms",
            "s",
            IMPACT,
            CASE_A,
            partial(first_impact, "time"),
            1e-8,
        ),
        Figure(
            "case A, energy lost in the impact, `ContactAligned`, h = 1 ms",
            "J",
            LOSS,
            CASE_A,
            partial(first_impact, "loss"),
            1e-5 * LOSS,
        ),
        Figure(
            "case A, largest penetration in 2 s, `Variational`, h = 1 ms",
            "m",
            0.0,
            "rigid contact",
            lambda: max(0.0, -float(case_a(Variational(), 1e-3)["gap"].values.min())),
            1e-10,
        ),
        Figure(
            "case A on an ideal hinge, rotation after 2 s, `Composition`, h = 2 ms",
            "rad",
            IDEAL_THETA,
            "elliptic functions",
            ideal_angle,
            1e-7,
        ),
        *(
            Figure(
                f"fall through {c * 1e3:g} mm of clearance, {what}",
                unit,
                known,
                formula,
                partial(fall, c, what),
                1e-9,
            )
            for c, time, speed in FALLS
            for what, unit, known, formula in (
                ("time", "s", time, "√(2 c / g)"),
                ("speed", "m/s", speed, "√(2 g c)"),
            )
        ),
    ),
)
