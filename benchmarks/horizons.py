"""Horizons by size and kind: what a solve takes, here and in another clone of the project.

Every case is a process of its own; seconds are the processor's. With
``--beside`` each is followed by the same in another clone, by its own interpreter.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from arm import arm
from clearance_optimum import planar, spatial
from common import cpu_seconds, machine, table

from nsopt import Result, Solver, assemble, trajectory
from nsopt.mpcc import Ipopt
from nsopt.problem import load_optimization
from nsopt.robots import load_urdf
from nsopt.trajectory import (
    IN_STEPS,
    ActuatorLimits,
    Earlier,
    Effort,
    EndAt,
    Horizon,
    Optimization,
    Quintic,
    Smoothness,
    StartAt,
)

PREPARES = hasattr(trajectory, "PreparedOptimization")
"""Whether this clone compiles by default, and solves again."""
WARM = 100  # steps; code serves any number


class Figures(NamedTuple):
    """What a solve came to."""

    completed: bool
    iterations: int
    seconds: float
    objective: float
    said: str = ""


def of(result: Result, seconds: float) -> Figures:
    """Return the figures of a result."""
    a = result.data.attrs
    count = round(float(result["iterations"].sum()))
    said = a.get("stationarity", "") if result.completed else a["stop_reason"]
    return Figures(bool(result.completed), count, seconds, result.objective, said)


def timed(stated: Optimization, parameters: dict[str, float] | None = None) -> Figures:
    """Return the figures of a solve in steps after code is compiled."""
    stated = replace(stated, plan=IN_STEPS)
    if PREPARES:
        once = Solver(Ipopt(max_iter=1), phase_two=False, retries=0)
        replace(stated, solver=once).solve(parameters, steps=WARM)
    return of(*cpu_seconds(lambda: stated.solve(parameters)))


def ur5(steps: int, warm: bool = True) -> Figures:
    """Return a motion from pose to pose, solved for another target once it is stated.

    From the motion to the first target, or from the quintic to the other one.
    """
    files = metadata.files("example-robot-data") or []
    path = next(str(x.locate()) for x in files if x.name == "ur5_robot.urdf")
    robot = load_urdf(path, merge_fixed=True)
    rest, start = np.zeros(6), np.array([0.0, -1.2, 1.4, -1.8, -1.5, 0.0])
    ends = [
        start + np.array(x)
        for x in ([1.5, 0.4, -0.6, 0.5, 0.3, 0.8], [1.2, 0.6, -0.3, 0, 0.5, 0.4])
    ]

    def stated(end: Any) -> Optimization:
        return Optimization(
            assemble(robot, gravity=(0.0, 0.0, -9.81)),
            Horizon(1.0, steps),
            [Effort(), Smoothness(weight=0.01)],
            [StartAt(start, rest), EndAt(end, rest), ActuatorLimits()],
            Quintic(start, end),
        )

    first, second = (stated(end) for end in ends)
    if not PREPARES:
        return of(*cpu_seconds(second.solve))
    motion = first.prepared()
    known = motion.solve()
    guess = Earlier(known) if warm else second.guess
    again = partial(motion.solve, conditions=second.conditions, guess=guess)
    return of(*cpu_seconds(again))


def wall(steps: int) -> Figures:
    """Return the mass and the compliant wall from a start that does not touch it."""
    from wall import nsopt_way, true_optimum  # of names that another clone may not have

    answer, seconds = cpu_seconds(lambda: nsopt_way(steps, touching=False))
    said = f"{answer.optimum / true_optimum() - 1:+.1e} over the true"
    return Figures(answer.said == "solved", answer.iterations, seconds, answer.optimum, said)


def puck(steps: int) -> Figures:
    """Return the cart that throws a free puck by a spring."""
    from two_bodies import thrown_puck  # as above

    return timed(thrown_puck(steps))


def long(steps: int) -> Figures:
    """Return a pendulum of two links over many steps, and how long it takes to state."""
    from two_bodies import double_pendulum  # as above

    timed(double_pendulum(WARM))
    motion, stating = cpu_seconds(double_pendulum(steps).prepared)
    result, solving = cpu_seconds(motion.solve)
    figures = of(result, stating + solving)
    return figures._replace(said=f"stated in {stating:.1f} s; {figures.said}")


def free_pendulum(c: float) -> Figures:
    """Return the pendulum with radial and axial clearance."""
    base = spatial.optimization
    return timed(replace(base, horizon=replace(base.horizon, steps=200)), {"clearance": c})


CASES: dict[str, Callable[[], Figures]] = {
    "7-DOF arm, N = 100": lambda: timed(arm(100)),
    "7-DOF arm, N = 1600": lambda: timed(arm(1600)),
    "urdf_least_resistance": lambda: timed(load_optimization("urdf_least_resistance")),
    "ur5, N = 50, another target": partial(ur5, 50),
    "ur5, N = 50, another target, from its quintic": partial(ur5, 50, warm=False),
    "ur5, N = 100, another target": partial(ur5, 100),
    **{
        f"pendulum, c = {c:g}, N = 1600": partial(lambda c: timed(planar("pendulum", c, 1600)), c)
        for c in (1e-2, 1e-3, 1e-4, 1e-5)
    },
    "two-link arm, c = 0.01, N = 800": lambda: timed(planar("arm", 1e-2, 800, 0.5)),
    **{f"free pendulum, c = {c:g}, N = 200": partial(free_pendulum, c) for c in (1e-2, 1e-3, 1e-4)},
    "wall never touched, N = 100": partial(wall, 100),
    "cart and puck, N = 100": partial(puck, 100),
    "two links, N = 1000": partial(long, 1000),
    "two links, N = 10000": partial(long, 10_000),
}


def _fresh(python: str, name: str) -> dict[str, Any]:
    """Return the figures of a case in a fresh process, with its peak of memory."""
    call = [python, __file__, "--case", name]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["died"])[-1]
        return {**Figures(False, 0, np.nan, np.nan, said)._asdict(), "peak": np.nan}
    return json.loads(done.stdout.splitlines()[-1])


def _peak() -> float:
    """Return the most memory that this process has had [MB]."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(x for x in lines if x.startswith("VmHWM")).split()[1]) / 1024


