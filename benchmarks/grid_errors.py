"""Errors that optima tell of their grids, beside true ones: of smooth ones, limited ones, contact.

True errors are those from closed forms, or from the same optimum in four times the finest grid.
python benchmarks/grid_errors.py [name ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from common import machine, table
from exact_contacts import G, least_turn, lift, turn

from nsopt import GROUND, Actuator, Body, Check, Frame, Mechanism, Prismatic, Revolute, assemble
from nsopt.mechanics import Dynamics
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    AccelerationLimits,
    Duration,
    Effort,
    EndAt,
    Horizon,
    JerkLimits,
    Optimization,
    Quintic,
    StartAt,
    Straight,
    Within,
)

FASTEST = 1.3  # m/s
HEAD = ("optimum", "steps", "objective", "told", "true", "told over true", "order seen")


def cart() -> Dynamics:
    """Return a cart of 1 kg with a drive."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(body))
    return assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]))


def double_integrator(steps: int) -> Optimization:
    """Return 1 m from rest to rest within 1 s, no faster than 1.3 m/s."""
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [0.0]), Within("rail.speed", upper=FASTEST)]
    return Optimization(cart(), Horizon(1.0, steps), [Effort()], ends, Straight([0.0], [1.0]))


def jerk_limits(steps: int) -> Optimization:
    """Return 1 m from rest to rest in least time, to 1.2 m/s, 4 m/s^2 and 16 m/s^3."""
    conditions = [
        *(StartAt([0.0], [0.0], [0.0]), EndAt([1.0], [0.0], [0.0])),
        *(Within("rail.speed", upper=1.2), AccelerationLimits(4.0), JerkLimits(16.0)),
    ]
    horizon = Horizon((0.5, 3.0), steps)
    return Optimization(cart(), horizon, [Duration()], conditions, Quintic([0.0], [1.0], 1.5))


def cart_pole(steps: int) -> Optimization:
    """Return a pole on a cart, swung up from below within 2 s with least effort."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    pole = Body("pole", 0.3, (1e-3, 1e-3, 1e-3), position=(0.0, -0.5, 0.0))
    along = (1.0, 0.0, 0.0)
    rail = Prismatic("rail", Frame(GROUND, (0, 0, 0), along), Frame(body, (0, 0, 0), along))
    hinge = Revolute("hinge", Frame(body), Frame.at(pole, (0.0, 0.0, 0.0)))
    drives = [Actuator("rail")]
    d = assemble(Mechanism([body, pole], [rail, hinge], "relative", drives), (), (0, -G, 0))
    ends = [StartAt([0.0, 0.0], [0.0, 0.0]), EndAt([1.0, np.pi], [0.0, 0.0])]
    return Optimization(d, Horizon(2.0, steps), [Effort()], ends, Straight([0, 0], [1.0, np.pi]))


def named(name: str) -> Callable[[int], Optimization]:
    """Return what states a shipped problem in so many steps."""
    stated = load_optimization(name)
    return lambda steps: with_steps(stated, steps)


def with_steps(stated: Optimization, steps: int) -> Optimization:
    """Return a problem in another number of steps."""
    return replace(stated, horizon=replace(stated.horizon, steps=steps))


RISES = 3 * (FASTEST - 1) / (2 * FASTEST)  # s, until the cart is that fast
CASES: dict[str, tuple[Callable[[int], Optimization], float | None]] = {
    "double integrator": (double_integrator, 8 * FASTEST**2 / (3 * RISES)),
    "Bryson-Denham": (named("bryson_denham"), 4.0),
    "brachistochrone": (named("brachistochrone"), None),
    "cart with jerk limits": (jerk_limits, 1 / 1.2 + 1.2 / 4 + 4 / 16),
    "cart-pole": (cart_pole, None),
    "lift": (lambda steps: with_steps(lift(), steps), 48 / np.sqrt(6 / G) ** 3),
    "turn": (lambda steps: with_steps(turn(), steps), least_turn()),
    "hopper": (named("hopper"), None),
}
"""What states each case, and its least cost where that is known in closed form."""

STEPS = 20, 50, 100, 200

SOLVED = 1e-7
"""Error of an objective, over itself, that solvers leave: no smaller one is told."""


def measure(names: list[str]) -> Iterator[list[str]]:
    """Yield the rows of the table."""
    for name in names:
        state, closed = CASES[name]
        counts = (40, 80) if name == "hopper" else STEPS
        finest = 4 * counts[-1]
        true = state(finest).solve().objective if closed is None else closed
        for steps in counts:
            best = state(steps).solve(check=Check(seconds=np.inf))
            off, attrs = abs(best.objective - true), best.data.attrs
            told = attrs.get("objective_error", np.nan)
            least = told <= 1.01 * SOLVED * abs(best.objective)  # what solvers leave
            ratio = "" if least else f"{told / off:.2g}"
            order = attrs.get("objective_order", np.nan)
            seen = f"{order:.2g}" if np.isfinite(order) else ""
            yield [
                name,
                str(steps),
                f"{best.objective:.9g}",
                f"{told:.2g}",
                f"{off:.2g}",
                ratio,
                seen,
            ]


if __name__ == "__main__":
    print(machine())
    print(table(HEAD, [*measure(sys.argv[1:] or [*CASES])]))
