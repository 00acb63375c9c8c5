"""Optima through contact in steps and exact, beside their closed forms: costs and seconds.

A lift from a floor, slip that turns round, a cart that bounces, a hopper from rest to rest and in a
gait, and other shipped problems.
python benchmarks/exact_contacts.py [lift turn bounce gait hopper push_block ...]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import casadi as ca
import numpy as np
from common import machine
from scipy.optimize import minimize, minimize_scalar

from nsopt import (
    GROUND,
    Actuator,
    AppliedForce,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    Cost,
    Effort,
    EndAt,
    Horizon,
    NodeSample,
    Optimization,
    Periodic,
    Quintic,
    StartAt,
    Through,
)

G = 9.81


@dataclass(frozen=True, kw_only=True)
class Miss(Cost):
    """(v(T) - 5/3)^2 and the integral of v^2 [Stewart, Anitescu 2010, Numer. Math. 114]."""

    def rate(self, m: NodeSample) -> ca.SX:
        return m.v[0] ** 2

    def final(self, m: NodeSample) -> ca.SX:
        return (m.v[0] - 5 / 3) ** 2


def lift() -> Optimization:
    """Return a mass of 1 kg that is lifted from a floor to 1 m within 2 s."""
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    floor = PlaneContact("floor", Frame(GROUND), Frame(mass))
    mechanism = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    d = assemble(mechanism, [floor], gravity=(0, 0, -G))
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [np.nan])]
    return Optimization(d, Horizon(2.0), [Effort()], ends, Quintic([0.0], [1.0]))


def turn() -> Optimization:
    """Return a sled of 1 kg that 2 N push against 1 N of friction, from a speed to be chosen."""
    body = Body("sled", 1.0, point_mass=True)
    law = ContactLaw(friction=1 / G)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=law, planar=True)
    push = AppliedForce("push", Frame(body), (2.0, 0.0, 0.0))
    mechanism = Mechanism([body], coordinates="relative")
    d = assemble(mechanism, [floor, push], gravity=(0, 0, -G))
    t = np.linspace(0, 2, 41)
    v = np.where(t < 1.4 / 3, 3 * t - 1.4, t - 1.4 / 3)
    x = np.append(0, np.cumsum(v[1:] + v[:-1]) / 40)
    guess = Through([[k, 0, 0] for k in x], list(t / 2))
    return Optimization(d, Horizon(2.0), [Miss()], [StartAt(np.zeros(3), [np.nan, 0, 0])], guess)


def least_turn() -> float:
    """Return the least cost of `turn`."""

    def cost(v0: float) -> float:
        end = 2 + v0 / 3
        return float((end - 5 / 3) ** 2 - v0**3 / 9 + end**3 / 3)

    return float(minimize_scalar(cost, bounds=(-2, -1), method="bounded").fun)


def least_bounce(e: float) -> float:
    """Return the least cost of two cubic ways, the second from e times the speed of the first."""

    def cost(x: np.ndarray) -> float:
        T, v = x
        rest, back = 2 - T, e * v
        to = 12 / T**3 - 12 * v / T**2 + 4 * v**2 / T
        return float(to + 12 / rest**3 - 12 * back / rest**2 + 4 * back**2 / rest)

    found = minimize(cost, [0.9, 1.8], method="Nelder-Mead", options={"xatol": 1e-10})
    return float(found.fun)


def gait() -> Optimization:
    """Return `hopper` with an end as its start, but for the distance."""
    stated = load_optimization("hopper")
    _, end, hurdle, limits = stated.conditions
    advance = end.q[0], *np.zeros(4)
    free = StartAt([0.0, *[np.nan] * 4], [np.nan] * 5)
    guess = Quintic(stated.conditions[0].q, end.q)
    return replace(stated, conditions=[free, Periodic(advance), hurdle, limits], guess=guess)


def cases(names: list[str]) -> Iterator[tuple[str, Optimization, dict[str, float], int, float]]:
    """Yield name, problem, parameters, steps (0: its own) and least cost of each case."""
    closed = 48 / np.sqrt(6 / G) ** 3
    for name in names:
        if name == "lift":
            yield from ((name, lift(), {}, n, closed) for n in (25, 50, 100, 200, 400))
        elif name == "turn":
            yield from ((name, turn(), {}, n, least_turn()) for n in (20, 50, 100))
        elif name == "gait":
            yield name, gait(), {}, 0, np.nan
        elif name == "bounce":
            stated = load_optimization(name)
            for e in (0.0, 0.5, 1.0):
                yield f"{name} {e:g}", stated, {"restitution": e}, 20, least_bounce(e)
        else:
            yield name, load_optimization(name), {}, 0, np.nan


def main(names: list[str]) -> None:
    """Print the table."""
    print(machine())
    print("| | steps | in steps | exact | least | seconds | contacts |")
    print("|---|--:|--:|--:|--:|--:|---|")
    for name, stated, parameters, steps, least in cases(names):
        begin = perf_counter()
        found = stated.solve(parameters, steps or None)
        seconds, attrs = perf_counter() - begin, found.data.attrs
        told = attrs.get("contact_sequence") or f"in steps alone: {attrs.get('not_exact', '')}"
        in_steps = attrs.get("objective_in_steps", found.objective)
        exact = found.objective if "contact_sequence" in attrs else np.nan
        count = steps or stated.horizon.steps
        figures = f"{in_steps:.4f} | {exact:.9g} | {least:.9g} | {seconds:.1f}"
        print(f"| {name} | {count} | {figures} | {told} |", flush=True)


if __name__ == "__main__":
    shipped = ["hopper", "push_block", "biped_step", "sit_to_stand"]
    main(sys.argv[1:] or ["lift", "turn", "bounce", "gait", *shipped])
