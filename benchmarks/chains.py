"""Chains of pendulums on worn hinges beside MuJoCo and Exudyn, in one run.

In nsopt each hinge has two radial and two axial gaps; in MuJoCo each bushing end hangs on a tendon
no longer than the clearance, in Exudyn it is in a hollow sphere of penalty, both without stops
along the pin (`engines`). Held out level, each chain falls for a quarter of a second in steps of
0.25 ms. Times are of the thread that steps (numpy's products leave others spinning), the least of
several runs in turn, after code is compiled.
Steps that Newton does not solve are other solvers', in seconds each: they are counted apart.
"""

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from time import thread_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from common import machine, table
from engines import (
    ARM,
    CLEARANCE,
    GRAVITY,
    HALF,
    INERTIA,
    MASS,
    MUJOCO,
    exudyn_body,
    exudyn_bushing,
    exudyn_settings,
)
from scaling import COUNT, STEP, chain

from nsopt import Compiled, StepBounds, Variational, simulate

SIZES, REPEATS = [1, 2, 5, 10, 20, 50], 5
DENSE = 3  # bodies up to which Exudyn's dense solver is the faster one
BY_OTHERS = 100  # of the median time, from which on a step is one by other solvers
PINS = np.array([[ARM, 0.0, z] for z in (-HALF, HALF)])  # on the body before, m from its centre
BUSHINGS = PINS - [2 * ARM, 0.0, 0.0]


class Figures(NamedTuple):
    """Results: depth beyond the clearance [m], energy gained over the kinetic energy."""

    depth: float
    gained: float
    others: str = ""  # steps by other solvers


class Runner(NamedTuple):
    """An engine ready to run: seconds a step of one run; what the motion came to."""

    seconds: Callable[[], float]
    figures: Callable[[], Figures]


def nsopt_runner(n: int) -> Runner:
    """Return the variational step, compiled."""
    dynamics = chain(n)
    how: dict[str, Any] = {"scheme": Variational(), "solver": Compiled(), "progress": False}
    run = partial(simulate, dynamics, duration=COUNT * STEP, steps=StepBounds(STEP, STEP), **how)
    last: list[Any] = []

    def by_others(times: np.ndarray) -> np.ndarray:
        return times > BY_OTHERS * np.median(times)

    def seconds() -> float:
        with patch("nsopt.simulation.chain.perf_counter", thread_time):  # not of the wall
            last[:] = [run().data]
        times = last[0]["solve_time"].values[1:]
        return float(times[~by_others(times)].mean())

    def figures() -> Figures:
        (data,) = last
        kinetic = float(data["kinetic_energy"].values.max())
        total = (data["kinetic_energy"] + data["potential_energy"]).values
        times = data["solve_time"].values[1:]
        slow = times[by_others(times)]
        others = f"{slow.size} ({slow.mean():.0f} s each)" if slow.size else "0"
        depth = float(data["gap_violation"].max())
        return Figures(depth, (total[-1] - total[0]) / kinetic, others)

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
        begin = thread_time()
        mujoco.mj_step(model, data, nstep=COUNT)
        return (thread_time() - begin) / COUNT

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


def exudyn_chain(exu: Any, n: int) -> tuple[Any, list[int], Any]:
    """Return a chain of n pendulums, the nodes of its bodies, and its owner."""
    item = import_module("exudyn.itemInterface")
    container = exu.SystemContainer()
    system = container.AddSystem()
    last, nodes = system.AddObject(item.ObjectGround(referencePosition=[-ARM, 0, 0])), []
    for k in range(n):
        node, body = exudyn_body(item, system, [k + ARM, 0, 0])
        nodes.append(node)
        for end, pin in zip(BUSHINGS, PINS, strict=True):
            exudyn_bushing(item, system, (body, end), (last, pin))
        last = body
    system.Assemble()
    return system, nodes, container


def exudyn_runner(n: int) -> Runner:
    """Return Exudyn's penalty with the generalized-alpha integrator, timed without output."""
    exu = import_module("exudyn")
    settings, output = exudyn_settings(exu, COUNT, COUNT * STEP), exu.OutputVariableType
    if n > DENSE:
        settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse

    def seconds() -> float:
        system, _, _owner = exudyn_chain(exu, n)
        begin = thread_time()
        system.SolveDynamic(settings)
        return (thread_time() - begin) / COUNT

    def figures() -> Figures:
        system, nodes, _owner = exudyn_chain(exu, n)
        energies, deepest = [], [0.0]

        def watch(*_: object) -> bool:
            kinetic = potential = 0.0
            pins = PINS - [ARM, 0, 0]  # on the ground
            for node in nodes:
                wanted = (output.Position, output.RotationMatrix, output.Velocity)
                r, A, v = (system.GetNodeOutput(node, kind) for kind in wanted)
                w, A = system.GetNodeOutput(node, output.AngularVelocityLocal), A.reshape(3, 3)
                ends = r + BUSHINGS @ A.T
                deepest[0] = max(
                    deepest[0], np.linalg.norm((ends - pins), axis=1).max() - CLEARANCE
                )
                pins = r + PINS @ A.T
                kinetic += (MASS * v @ v + (INERTIA * w) @ w) / 2
                potential += MASS * GRAVITY * r[1]
            energies.append((kinetic, kinetic + potential))
            return True

        system.SetPreStepUserFunction(watch)
        system.SolveDynamic(settings)
        watch()
        most, total = np.array(energies).max(axis=0)[0], np.array(energies)[:, 1]
        return Figures(deepest[0], float(total[-1] - total[0]) / most)

    return Runner(seconds, figures)


def row(n: int, repeats: int) -> list[str]:
    """Return what the engines come to on a chain of n pendulums, and the ratios of times."""
    runners = [nsopt_runner(n), mujoco_runner(n), exudyn_runner(n)]
    seconds = np.array([[run.seconds() for run in runners] for _ in range(repeats)])
    a, b, c = seconds.min(axis=0).tolist()
    times = [f"{1e6 * a:.3g}", f"{1e6 * a / n:.2g}", f"{1e6 * b:.3g}", f"{1e6 * c:.3g}"]
    found = [run.figures() for run in runners]
    depths = [f"{100 * max(f.depth, 0) / CLEARANCE:.2g} %" for f in found]
    gains = [f"{f.gained:+.1e}" for f in found]
    ratios = [f"{a / b:.2f}", f"{a / c:.2g}"]
    return [str(n), *times, *ratios, *depths, *gains, found[0].others]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    print(machine())
    head = ["n", "nsopt [us]", "a body", "MuJoCo [us]", "Exudyn [us]", "ratio", "ratio"]
    head += ["nsopt: depth / c", "MuJoCo", "Exudyn"]
    head += ["nsopt: energy gained / kinetic", "MuJoCo", "Exudyn"]
    head += ["steps by other solvers"]
    print(table(head, [row(n, options.repeats) for n in options.sizes]))


if __name__ == "__main__":
    main()
