"""Trajectory optimization: the smooth arm in plain CasADi, a compliant wall in nosnoc, sizes.

All in one run and in turn, so that ratios hold on a busy machine. The wall is stated in `wall`;
nosnoc is left out, with a message, if it is not installed: ``pip install 'nsopt[bench]'``. The arm
is stated in `arm`, without cones; the time of its construction has a column of its own.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from arm import Plain, Solved, arm, end_error, ours
from common import cpu_seconds, in_turn, keep, machine, picture, ratio, table
from wall import (
    NOSNOC,
    OURS,
    RIGID,
    Answer,
    nosnoc_way,
    nsopt_way,
    rigid_way,
    true_optimum,
    true_rigid_optimum,
)

from nsopt.mpcc import Ipopt
from nsopt.mpcc.backends.backend import Call
from nsopt.plots.style import COLOURS, SMALL, axis_labels
from nsopt.problem import load_optimization
from nsopt.trajectory.diagnosis import Statement, check_feasible
from nsopt.trajectory.programs import choose_start
from nsopt.trajectory.transcription.collocation import Collocation

CONES = "arm_least_resistance"
SIZES, FEW = [100, 200, 400, 800, 1600], [100]
MORE = 5
"""Iterations after the first, over which the time of one is averaged."""
LONG = 1000  # steps whose construction has a goal
GOAL = 5.0  # s


def against_casadi(repeats: int, all_ways: bool) -> None:
    """Print the arm by nsopt and in plain CasADi."""
    task = arm()
    ways: dict[str, Callable[[], Solved]] = {
        "nsopt": partial(ours, task),
        "Opti, forward dynamics": partial(Plain(), task),
    }
    if all_ways:
        ways["Opti, inverse dynamics"] = partial(Plain(inverse=True), task)
    runs_by_way = in_turn(ways, repeats)
    base = runs_by_way["nsopt"]
    rows = [
        [*_arm_row(name, runs, base), f"{end_error(task, runs[-1].control):.1e}"]
        for name, runs in runs_by_way.items()
    ]
    head = [f"7-DOF arm, N = {task.horizon.steps}", "build [s]", "solve [s]", "total [s]"]
    head += ["total, ratio", "solve, ratio", "iterations", "optimum", "over nsopt's"]
    head += ["end error, simulated [rad]"]
    print("\n" + table(head, rows))
    print(f"\nnsopt then verifies each step by integration: {median(x.more for x in base):.2f} s")


def _arm_row(name: str, runs: list[Solved], base: list[Solved]) -> list[str]:
    last, paired = runs[-1], base[: len(runs)]
    return [
        name if last.status == "Solve_Succeeded" else f"{name} ({last.status})",
        *(f"{median(getattr(x, y) for x in runs):.2f}" for y in ("build", "solve", "total")),
        f"{ratio([x.total for x in runs], [x.total for x in paired]):.2f}",
        f"{ratio([x.solve for x in runs], [x.solve for x in paired]):.2f}",
        str(last.iterations),
        f"{last.optimum:.4f}",
        f"{last.optimum / base[-1].optimum - 1:+.0e}",
    ]


# A mass thrown at a compliant wall


def against_nosnoc(
    repeats: int,
    ours_at: list[int],
    nosnoc_at: list[tuple[int, int, int]],
    rigid_at: list[int],
) -> None:
    """Print the wall by nsopt and nosnoc, from starts that touch it and that do not; then rigid."""
    true = true_optimum()
    compliant: list[Answer] = []
    for touching in (True, False):
        ways: dict[str, Callable[[], Answer]] = {
            f"nsopt, {n} steps": partial(nsopt_way, n, touching) for n in ours_at
        }
        try:
            for n, elements, order in nosnoc_at:
                way = nosnoc_way(n, elements, order, touching)
                ways[f"nosnoc, {n} x {elements} elements of order {2 * order - 1}"] = way
        except ImportError as error:
            print(f"\nnosnoc is left out: {error}")
        runs_by_way = in_turn(ways, repeats if touching else 1)
        base = runs_by_way[f"nsopt, {OURS[1]} steps"]
        start = "touches the wall" if touching else "turns before the wall"
        head = [f"start that {start}", "build [s]", "solve [s]", "total, ratio", "iterations"]
        head += ["optimum", f"over the true {true:.6f}", "end error, simulated", "said"]
        print("\n" + table(head, [_wall_row(x, runs_by_way[x], base, true) for x in runs_by_way]))
        compliant = compliant or base
    true = true_rigid_optimum()
    rigid = {f"nsopt, {n} steps": [rigid_way(n) for _ in range(repeats)] for n in rigid_at}
    head = ["rigid wall, e = 1", "build [s]", "solve [s]", "total over compliant", "iterations"]
    head += ["optimum", f"over the true {true:.6f}", "end error, simulated", "said"]
    print("\n" + table(head, [_wall_row(x, rigid[x], compliant, true) for x in rigid]))


def _wall_row(name: str, runs: list[Answer], base: list[Answer], true: float) -> list[str]:
    last = runs[-1]
    return [
        name,
        f"{median(x.build for x in runs):.3f}",
        f"{median(x.solve for x in runs):.3f}",
        f"{ratio([x.total for x in runs], [x.total for x in base]):.1f}",
        str(last.iterations),
        f"{last.optimum:.6f}",
        f"{last.optimum / true - 1:+.1e}",
        f"{last.end_error:.1e}",
        last.said,
    ]


# Sizes, each in a process of its own


def sized(steps: int, more: int, cones: bool) -> dict[str, float]:
    """Return what an arm over many steps takes in this process [s, MB], without verification."""
    task = load_optimization(CONES) if cones else arm()
    before, begin = _peak(), perf_counter()
    horizon, p = replace(task.horizon, steps=steps), task.dynamics.values()
    stated = Collocation(task.dynamics, horizon, task.costs, task.conditions, task.inputs)
    check_feasible(Statement(task.dynamics, task.conditions, task.inputs, p), horizon)
    nlp = stated.nlp()
    start = choose_start(stated, nlp, task.guess)
    program = nlp.nlp("arm", nlp.derivatives())
    few = Ipopt(max_iter=1).build(program)
    figures = {"before": before, "build": perf_counter() - begin}
    if more:
        known = (start, p, *stated.limits())
        one = _seconds(few, known)
        many = _seconds(Ipopt(max_iter=1 + more).build(program), known)
        each = (many - one) / more
        figures |= {"each": each, "once": one - each}
    return {**figures, "peak": _peak()}


def _seconds(call: Call, known: tuple[Any, ...]) -> float:
    """Return the processor's time of a solve [s]: differences of wall time drown in the load."""
    return cpu_seconds(partial(call, *known))[1]


