"""Rebound by each compliant law over the speed of impact, against the law's own formula.

A ball of 2 kg meets a wall of K = 1e7 N/m^1.5 at 0.01 to 10 m/s. The formula is the solution of
m delta'' = -K delta^n (1 + k ddelta / v) by separation of variables: bodies part with e' where
k (1 + e') = ln((1 + k) / (1 - k e')), k of each paper.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from common import machine, table
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Body,
    Compiled,
    CompliantContact,
    ContactLaw,
    Dynamics,
    Flores,
    Frame,
    Gonthier,
    HerbertMcWhannell,
    HuntCrossley,
    LankaraniNikravesh,
    LeeWang,
    Mechanism,
    Parameter,
    PlaneContact,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.elements import Hysteresis

MASS, K = 2.0, 1e7
SPEEDS = (0.01, 0.1, 1.0, 10.0)
STATED = (0.9, 0.7, 0.5, 0.3, 0.1)
PARTS = 400
"""Steps of an elastic contact."""


def of_gonthier(e: float) -> float:
    """Return d / e with (1 + d / e) / (1 - d) = exp(d (1 + 1 / e))."""

    def excess(d: float) -> float:
        return float(np.log((1 + d / e) / (1 - d)) - d * (1 + 1 / e))

    return float(brentq(excess, 1e-3, 1 - 1e-15)) / e


FACTORS: dict[type[Hysteresis], Callable[[float], float]] = {
    HuntCrossley: lambda e: 3 * (1 - e) / 2,
    HerbertMcWhannell: lambda e: 6 * (1 - e) / ((2 * e - 1) ** 2 + 3),
    LeeWang: lambda e: 3 * (1 - e) / 4,
    LankaraniNikravesh: lambda e: 3 * (1 - e**2) / 4,
    Flores: lambda e: 8 * (1 - e) / (5 * e),
    Gonthier: of_gonthier,
}


def implied(k: float) -> float:
    """Return the restitution that follows from the factor k."""

    def excess(e: float) -> float:
        return float(k * (1 + e) - np.log((1 + k) / (1 - k * e)))

    return float(brentq(excess, 1e-9, min(1, 1 / k) - 1e-15))


def wall(law: Hysteresis) -> Dynamics:
    """Return a particle in front of a wall, with a Parameter e."""
    ball = Body("ball", MASS, point_mass=True)
    rigid = ContactLaw(restitution=Parameter("e", 0.5))
    plane = PlaneContact("plane", Frame(GROUND), Frame(ball), law=rigid)
    return assemble(Mechanism([ball]), [CompliantContact("wall", plane, law)])


def rebound(dynamics: Dynamics, e: float, speed: float) -> float:
    """Return the speed after over that before the impact."""
    contact = 2.9433 * (5 * MASS * speed**2 / (4 * K)) ** 0.4 / speed
    rest = np.zeros(dynamics.nq - 3)  # what is latched
    result = simulate(
        dynamics,
        Start(np.array([0, 0, 1e-9, *rest]), np.array([0, 0, -speed])),
        3 * contact,
        steps=StepBounds(contact / PARTS, contact / PARTS),
        scheme=Variational(),
        solver=Compiled(),
        parameters={"e": e},
        progress=False,
    )
    return float(result["v"].values[-1, 2]) / speed


def main() -> None:
    """Print the table."""
    print(machine())
    rows = []
    for kind, factor in FACTORS.items():
        dynamics = wall(kind(K, slowest=1e-6))
        for e in STATED:
            measured = [rebound(dynamics, e, speed) for speed in SPEEDS]
            numbers = (e, implied(factor(e)), *measured)
            rows.append((kind.__name__, *(f"{x:.4f}" for x in numbers)))
    speeds = [f"{speed:g} m/s" for speed in SPEEDS]
    print(table(("law", "e stated", "by its formula", *speeds), rows))


if __name__ == "__main__":
    main()
