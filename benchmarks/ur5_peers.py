"""ur5 from pose to pose with least effort: by nsopt, in plain CasADi, by crocoddyl, in one run.

Each control is simulated by SciPy with pinocchio's forward dynamics: how far from its end it leads,
and its effort. crocoddyl has no limits of positions and speeds and no condition at the end but
costs, both of a large weight here; it is left out if it is not there (``pip install crocoddyl``).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module, metadata
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from arm import Control, Plain, Solved, drives, end_error, ours
from common import Array, cpu_seconds, in_turn, machine, ratio, table

from nsopt import assemble
from nsopt.robots import load_urdf
from nsopt.trajectory import (
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    Optimization,
    PreparedOptimization,
    Quintic,
    StartAt,
)

DURATION, STEPS = 1.0, 100  # s
START = np.array([0.0, -1.2, 1.4, -1.8, -1.5, 0.0])  # rad
MOVED = (1.5, 0.4, -0.6, 0.5, 0.3, 0.8)  # rad
OTHER = (1.2, 0.6, -0.3, 0.0, 0.5, 0.4)  # rad
HELD, LIMITED = 1e6, 1e5
"""Weights of the end and of limits in crocoddyl, where an effort of 1 (N m)^2 s weighs a half."""
TINY = 1e-12
"""Inertia of rotors [kg m^2]. Without one crocoddyl 3.2.1 leaves gravity out with pinocchio 4.1."""
MOST = 500  # iterations


def file() -> str:
    """Return the URDF file of ur5 in example-robot-data."""
    files = metadata.files("example-robot-data") or []
    return next(str(x.locate()) for x in files if x.name == "ur5_robot.urdf")


def task(moved: Sequence[float] = MOVED, steps: int = STEPS) -> Optimization:
    """Return the motion."""
    rest, end = np.zeros(6), START + np.array(moved)
    return Optimization(
        assemble(load_urdf(file(), merge_fixed=True), gravity=(0.0, 0.0, -9.81)),
        Horizon(DURATION, steps),
        [Effort()],
        [StartAt(START, rest), EndAt(end, rest), ActuatorLimits()],
        Quintic(START, end),
    )


def again(motion: PreparedOptimization, stated: Optimization) -> Solved:
    """Return another motion of a statement that is solved already."""
    begin = perf_counter()
    result = motion.solve(conditions=stated.conditions, guess=stated.guess)
    seconds, a = perf_counter() - begin, result.data.attrs
    count = round(float(result["iterations"].sum()))
    return Solved(0.0, seconds, count, a["objective"], a["status"], drives(result))


# crocoddyl


def by_crocoddyl(stated: Optimization, rule: str) -> Solved:
    """Return the motion by BoxFDDP: torque held over a step, within its limits; rule: of a step.

    From the quintic, as the others, with the torques that it takes.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    croc: Any = import_module("crocoddyl")
    pin: Any = import_module("pinocchio")
    begin = perf_counter()
    model, n, h = pin.buildModelFromUrdf(file()), stated.horizon.steps, DURATION / STEPS
    state = croc.StateMultibody(model)
    actuation = croc.ActuationModelFull(state)
    first, last = (np.concatenate([x.q, x.v]) for x in stated.conditions[:2])

    def action(costs: Any) -> Any:
        free = croc.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        free.armature = np.full(model.nv, TINY)
        one = (
            croc.IntegratedActionModelEuler(free, h)
            if rule == "Euler"
            else croc.IntegratedActionModelRK(free, croc.RKType.four, h)
        )
        one.u_lb, one.u_ub = -model.effortLimit, model.effortLimit
        return one

    running, final = (croc.CostModelSum(state, actuation.nu) for _ in range(2))
    forces = croc.ResidualModelControl(state, actuation.nu)
    running.addCost("effort", croc.CostModelResidual(state, forces), 1.0)
    most = np.concatenate([model.upperPositionLimit, model.velocityLimit])
    beyond = croc.ActivationModelQuadraticBarrier(croc.ActivationBounds(-most, most))
    place = croc.ResidualModelState(state, np.zeros(2 * model.nv), actuation.nu)
    running.addCost("limits", croc.CostModelResidual(state, beyond, place), LIMITED)
    there = croc.ResidualModelState(state, last, actuation.nu)
    final.addCost("end", croc.CostModelResidual(state, there), HELD)
    problem = croc.ShootingProblem(first, [action(running)] * n, action(final))
    motion = stated.guess.trajectory(np.linspace(0, 1, n + 1), (DURATION, DURATION), ())
    data = model.createData()
    xs = list(np.hstack([motion.q, motion.v]))
    us = [pin.rnea(model, data, *x).copy() for x in zip(motion.q, motion.v, motion.a, strict=True)]
    solver = croc.SolverBoxFDDP(problem)
    built = perf_counter()
    solved = solver.solve(xs, us[:-1], MOST, False)
    done = perf_counter()
    u = np.array(solver.us)

    def control(at: float) -> Array:
        return np.asarray(u[min(int(at / h + 1e-9), n - 1)])

    return Solved(
        built - begin,
        done - built,
        int(solver.iter),
        float(h * np.sum(u**2)),
        "Solve_Succeeded" if solved else "not converged",
        control,
    )


