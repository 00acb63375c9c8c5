"""Switched motions of known optimum by nsopt and by nosnoc, in turn in one run.

Both find which law holds when by themselves; of the car nsopt is told the order. A picture in
results/ has errors over seconds. What is not installed is left out: ``pip install 'nsopt[bench]'``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from statistics import median
from time import process_time
from typing import Any

import casadi as ca
import numpy as np
from common import in_turn, keep, machine, picture, ratio, table
from switched import (
    THRUST,
    TOP,
    Answer,
    Piece,
    Switched,
    car,
    effort,
    lift,
    resting,
    reversing,
    sled,
)
from switched_ways import lifted_mass, loaded_sled, lying_block, phased_car, rubbing_block

from nsopt.plots.style import axis_labels, look, title

TOLERANCE = 1e-8  # that of nsopt over a horizon
STEPS = (10, 20, 40, 80)
LEAST = 1e-16  # relative error in the picture: less is as much

Ways = dict[str, Callable[[], Answer]]

# nosnoc


def by_nosnoc(problem: Switched, stages: int, points: int, bound: float, top: float) -> Answer:
    """Return the optimum by nosnoc: Radau's formula, two finite elements a control stage.

    Else its defaults, with tolerances as nsopt's. A free duration is a global variable that time is
    a multiple of.
    """
    nosnoc: Any = import_module("nosnoc")
    begin, n = process_time(), len(problem.start)
    x, u, T = ca.SX.sym("x", n), ca.SX.sym("u"), ca.SX.sym("T")
    free = problem.duration is None
    scale = T if free else 1.0
    rates = [scale * ca.vertcat(*problem.rate(x, u, side)) for side in (-1, 1)]
    options = nosnoc.NosnocOpts(
        N_stages=stages,
        N_finite_elements=2,
        n_s=points,
        terminal_time=1.0 if free else problem.duration,
        comp_tol=TOLERANCE,
        initialization_strategy=nosnoc.InitializationStrategy.EXTERNAL,
    )
    options.tol_ipopt = TOLERANCE
    options.print_level = 0
    surface = ca.dot(ca.DM(problem.normal), x) - problem.level
    model = nosnoc.NosnocModel(
        x=x,
        x0=problem.start,
        u=u,
        F=[ca.horzcat(*rates)],
        c=[surface],
        S=[np.array([[-1], [1]])],
        **({"v_global": T} if free else {}),
    )
    held = np.isfinite(problem.end)
    limits = np.full(n, np.inf)
    limits[1] = top
    goal = (
        {
            "f_terminal": T,
            "lbv_global": np.array([5.0]),
            "ubv_global": np.array([40.0]),
            "v_global_guess": np.array([20.0]),
        }
        if free
        else {"f_q": u**2}
    )
    ocp = nosnoc.NosnocOcp(
        g_terminal=(x - np.nan_to_num(problem.end))[np.flatnonzero(held).tolist()],
        lbu=np.array([-bound]),
        ubu=np.array([bound]),
        u_guess=np.zeros(1),
        lbx=-limits,
        ubx=limits,
        **goal,
    )
    solver = nosnoc.NosnocSolver(options, model, ocp)
    share = np.arange(1, stages + 1)[:, None] / stages
    solver.set("x", problem.start + share * (np.nan_to_num(problem.end, nan=1.0) - problem.start))
    solution = solver.solve()
    seconds = process_time() - begin
    duration = float(np.ravel(solution["v_global"])[0]) if free else float(problem.duration or 0)
    times = np.linspace(0, duration, stages + 1)
    values = np.ravel(solution["u_list"])
    control = [
        Piece(a, b, np.array([value]))
        for a, b, value in zip(times[:-1], times[1:], values, strict=True)
    ]
    return Answer(
        seconds,
        sum(k or 0 for k in solution["nlp_iter"]),
        duration if free else effort(control),
        problem.end_error(control),
        "solved" if solution["status"].name == "SUCCESS" else solution["status"].name,
    )


# In turn


def compare(problem: Switched, runs: Mapping[str, Sequence[Answer]]) -> None:
    """Print one motion by all ways; ratios are over the first."""
    base = next(iter(runs.values()))
    head = [f"{problem.name}: {problem.optimum:.6f}", "processor s", "ratio", "iterations"]
    head += ["over the true", "end error", "said"]
    rows = [
        [
            name,
            f"{median(x.seconds for x in many):.2f}",
            f"{ratio([x.seconds for x in many], [x.seconds for x in base]):.1f}",
            str(many[-1].iterations),
            f"{many[-1].optimum / problem.optimum - 1:+.1e}",
            f"{many[-1].end_error:.1e}",
            many[-1].said,
        ]
        for name, many in runs.items()
    ]
    print("\n" + table(head, rows), flush=True)


def draw(measured: Sequence[tuple[Switched, Mapping[str, Sequence[Answer]]]]) -> None:
    """Draw the relative error of the optimum of each motion over seconds of the processor."""
    figure, axes = picture("Switched motions: error over seconds", len(measured), (11.0, 3.4))
    for ax, (problem, runs) in zip(np.ravel(axes), measured, strict=True):
        families: dict[str, list[tuple[float, float]]] = {}
        for name, many in runs.items():
            off = max(abs(many[-1].optimum / problem.optimum - 1), LEAST)
            point = median(x.seconds for x in many), off
            families.setdefault(name.split(",")[0], []).append(point)
        for k, (family, points) in enumerate(families.items()):
            ax.loglog(*np.transpose(points), marker="o", label=family, **look(k)._asdict())
        title(ax, problem.name)
        axis_labels(ax, "processor [s]", "error of the optimum")
        ax.legend(frameon=False)
    keep(figure, "switched_peers")


def _nosnoc_ways(
    problem: Switched, sizes: Sequence[int], bound: float = 1e3, top: float = np.inf
) -> Ways:
    try:
        import_module("nosnoc")
    except ImportError as error:
        print(f"nosnoc is left out: {error}")
        return {}
    return {f"nosnoc, {n} stages": partial(by_nosnoc, problem, n, 2, bound, top) for n in sizes}


def cars(sizes: Sequence[int]) -> tuple[Switched, Ways]:
    """Return the car and its ways."""
    p = car()
    ways: Ways = {f"nsopt, {n} steps in phases": partial(phased_car, p, n) for n in (60, 120)}
    return p, ways | _nosnoc_ways(p, [n for n in sizes if n <= 40], THRUST, TOP)


def touching(
    make: Callable[[], Switched], way: Callable[[Switched, int], Answer], sizes: Sequence[int]
) -> tuple[Switched, Ways]:
    """Return a motion through contact, or against friction of a joint, and its ways."""
    p = make()
    ways: Ways = {f"nsopt, {n} steps": partial(way, p, n) for n in sizes}
    return p, ways | _nosnoc_ways(p, sizes)


MOTIONS: dict[str, Callable[[Sequence[int]], tuple[Switched, Ways]]] = {
    "car": cars,
    "reversing": partial(touching, reversing, lying_block),
    "resting": partial(touching, resting, lying_block),
    "sled": partial(touching, sled, loaded_sled),
    "lift": partial(touching, lift, lifted_mass),
    "joint": partial(touching, resting, rubbing_block),
}


def main() -> None:
    """Print a table for each motion, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("motions", nargs="*", choices=[*MOTIONS, []], help="by default all")
    parser.add_argument("--quick", action="store_true", help="once each, coarse")
    options = parser.parse_args()
    print(machine())
    sizes, repeats = (STEPS[:2], 1) if options.quick else (STEPS, 2)
    measured = []
    for name in options.motions or MOTIONS:
        problem, ways = MOTIONS[name](sizes)
        measured.append((problem, in_turn(ways, repeats)))
        compare(*measured[-1])
    draw(measured)


if __name__ == "__main__":
    main()
