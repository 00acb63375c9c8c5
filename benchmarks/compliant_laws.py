"""Rebound by each compliant law over the speed of impact, against the law's own formula.

A ball of 2 kg meets a wall of K = 1e7 N/m^1.5 (`KelvinVoigt`: N/m) at 0.01 to 10 m/s. The formula
is the solution of m delta'' = -K delta^n (1 + k ddelta / v) by separation of variables: bodies part
with e' where k (1 + e') = ln((1 + k) / (1 - k e')), k of each paper. `Hertz` knows no e; D of
`KelvinVoigt` is that with which a spring and a damper part with e.
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
    Hertz,
    HuntCrossley,
    KelvinVoigt,
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
from nsopt.elements import CompliantLaw, Hysteresis

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


def of_damper(zeta: float) -> float:
    """Return the restitution of a spring and a damper whose force ends where it would pull.

    [Schwager, Poeschel 2007, Granular Matter 9], zeta = D / (2 sqrt(K m)).
    """
    if zeta < 1:
        root = np.sqrt(1 - zeta**2)
        angle = np.pi - np.arctan2(2 * zeta * root, 1 - 2 * zeta**2)
        return float(np.exp(-zeta / root * angle))
    root = np.sqrt(zeta**2 - 1)
    return float(np.exp(-zeta / root * np.log((zeta + root) / (zeta - root))))


def damper(e: float) -> float:
    """Return the D with which a spring K and the ball part with e [N s/m]."""
    zeta = brentq(lambda x: of_damper(x) - e, 1e-6, 10.0)
    return float(2 * zeta * np.sqrt(K * MASS))


def wall(law: CompliantLaw) -> Dynamics:
    """Return a particle in front of a wall, with a Parameter e."""
    ball = Body("ball", MASS, point_mass=True)
    rigid = ContactLaw(restitution=Parameter("e", 0.5))
    plane = PlaneContact("plane", Frame(GROUND), Frame(ball), law=rigid)
    return assemble(Mechanism([ball]), [CompliantContact("wall", plane, law)])


def elastic(law: CompliantLaw, speed: float) -> float:
    """Return how long an elastic contact lasts [s]."""
    if isinstance(law, KelvinVoigt):
        return float(np.pi * np.sqrt(MASS / K))
    return float(2.9433 * (5 * MASS * speed**2 / (4 * K)) ** 0.4 / speed)


def rebound(dynamics: Dynamics, contact: float, speed: float, numbers: dict[str, float]) -> float:
    """Return the speed after over that before the impact, from the wall on."""
    rest = np.zeros(dynamics.nq - 3)  # what is latched
    result = simulate(
        dynamics,
        Start(np.array([0, 0, 0, *rest]), np.array([0, 0, -speed])),
        3 * contact,
        steps=StepBounds(contact / PARTS, contact / PARTS),
        scheme=Variational(),
        solver=Compiled(),
        parameters=numbers,
        check=None,
        progress=False,
    )
    return float(result["v"].values[-1, 2]) / speed


def rows(law: CompliantLaw) -> list[tuple[str, ...]]:
    """Return the rows of a law: e stated, by its formula, measured, and how far off at most."""
    found, dynamics = [], wall(law)
    for e in (STATED[0],) if isinstance(law, Hertz) else STATED:
        numbers, formula = {"e": e}, 1.0
        if isinstance(law, KelvinVoigt):
            numbers, formula = {"D": damper(e)}, e
        elif isinstance(law, Hysteresis):
            formula = implied(FACTORS[type(law)](e))
        measured = [rebound(dynamics, elastic(law, v), v, numbers) for v in SPEEDS]
        off = f"{max((x - e for x in measured), key=abs):+.4f}"
        figures = [f"{x:.4f}" for x in (formula, *measured)]
        stated, off = ("any", "") if isinstance(law, Hertz) else (f"{e:g}", off)
        found.append((type(law).__name__, stated, *figures, off))
    return found


def main() -> None:
    """Print the table."""
    print(machine())
    spring = KelvinVoigt(K, damping_coefficient=Parameter("D", 0.0))
    laws = [Hertz(K), spring, *(kind(K, slowest=1e-6) for kind in FACTORS)]
    speeds = [f"{speed:g} m/s" for speed in SPEEDS]
    head = ("law", "e stated", "by its formula", *speeds, "off the stated e")
    print(table(head, [row for law in laws for row in rows(law)]))


if __name__ == "__main__":
    main()
