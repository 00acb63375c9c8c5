"""Chains of pendulums on worn hinges beside MuJoCo, in one run.

In nsopt each hinge has two radial and two axial gaps; in MuJoCo each bushing end hangs on a tendon
no longer than the clearance, without stops along the pin (`engines`). Held out level, each chain
falls for a quarter of a second in steps of 0.25 ms. Times are the least of several runs in turn,
after code is compiled, without Python.
"""

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from common import machine, table
from engines import ARM, CLEARANCE, GRAVITY, HALF, INERTIA, MASS, MUJOCO
from scaling import COUNT, STEP, chain

from nsopt import Compiled, StepBounds, Variational, simulate

SIZES, REPEATS = [1, 2, 5, 10, 20], 5
PINS = np.array([[ARM, 0.0, z] for z in (-HALF, HALF)])  # on the body before, m from its centre
BUSHINGS = PINS - [2 * ARM, 0.0, 0.0]


class Figures(NamedTuple):
    """Results: depth beyond the clearance [m], energy gained over the kinetic energy."""

    depth: float
    gained: float


class Runner(NamedTuple):
    """An engine ready to run: seconds a step of one run; what the motion came to."""

    seconds: Callable[[], float]
    figures: Callable[[], Figures]


def nsopt_runner(n: int) -> Runner:
    """Return the variational step, compiled."""
    dynamics = chain(n)
    how: dict[str, Any] = {"scheme": Variational(), "solver": Compiled(), "progress": False}
    run = partial(simulate, dynamics, duration=COUNT * STEP, steps=StepBounds(STEP, STEP), **how)

    def seconds() -> float:
        times = run().data["solve_time"].values[1:]
        return float(times.min())

    def figures() -> Figures:
        data = run().data
        kinetic = float(data["kinetic_energy"].values.max())
        total = (data["kinetic_energy"] + data["potential_energy"]).values
        return Figures(float(data["gap_violation"].max()), (total[-1] - total[0]) / kinetic)

    return Runner(seconds, figures)


def mujoco_runner(n: int, name: str = "MuJoCo tendons, Euler") -> Runner:
    """Return MuJoCo's tendons; timed is one call that steps in C and keeps nothing."""
    mujoco = import_module("mujoco")
    integrator, solref = MUJOCO[name]
    limit = f'limited="true" solreflimit="{solref(STEP)}" solimplimit="0.99 0.999 0.0001"'
    inertia = " ".join(map(str, INERTIA))
    world, tendons = "", ""
    for k, z in enumerate(PINS[:, 2]):
        world += f'<site name="pin0_{k}" pos="0 0 {z}"/>'
    for body in range(n):
        sites = ""
        for k, (pin, end) in enumerate(zip(PINS, BUSHINGS, strict=True)):
            sites += f'<site name="end{body}_{k}" pos="{end[0]} 0 {end[2]}"/>'
            sites += f'<site name="pin{body + 1}_{k}" pos="{pin[0]} 0 {pin[2]}"/>'
            through = f'<site site="pin{body}_{k}"/><site site="end{body}_{k}"/>'
            tendons += f'<spatial range="0 {CLEARANCE}" {limit}>{through}</spatial>'
        world += (
            f'<body pos="{body + ARM} 0 0"><freejoint/><inertial pos="0 0 0" mass="{MASS}" '
            f'diaginertia="{inertia}"/>{sites}</body>'
        )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" gravity="0 {-GRAVITY} 0" integrator="{integrator}">'
        f'<flag contact="disable" energy="enable"/></option><worldbody>{world}</worldbody>'
        f"<tendon>{tendons}</tendon></mujoco>"
    )

    def seconds() -> float:
        data = mujoco.MjData(model)
        begin = process_time()
        mujoco.mj_step(model, data, nstep=COUNT)
        return (process_time() - begin) / COUNT

    def figures() -> Figures:
        data, deepest = mujoco.MjData(model), 0.0
        mujoco.mj_forward(model, data)
        first, kinetic = sum(data.energy), 0.0
        for _ in range(COUNT):
            mujoco.mj_step(model, data)
            deepest = max(deepest, float(data.ten_length.max()) - CLEARANCE)
            kinetic = max(kinetic, float(data.energy[1]))
        mujoco.mj_forward(model, data)
        return Figures(deepest, (sum(data.energy) - first) / kinetic)

    return Runner(seconds, figures)


def row(n: int) -> list[str]:
    """Return what nsopt and MuJoCo come to on a chain of n pendulums, and the ratio of times."""
    ours, theirs = nsopt_runner(n), mujoco_runner(n)
    seconds = [[run.seconds() for run in (ours, theirs)] for _ in range(REPEATS)]
    (a, b), (x, y) = np.min(seconds, axis=0), (ours.figures(), theirs.figures())
    times = [f"{1e6 * a:.3g}", f"{1e6 * a / n:.2g}", f"{1e6 * b:.3g}", f"{a / b:.2f}"]
    depths = [f"{100 * max(f.depth, 0) / CLEARANCE:.2g} %" for f in (x, y)]
    return [str(n), *times, *depths, *(f"{f.gained:+.1e}" for f in (x, y))]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    print(machine())
    head = ["n", "nsopt [us]", "a body", "MuJoCo [us]", "ratio", "nsopt: depth / c", "MuJoCo"]
    head += ["nsopt: energy gained / kinetic", "MuJoCo"]
    print(table(head, [row(n) for n in options.sizes]))


if __name__ == "__main__":
    main()