def _peak() -> float:
    """Return the most memory that this process has had [MB]; rusage counts its parent's in."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
    return float(line.split()[1]) / 1024


def sizes(steps: list[int], long: bool) -> None:
    """Print construction, memory and time an iteration against the number of steps.

    Once is what comes before the first iteration, mostly MUMPS' analysis of the pattern.
    """
    figures = {n: _fresh(n, MORE) for n in steps}
    head = ["7-DOF arm, steps", "build [s]", "once [s]", "ms an iteration"]
    head += ["us an iteration and step", f"over N = {steps[0]}", "peak RSS [MB]"]
    first = figures[steps[0]]["each"] / steps[0]
    rows = [_size_row(n, x, first) for n, x in figures.items()]
    print("\n" + table(head, rows))
    for cones in (False, True)[: 1 + long]:
        x = _fresh(LONG, 0, cones)
        word = "met" if x["build"] <= GOAL else "MISSED"
        print(
            f"\nconstruction for N = {LONG}{', with cones' if cones else ''}: {x['build']:.2f} s, "
            f"goal {GOAL:g} s: {word}; peak RSS {x['peak']:.0f} MB, {x['before']:.0f} MB before"
        )
    _draw(figures)


def _fresh(steps: int, more: int, cones: bool = False) -> dict[str, float]:
    """Return `sized` of a fresh process."""
    call = [sys.executable, __file__, "--size", *(str(int(x)) for x in (steps, more, cones))]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _size_row(n: int, x: Mapping[str, float], first: float) -> list[str]:
    return [
        str(n),
        f"{x['build']:.2f}",
        f"{x['once']:.2f}",
        f"{1e3 * x['each']:.0f}",
        f"{1e6 * x['each'] / n:.0f}",
        f"{x['each'] / n / first:.2f}",
        f"{x['peak']:.0f}",
    ]


def _draw(figures: Mapping[int, Mapping[str, float]]) -> None:
    """Draw time an iteration, construction and memory against the number of steps."""
    figure, axes = picture("The 7-DOF arm over N steps", 2, (9.0, 3.8))
    n = np.array(list(figures))
    each = np.array([x["each"] for x in figures.values()])
    build = [x["build"] for x in figures.values()]
    axes[0, 0].loglog(n, each, marker="o", color=COLOURS[0], label="an iteration")
    axes[0, 0].loglog(n, build, marker="s", color=COLOURS[1], label="construction")
    axes[0, 0].loglog(n, each[0] * n / n[0], ":", color="grey", label="in proportion to N")
    axes[0, 0].legend(fontsize=SMALL, frameon=False)
    axis_labels(axes[0, 0], "steps N", "time [s]")
    axes[0, 1].plot(n, [x["peak"] for x in figures.values()], marker="o", color=COLOURS[2])
    axes[0, 1].set_ylim(bottom=0)
    axis_labels(axes[0, 1], "steps N", "peak memory of the process [MB]")
    keep(figure, "trajectory")


def main() -> None:
    """Print the three tables; draw the sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="by default all of them")
    parser.add_argument("--quick", action="store_true", help="once each, small sizes")
    parser.add_argument("--size", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.size:
        steps, more, cones = options.size
        print(json.dumps(sized(steps, more, bool(cones))))
        return
    for name in options.parts or PARTS:
        print(f"\n{machine()}")
        PARTS[name](options.quick)


PARTS: dict[str, Callable[[bool], None]] = {
    "arm": lambda quick: against_casadi(1 if quick else 2, all_ways=not quick),
    "wall": lambda quick: against_nosnoc(
        1 if quick else 2,
        OURS[:2] if quick else OURS[1::2],
        NOSNOC[:1] if quick else NOSNOC,
        RIGID[:1] if quick else RIGID,
    ),
    "sizes": lambda quick: sizes(FEW if quick else SIZES, not quick),
}

if __name__ == "__main__":
    main()
