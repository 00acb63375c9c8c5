"""Many states stepped at once: `batch_step` beside MuJoCo's rollout, in one run on one thread.

Case A, a pendulum in a hinge with clearance, each state turning at another rate; and ur5 from its
URDF file, each state under other torques. Processor's time; MuJoCo is left out if it is not
installed: ``pip install 'nsopt[bench]'``. A reset is
that of a state to a start of its own, checked as by `simulate`.
"""

from __future__ import annotations

import argparse
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import partial
from importlib import import_module
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from common import Array, cpu_seconds, in_turn, machine, ratio, settle, table
from engines import ARM, MUJOCO, mujoco_model
from scipy.integrate import solve_ivp
from ur5_peers import START, file

from nsopt import (
    JointDrives,
    Parameter,
    Revolute,
    RungeKutta,
    Start,
    Turn,
    Variational,
    assemble,
    batch_step,
    load_problem,
)
from nsopt.robots import load_urdf
from nsopt.schemes import Scheme

H, SUBSTEPS, CALLS = 1e-3, 10, 10  # s
RATE, TORQUE = 2.0, 5.0  # rad/s, N m
RESETS = 200


class Way(NamedTuple):
    """A batch at its start: what steps it, coordinates at the end (n, nq), time of a reset [us]."""

    step: Callable[[], None]
    end: Callable[[], Array]
    begin: Callable[[], None]
    reset: Callable[[], float] | None = None


def rates(n: int) -> Array:
    """Return the rates of case A."""
    return np.random.default_rng(0).uniform(-RATE, RATE, n)


def torques(n: int) -> Array:
    """Return the torques on ur5 (n, 6)."""
    return np.random.default_rng(1).uniform(-TORQUE, TORQUE, (n, 6))


# nsopt


def pendulums(n: int, finer: int = 1) -> Way:
    """Return case A, with steps that many times finer."""
    problem, h, substeps = load_problem("case_a"), H / finer, SUBSTEPS * finer
    batch = batch_step(problem.dynamics, n, h, substeps=substeps, start=problem.start)
    q = batch.q[0]
    starts = [Start(q, np.array([0.0, ARM * w, 0.0, 0.0, 0.0, w])) for w in rates(n)]

    def step() -> None:
        for _ in range(CALLS):
            batch.step()

    def reset() -> float:
        return _each(lambda: batch.reset(0, starts[-1]))

    return Way(step, lambda: batch.q, lambda: batch.reset(slice(None), starts), reset)


def arms(scheme: Scheme, n: int) -> Way:
    """Return ur5, its torques Parameters."""
    robot = load_urdf(file(), merge_fixed=True)
    names = [f"torque{k}" for k in range(6)]
    motors = JointDrives(
        "motors",
        [Turn(*joint.frames) for joint in robot.joints if isinstance(joint, Revolute)],
        lambda _t, _q, _v, given: given,
        [Parameter(name, 0.0) for name in names],
    )
    dynamics = assemble(robot, [motors], gravity=(0.0, 0.0, -9.81))
    start = Start(START, np.zeros(6))
    batch = batch_step(dynamics, n, H, substeps=SUBSTEPS, start=start, scheme=scheme)
    given = dict(zip(names, torques(n).T, strict=True))

    def step() -> None:
        for _ in range(CALLS):
            batch.step(given)

    def reset() -> float:
        return _each(lambda: batch.reset(0, start))

    return Way(step, lambda: batch.q, lambda: batch.reset(slice(None)), reset)


def _each(call: Callable[[], None]) -> float:
    """Return the time of one of many calls [us]."""
    return 1e6 * cpu_seconds(lambda: [call() for _ in range(RESETS)])[1] / RESETS


# MuJoCo


def rolled(model: Any, v: Array, q: Array | None, forces: Array | None) -> Way:
    """Return states with velocities v (n, nv) and forces (n, nv), stepped by its rollout."""
    mujoco, rollout = import_module("mujoco"), import_module("mujoco.rollout")
    data, n = mujoco.MjData(model), len(v)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    first = np.empty(mujoco.mj_stateSize(model, kind))
    if q is not None:
        data.qpos[:] = q
    mujoco.mj_getState(model, data, first, kind)
    start = np.tile(first, (n, 1))
    start[:, 1 + model.nq : 1 + model.nq + model.nv] = v
    now = [start]
    given = None if forces is None else np.repeat(forces[:, None], SUBSTEPS, axis=1)
    options: dict[str, Any] = {"nstep": SUBSTEPS}
    if given is not None:
        options |= {"control": given, "control_spec": mujoco.mjtState.mjSTATE_QFRC_APPLIED}

    def step() -> None:
        for _ in range(CALLS):
            states, _sensors = rollout.rollout(model, data, now[0], **options)
            now[0] = states[:, -1]

    def begin() -> None:
        now[0] = start

    return Way(step, lambda: now[0][:, 1 : 1 + model.nq], begin)