def _row(name: str, x: dict[str, Any], other: dict[str, Any] | None) -> list[str]:
    each = 1e3 * x["seconds"] / max(x["iterations"], 1)
    cells = [name, "yes" if x["completed"] else "NO", str(x["iterations"])]
    cells += [f"{x['seconds']:.2f}", f"{each:.0f}", f"{x['peak']:.0f}", f"{x['objective']:.6g}"]
    if other is not None:
        ended = "" if other["completed"] else " (NO)"
        cells += [f"{other['seconds']:.2f}{ended}", f"{other['seconds'] / x['seconds']:.1f}"]
        cells += [f"{x['objective'] / other['objective'] - 1:+.0e}"]
    print(" | ".join(cells), x["said"], file=sys.stderr, flush=True)
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="cases whose names have one of these")
    parser.add_argument("--beside", type=Path, help="another clone, installed")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps({**CASES[options.case]()._asdict(), "peak": _peak()}))
        return
    names = [x for x in CASES if not options.words or any(word in x for word in options.words)]
    rows = []
    for name in names:
        own = _fresh(sys.executable, name)
        beside = options.beside and _fresh(str(options.beside / ".venv" / "bin" / "python"), name)
        rows.append(_row(name, own, beside or None))
    head = ["", "completed", "iterations", "s", "ms an iteration", "peak RSS [MB]", "optimum"]
    head += ["beside [s]", "beside over here", "optimum over beside's"] if options.beside else []
    print(f"\n{machine()}\n\n{table(head, rows)}")


if __name__ == "__main__":
    main()
