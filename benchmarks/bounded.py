"""The figures that `bounds` compares with their bounds, a function each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import casadi as ca
import numpy as np
from chains import mujoco_runner, nsopt_runner
from common import THETA, in_turn, off, slope, turn
from exact_contacts import cases
from falling_robots import (
    DURATION,
    PEERS,
    SCHEMES,
    SIZES,
    ours,
    peer,
    start_of,
    stated,
    wanted_size,
)
from peers import installed
from scaling import chain

from nsopt import (
    GROUND,
    Body,
    ContactLaw,
    Driven,
    Dynamics,
    Frame,
    JointDrives,
    Mechanism,
    PlaneContact,
    Prismatic,
    PrismaticClearance,
    Revolute,
    Slide,
    SphereContact,
    StepBounds,
    assemble,
    load_problem,
    simulate,
)
from nsopt.kernels import compile_kernels

ROOT = Path(__file__).resolve().parents[1]
G = 9.81
RUNS = 5  # of what is timed, in turn


# Starts: processes of their own, numbers of mechanisms from the command line


def links(count: int) -> Dynamics:
    """Return ``count`` parallelograms in a row, in coordinates that are absolute."""
    inertia = (0.01, 0.01, 0.01)
    posts = [Body(f"post{i}", 1.0, inertia, position=(i, 0.5, 0)) for i in range(count + 1)]
    bars = [Body(f"bar{i}", 1.0, inertia, position=(i + 0.5, 1, 0)) for i in range(count)]
    joints = [
        Revolute(f"foot{i}", Frame(GROUND, (i, 0, 0)), Frame.at(post, (i, 0, 0)))
        for i, post in enumerate(posts)
    ]
    for i, bar in enumerate(bars):
        for side, x in ((0, i), (1, i + 1)):
            top = (x, 1, 0)
            frames = Frame.at(posts[i + side], top), Frame.at(bar, top)
            joints.append(Revolute(f"top{i}{side}", *frames))
    return assemble(Mechanism([*posts, *bars], joints, "absolute"), gravity=(3.0, -G, 0))


def guide(friction: float) -> Dynamics:
    """Return a body in a rectangular guide with clearance and friction."""
    corners = ((0.02, 0.015), (-0.02, 0.015), (-0.02, -0.015), (0.02, -0.015))
    body = Body("body", 1.0, (0.01, 0.02, 0.02), position=(0.1, 0, 0))
    sizes: dict[str, Any] = {"length": 0.1, "clearance": 1e-3}
    law = ContactLaw(friction=friction)
    frames = Frame(GROUND), Frame.at(body, (0, 0, 0))
    held = PrismaticClearance("guide", *frames, corners, law=law, **sizes)
    return assemble(Mechanism([body]), [held], (0, -G, 0))


STARTED: dict[str, Callable[[float], Dynamics]] = {
    "5 worn hinges": lambda mass: chain(5, mass),
    "20 worn hinges": lambda mass: chain(20, mass),
    "50 worn hinges": lambda mass: chain(50, mass),
    "parallelograms of 15 bodies": lambda _: links(7),
    "guide with friction": lambda _: guide(0.3),
    "ur5": lambda _: stated("ur5_robot"),
}
"""Mechanisms, of which those with worn hinges have bodies of any mass [kg]."""


def print_starts(name: str) -> None:
    """Print the processor's seconds to the first steps of a mechanism, then of another mass."""
    compile_kernels()  # once a machine
    for mass in (1.0, 1.1):
        begin = process_time()
        made = STARTED[name](mass)
        begin_at = start_of(made) if name == "ur5" else None
        steps = StepBounds(1e-6, 1e-3)
        result = simulate(made, begin_at, 0.002, steps=steps, check=None, progress=False)
        if not result.completed:
            raise RuntimeError(result.data.attrs["stop_reason"])
        print(json.dumps(process_time() - begin))