def mujoco_pendulums(name: str, n: int) -> Way:
    """Return case A by tendons."""
    integrator, solref = MUJOCO[name]
    model = mujoco_model(import_module("mujoco"), H, integrator, solref(H))
    w = rates(n)
    v = np.zeros((n, 6))
    v[:, 1], v[:, 5] = ARM * w, w
    return rolled(model, v, None, None)


def mujoco_arms(integrator: str, n: int) -> Way:
    """Return ur5 from the same file, without its pictures and collisions."""
    tree = ET.parse(file())
    for link in tree.getroot().iter("link"):
        for part in ("visual", "collision"):
            for found in link.findall(part):
                link.remove(found)
    for joint in tree.getroot().iter("joint"):
        for dynamics in joint.findall("dynamics"):
            joint.remove(dynamics)
    model = import_module("mujoco").MjModel.from_xml_string(ET.tostring(tree.getroot()).decode())
    kind = import_module("mujoco").mjtIntegrator
    model.opt.timestep, model.opt.integrator = H, getattr(kind, f"mjINT_{integrator}")
    model.jnt_limited[:] = 0
    return rolled(model, np.zeros((n, 6)), START, torques(n))


# What is true


def true_pendulums(n: int) -> Array:
    """Return the coordinates of case A at the end, by steps a tenth as long."""
    way = pendulums(n, finer=10)
    way.begin()
    way.step()
    return way.end()


def true_arms(n: int) -> Array:
    """Return the coordinates of ur5 at the end, by SciPy with pinocchio's forward dynamics."""
    pin: Any = import_module("pinocchio")
    model = pin.buildModelFromUrdf(file())
    data, start = model.createData(), np.concatenate([START, np.zeros(6)])

    def end(torque: Array) -> Array:
        def rate(_: float, x: Array) -> Array:
            return np.concatenate([x[6:], pin.aba(model, data, x[:6], x[6:], torque)])

        span = (0.0, H * SUBSTEPS * CALLS)
        return np.asarray(solve_ivp(rate, span, start, rtol=1e-10, atol=1e-12).y[:6, -1])

    return np.array([end(torque) for torque in torques(n)])


def compare(
    title: str, n: int, ways: dict[str, Callable[[int], Way]], true: Array, repeats: int
) -> None:
    """Print one mechanism."""
    made: dict[str, Way] = {}
    for name, make in ways.items():
        try:
            made[name] = make(n)
        except ImportError as error:
            print(f"{name} is left out: {error}")

    def timed(way: Way) -> float:
        way.begin()
        return 1e6 * cpu_seconds(way.step)[1] / (n * SUBSTEPS * CALLS)

    for name, way in made.items():
        if name.startswith("nsopt"):
            settle(lambda w=way: timed(w))
    times = in_turn({name: lambda w=way: timed(w) for name, way in made.items()}, repeats)
    base, ends = next(iter(times.values())), {name: way.end() for name, way in made.items()}
    head = [f"{title}, {n} states", "us a state and step", "over the first", "us a reset"]
    head += ["largest error of a coordinate"]
    rows = [
        [
            name,
            f"{median(values):.2f}",
            f"{ratio(values, base):.2f}",
            f"{reset():.0f}" if (reset := made[name].reset) else "",
            f"{np.abs(ends[name] - true).max():.1e}",
        ]
        for name, values in times.items()
    ]
    print("\n" + table(head, rows))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(machine())
    tendons = {name: partial(mujoco_pendulums, name) for name in MUJOCO}
    robots = {f"MuJoCo, {name}": partial(mujoco_arms, name.upper()) for name in ("Euler", "RK4")}
    own = {f"nsopt, {type(x).__name__}": partial(arms, x) for x in (Variational(), RungeKutta())}
    for n in options.states:
        compare("case A", n, {"nsopt": pendulums, **tendons}, true_pendulums(n), options.repeats)
        compare("ur5", n, {**own, **robots}, true_arms(n), options.repeats)


if __name__ == "__main__":
    main()