# What they come to


def simulated(stated: Optimization, control: Control) -> float:
    """Return how far from its end a control leads by pinocchio's forward dynamics [rad]."""
    pin: Any = import_module("pinocchio")
    model = pin.buildModelFromUrdf(file())
    data = model.createData()

    def acceleration(x: Array) -> Array:
        return np.array(pin.aba(model, data, x[:6], x[6:12], x[12:]))

    return end_error(stated, control, acceleration)


def spent(control: Control, steps: int) -> float:
    """Return the integral of the squared torques [N^2 m^2 s]."""
    x, weights = np.polynomial.legendre.leggauss(5)
    times = np.linspace(0, DURATION, steps + 1)
    return float(
        sum(
            (b - a) / 2 * w * np.sum(control(a + (b - a) * (1 + s) / 2) ** 2)
            for a, b in pairwise(times)
            for s, w in zip(x, weights, strict=True)
        )
    )


def ways() -> dict[str, Callable[[], Solved]]:
    """Return all ways that are installed."""
    stated = task()
    known: dict[str, Callable[[], Solved]] = {
        "nsopt": partial(ours, stated),
        "Opti, forward dynamics": partial(Plain(), stated),
        "Opti, inverse dynamics": partial(Plain(inverse=True), stated),
    }
    prepared = task(OTHER).prepared()
    prepared.solve()
    known["nsopt, stated before for another target"] = partial(again, prepared, stated)
    try:
        import_module("crocoddyl")
    except ImportError as error:
        print(f"crocoddyl is left out: {error}")
        return known
    for rule in ("Euler", "RK4"):
        known[f"crocoddyl, BoxFDDP, {rule}"] = partial(by_crocoddyl, stated, rule)
    return known


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    stated = task()
    calls = {name: partial(cpu_seconds, way) for name, way in ways().items()}
    runs = in_turn(calls, options.repeats)
    seconds = {name: [s for _, s in many] for name, many in runs.items()}
    base = spent(runs["nsopt"][-1][0].control, STEPS)
    head = [f"ur5, N = {STEPS}", "processor s", "ratio", "iterations", "optimum"]
    head += ["effort of the control", "over nsopt's", "end error, simulated [rad]"]
    rows = []
    for name, many in runs.items():
        last, _ = many[-1]
        used = spent(last.control, STEPS)
        rows.append(
            [
                name if last.status == "Solve_Succeeded" else f"{name} ({last.status})",
                f"{median(seconds[name]):.2f}",
                f"{ratio(seconds[name], seconds['nsopt']):.2f}",
                str(last.iterations),
                f"{last.optimum:.4f}",
                f"{used:.4f}",
                f"{used / base - 1:+.1e}",
                f"{simulated(stated, last.control):.1e}",
            ]
        )
    print(machine() + "\n\n" + table(head, rows))


if __name__ == "__main__":
    main()
