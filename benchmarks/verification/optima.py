"""Optimal motions that are known in closed form."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from nsopt import GROUND, Actuator, Body, Dynamics, Frame, Mechanism, Prismatic, Result, assemble
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    ActuatorLimits,
    Duration,
    Effort,
    EndAt,
    Horizon,
    StartAt,
    Straight,
    optimize,
)

from .figure import Figure, Subject


@cache
def named(name: str) -> Result:
    """Return the optimum of a named problem."""
    return solved(load_optimization(name).solve())


@cache
def bounce(e: float) -> Result:
    """Return the optimum of the bounce by a restitution, in 100 steps."""
    return solved(load_optimization("bounce").solve({"restitution": e}, 100))


def solved(best: Result) -> Result:
    """Return an optimum that is one.

    Raises
    ------
    RuntimeError
        If it is not.
    """
    if not best.completed:
        raise RuntimeError(f"no optimum: {best.stop_reason}")
    return best


def cart(effort: float = np.inf) -> Dynamics:
    """Return 1 kg on a rail, driven by a force of at most ``effort`` [N]."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(body))
    drive = Actuator("rail", effort=effort)
    return assemble(Mechanism([body], [rail], "relative", [drive]))


def least_time() -> float:
    """Return the shortest time over 1 m from rest to rest by at most 1 N [s]."""
    best = optimize(
        cart(1.0),
        Horizon((0.5, 5.0), 40),
        [Duration()],
        [StartAt([0], [0]), EndAt([1], [0]), ActuatorLimits()],
        Straight([0], [1]),
    )
    return solved(best).objective


@cache
def least_effort() -> Result:
    """Return the way over 1 m in 1 s, rest to rest, of least effort."""
    ends = [StartAt([0], [0]), EndAt([1], [0])]
    return solved(optimize(cart(), Horizon(1.0, 20), [Effort()], ends, Straight([0], [1])))


def blow(e: float, what: str) -> float:
    """Return the time [s] or the speed [m/s] of the blow of the bounce, or its cost."""
    best = bounce(e)
    if what == "cost":
        return best.objective
    impulse = best["impulse"].values[:, 0]
    k = int(np.nanargmax(impulse))
    return float(best["time"].values[k] if what == "time" else impulse[k] / (1 + e))


BOUNCES = {1.0: (1.0, 1.5, 6.0), 0.0: (0.82842712, 1.81066017, 12.73896103)}
PARTS = [("time", "s", 2e-4), ("speed", "m/s", 3e-3), ("cost", "N² s", 4e-3)]

SUBJECT = Subject(
    "Optimal motions",
    (
        Figure(
            "double integrator, 1 m in 1 s, ∫ u² dt",
            "N² s",
            12.0,
            "Pontryagin: u = 6 - 12 t",
            lambda: least_effort().objective,
            1e-8,
        ),
        Figure(
            "double integrator, force at the start",
            "N",
            6.0,
            "Pontryagin: u = 6 - 12 t",
            lambda: float(least_effort()["drive"].values[0, 0]),
            1e-7,
        ),
        Figure(
            "double integrator of at most 1 N, shortest time over 1 m",
            "s",
            2.0,
            "Pontryagin: bang-bang, 2 √(x / u)",
            least_time,
            2e-3,
        ),
        Figure(
            "Bryson-Denham, l = 1/9, ½ ∫ u² dt",
            "N² s",
            4.0,
            "4 / (9 l), Bryson and Denham 1963",
            lambda: named("bryson_denham").objective,
            1e-4,
        ),
        Figure(
            "brachistochrone to (2, -2) m",
            "s",
            0.8243386694391838,
            "cycloid",
            lambda: named("brachistochrone").detailed_cost["Duration"],
            1e-4,
        ),
        *(
            Figure(
                f"to a wall and back by a blow, e = {e:g}: {part}",
                unit,
                BOUNCES[e][k],
                "cubics between blows, stationary in time and speed",
                partial(blow, e, part),
                tolerance,
            )
            for e in BOUNCES
            for k, (part, unit, tolerance) in enumerate(PARTS)
        ),
    ),
)
