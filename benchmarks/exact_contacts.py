"""Optima through contact in steps and exact, beside their closed forms: costs and seconds.

A lift from a floor, and two of them with a wait between; slip that turns round, a sled that stands
until it is drawn, a cart that bounces, a ball that is caught and thrown, a block that is pushed; a
hopper from rest to rest and in a gait, and other shipped problems.
python benchmarks/exact_contacts.py [lift two_lifts turn stand bounce catch push_block hopper ...]
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
    Parameter,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    Cost,
    During,
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    NodeSample,
    Optimization,
    Periodic,
    Quintic,
    StartAt,
    Straight,
    Through,
)

G = 9.81
HELD = 0.9 * G  # [N] friction of a sled of 1 kg
MASSES = {"hand": 1.0, "ball": 0.5}  # [kg]


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


def two_lifts() -> Optimization:
    """Return the same mass, to be at 1 m after 2 s and after 5 s; in between it falls."""
    ends = [StartAt([0.0], [0.0]), During(EndAt([1.0]), 0.4), EndAt([1.0], [np.nan])]
    guess = Through([[0.0], [1.0], [0.0], [0.0], [1.0]], [0, 0.4, 0.5, 0.8, 1])
    return replace(lift(), horizon=Horizon(5.0), conditions=ends, guess=guess)


def stand() -> Optimization:
    """Return a sled of 1 kg, drawn by 1 m within 2 s to 1 m/s against friction of 0.9 m g."""
    body, force = Body("sled", 1.0, point_mass=True), Parameter("force", 0.0)
    law = ContactLaw(friction=HELD / G)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=law, planar=True)
    draw = AppliedForce("draw", Frame(body), (force, 0.0, 0.0))
    d = assemble(Mechanism([body], coordinates="relative"), [floor, draw], gravity=(0, 0, -G))
    ends = [StartAt(np.zeros(3), np.zeros(3)), EndAt([1.0, 0, 0], [1.0, 0, 0])]
    guess, cost = Straight(np.zeros(3), [1.0, 0, 0]), InputEffort(input="force")
    return Optimization(d, Horizon(2.0), [cost], ends, guess, inputs=["force"])


def least_stand() -> float:
    """Return the least cost of `stand`: it moves for a time at the end, by a cubic."""

    def cost(time: float) -> float:
        return compute_effort(1.0, 1.0, 0.0, 1.0, time, HELD)

    bounded = {"bounds": (0.2, 2), "method": "bounded", "options": {"xatol": 1e-12}}
    return float(minimize_scalar(cost, **bounded).fun)


def catch() -> Optimization:
    """Return a hand of 1 kg on a rail that a ball of 0.5 kg meets at 2 m/s from 1 m away.

    Without restitution. After 2 s the ball is to be at 2 m, the hand at 0.3 m.
    """
    along, bodies = (1.0, 0.0, 0.0), [Body(x, m, (1.0, 1.0, 1.0)) for x, m in MASSES.items()]
    ground = Frame(GROUND, (0, 0, 0), along)
    hand, ball = (Frame(x, (0, 0, 0), along) for x in bodies)
    rails = [Prismatic("arm", ground, hand), Prismatic("flight", ground, ball)]
    mechanism = Mechanism(bodies, rails, "relative", [Actuator("arm")])
    d = assemble(mechanism, [PlaneContact("palm", hand, ball)])
    ends = [StartAt([0.0, 1.0], [0.0, -2.0]), EndAt([0.3, 2.0], [np.nan] * 2)]
    guess = Through([[0.0, 1.0], [0.0, 0.1], [0.5, 0.5], [0.3, 2.0]], [0, 0.3, 0.6, 1])
    return Optimization(d, Horizon(2.0), [Effort()], ends, guess)


def least_catch() -> float:
    """Return the least cost of `catch`: to the ball, with it, and back, by cubics."""
    hand, ball = MASSES.values()
    both = hand + ball

    def cost(x: np.ndarray) -> float:
        to, speed, held, thrown_at = x
        met_at, rest = 1 - 2 * to, 2 - to - held
        caught, thrown = (hand * speed - 2 * ball) / both, (2 - thrown_at) / rest
        back = 3 * (hand * (0.3 - thrown_at - thrown * rest)) ** 2 / rest**3
        there = compute_effort(hand, met_at, 0.0, speed, to)
        return there + compute_effort(both, thrown_at - met_at, caught, thrown, held) + back

    exactly = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 5000}
    return float(minimize(cost, [0.5, 0.2, 0.8, 0.5], method="Nelder-Mead", options=exactly).fun)


def least_push() -> float:
    """Return the least cost of `push_block`: a run-up, then a push until both are at rest."""
    finger, both, drag = 0.5, 1.5, 0.3 * G

    def cost(x: np.ndarray) -> float:
        run, speed = x
        push = compute_effort(both, 0.3, finger / both * speed, 0.0, 1 - run, drag)
        return compute_effort(finger, 0.1, 0.0, speed, run) + push

    exactly = {"xatol": 1e-10, "fatol": 1e-12}
    return float(minimize(cost, [0.2, 1.0], method="Nelder-Mead", options=exactly).fun)


def compute_effort(
    mass: float, way: float, before: float, after: float, time: float, drag: float = 0.0
) -> float:
    """Return the least integral of F^2 over a way between two speeds: F is linear in time."""
    A = np.array([[time, time**2 / 2], [time**2 / 2, time**3 / 6]])
    c = np.linalg.solve(A, [after - before, way - before * time])
    first, last = mass * c[0] + drag, mass * (c[0] + c[1] * time) + drag
    return float(time * (first**2 + first * last + last**2) / 3)


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
        elif name == "two_lifts":
            yield from ((name, two_lifts(), {}, n, 2 * closed) for n in (25, 50, 100))
        elif name == "stand":
            yield from ((name, stand(), {}, n, least_stand()) for n in (25, 50, 100))
        elif name == "catch":
            yield from ((name, catch(), {}, n, least_catch()) for n in (25, 50, 100))
        elif name == "gait":
            yield name, gait(), {}, 0, np.nan
        elif name == "bounce":
            stated = load_optimization(name)
            for e in (0.0, 0.5, 1.0):
                yield f"{name} {e:g}", stated, {"restitution": e}, 20, least_bounce(e)
        else:
            least = least_push() if name == "push_block" else np.nan
            yield name, load_optimization(name), {}, 0, least


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
    closed = ["lift", "two_lifts", "turn", "stand", "bounce", "catch"]
    main(sys.argv[1:] or [*closed, "gait", *shipped])