def start(name: str, again: bool = False) -> float:
    """Return the seconds to the first steps with an empty cache, or then those of another mass."""
    with TemporaryDirectory() as folder:
        place = {**os.environ, "NSOPT_CACHE": folder}
        call = [sys.executable, __file__, name]
        done = subprocess.run(call, env=place, check=True, capture_output=True, text=True)
    return float(done.stdout.splitlines()[-1 if again else -2])


def spend(*words: str) -> float:
    """Return the processor's seconds of a command, the least of several."""
    code = "import resource as r, subprocess, sys; subprocess.run(sys.argv[1:], stdout=-3);"
    code += "u = r.getrusage(r.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime)"
    call = [sys.executable, "-c", code, *words]
    return min(float(subprocess.check_output(call, text=True)) for _ in range(RUNS))


# Steps


def case_a() -> float:
    """Return the time of a step of case A over that of MuJoCo's tendons by Euler's rule."""
    engines = installed(1e-3)
    names = ("nsopt Variational", "MuJoCo tendons, Euler")
    times = in_turn({name: engines[name].seconds for name in names}, 10 * RUNS)
    return min(times[names[0]]) / min(times[names[1]])


def worn_chain(n: int) -> float:
    """Return the same of a chain of n worn hinges."""
    times = in_turn({"ours": nsopt_runner(n).seconds, "peer": mujoco_runner(n).seconds}, RUNS)
    return min(times["ours"]) / min(times["peer"])


def growth() -> float:
    """Return the exponent of the time of a step over the number of worn hinges, 5 to 200."""
    sizes = [5, 10, 20, 50, 100, 200]
    return slope(sizes, [min(nsopt_runner(n).seconds() for _ in range(2)) for n in sizes])


@cache
def falls(name: str) -> tuple[float, float]:
    """Return a falling robot's step over MuJoCo's Euler's, and the run at 1e-4 over its RK4's."""
    d = stated(name)
    begin = start_of(d)
    engines = {key: ours(d, begin, SCHEMES[key]) for key in ("ExplicitMidpoint", "RungeKutta")}
    engines |= {key: peer(d, begin, rule) for key, rule in PEERS.items()}
    times = in_turn({key: x.seconds for key, x in engines.items()}, RUNS)
    exact = engines["RungeKutta"].end(SIZES[-1])
    spent = {
        key: min(times[key]) * DURATION / wanted_size(engines[key], exact)[0]
        for key in ("RungeKutta", "MuJoCo RK4")
    }
    least = {key: min(x) for key, x in times.items()}
    a_step = least["ExplicitMidpoint"] / least["MuJoCo Euler"]
    return a_step, spent["RungeKutta"] / spent["MuJoCo RK4"]


# Contact to its order


def driven_impact(h: float = 1e-2) -> float:
    """Return by how much the speed after driven impacts is off its closed form [m/s]."""
    w, s, v0 = 2.2, 0.1, -0.714023071494247
    body = Body("mass", 1.0, (1.0, 1.0, 1.0), position=(s - 1e-9, 0, 0), velocity=(1.02 * v0, 0, 0))
    along = (1.0, 0.0, 0.0)
    rail = Prismatic("rail", Frame(GROUND, (0, 0, 0), along), Frame(body, (0, 0, 0), along))
    drive = JointDrives(
        "drive",
        [Slide(rail.a, rail.b)],
        lambda t, q, _: ca.cos(w * t + 2.713175414699495) - q[0],
    )
    wall, law = Frame(GROUND, (s, 0, 0), (-1.0, 0, 0)), ContactLaw(restitution=0.6)
    d = assemble(
        Mechanism([body], [rail], "relative"),
        [PlaneContact("stop", wall, Frame(body), law=law), drive],
    )
    steps, periods = StepBounds(1e-6, h), 80 * 2 * np.pi / w
    r = simulate(d, duration=periods, steps=steps, check=None, progress=False)
    hits = np.flatnonzero(r["impulse"].values[:, 0] > 1e-3)[-30:]
    return float(abs(r["v"].values[hits, 0].mean() - v0))


def turntable(h: float = 4e-3) -> float:
    """Return by how much a block that sticks on a turntable creeps out in 10 s [m]."""
    R, w = 0.4, 2.0
    plate = Body("plate", 5.0, (1, 1, 1.0), angular_velocity=(0, 0, w))
    block = Body("block", 0.5, point_mass=True, position=(R, 0, 0), velocity=(0, w * R, 0))
    hub = Revolute("hub", Frame(GROUND), Frame(plate))
    top = PlaneContact("top", Frame(plate), Frame(block), law=ContactLaw(friction=0.5))
    turned = Mechanism([plate, block], [hub, Driven("motor", hub, w)], "relative")
    d = assemble(turned, [top], (0, 0, -G))
    r = simulate(d, duration=10.0, steps=StepBounds(1e-6, h), check=None, progress=False)
    x, y, _ = r["body_position"].sel(body="block").values[-1]
    return float(abs(np.hypot(x, y) - R))


def two_balls(gap: float) -> float:
    """Return how far a small ball on a large one is from leaving at twice the speed of the fall."""
    R, r, H = 0.1, 0.05, 0.5
    big = Body("big", 3.0, (0.01, 0.01, 0.01), position=(0, 0, R + H))
    small = Body("small", 1.0, (1e-3, 1e-3, 1e-3), position=(0, 0, 2 * R + r + H + gap))
    bodies = [big, small]
    rails = [Prismatic(f"rail {x.name}", Frame(GROUND, x.position), Frame(x)) for x in bodies]
    law = ContactLaw(restitution=1.0)
    floor = PlaneContact("floor", Frame(GROUND), Frame(big), radius=R, law=law)
    balls = SphereContact("balls", Frame(big), Frame(small), R, radius=r, law=law)
    d = assemble(Mechanism(bodies, rails, "relative"), [floor, balls], gravity=(0, 0, -G))
    after, steps = 0.03, StepBounds(1e-7, 5e-4)
    fall = np.sqrt(2 * H / G)
    end = simulate(d, duration=fall + after, steps=steps, check=None, progress=False)["v"].values[
        -1
    ]
    return float(abs((end[1] + G * after) / (G * fall) - 2))


# Errors


def cost_of_check(name: str) -> float:
    """Return the seconds that the check of a named problem's run takes more than it may."""
    problem = load_problem(name)

    def run(**how: Any) -> float:
        begin = perf_counter()
        simulate(problem.dynamics, problem.start, problem.duration, steps=problem.steps, **how)
        return perf_counter() - begin

    plain, checked = run(check=None, progress=False), run(progress=False)
    return checked - max(1.5 * plain, plain + 5.0)


def accuracy(goal: float) -> float:
    """Return the error of case A's angle after 2 s, over the part of its swing that was asked."""
    problem = load_problem("case_a")
    found = simulate(problem.dynamics, problem.start, 2.0, accuracy=goal, progress=False)
    return abs(off(turn(found), THETA)) / (goal * np.pi)


# Optima


@cache
def optimum(name: str) -> tuple[float, float, float]:
    """Return the largest distance from the least cost (relative), the cost and the seconds."""
    away, cost, seconds = 0.0, np.nan, 0.0
    for _, problem, parameters, steps, least in cases([name]):
        begin = perf_counter()
        found = problem.solve(parameters, steps or None)
        if not found.completed:
            raise RuntimeError(found.data.attrs["stop_reason"])
        seconds, cost = max(seconds, perf_counter() - begin), found.objective
        away = max(away, abs(cost / least - 1)) if np.isfinite(least) else np.nan
    return away, cost, seconds


if __name__ == "__main__":
    print_starts(sys.argv[1])
