"""Switched motions of known optimum by nsopt and by nosnoc, in turn in one run.

nosnoc finds which law holds when by itself; of the car nsopt is told the order. What is not
installed is left out: ``pip install 'nsopt[bench]'``.
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
from common import in_turn, machine, ratio, table
from switched import (
    THRUST,
    TOP,
    Answer,
    Piece,
    Switched,
    car,
    effort,
    resting,
    reversing,
    sled,
)
from switched_ways import loaded_sled, lying_block, phased_car, rubbing_block, smoothed_car

TOLERANCE = 1e-8  # that of nsopt over a horizon

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


def compare(
    problem: Switched,
    ways: Mapping[str, Callable[[], Answer]],
    repeats: int,
) -> None:
    """Print one motion by all ways; ratios are over the first."""
    runs = in_turn(ways, repeats)
    base = next(iter(runs.values()))
    head = [
        f"{problem.name}: {problem.optimum:.6f}",
        "processor s",
        "ratio",
        "iterations",
        "optimum",
    ]
    head += ["over the true", "end error, simulated", "said"]
    rows = [
        [
            name,
            f"{median(x.seconds for x in many):.2f}",
            f"{ratio([x.seconds for x in many], [x.seconds for x in base]):.1f}",
            str(many[-1].iterations),
            f"{many[-1].optimum:.6f}",
            f"{many[-1].optimum / problem.optimum - 1:+.1e}",
            f"{many[-1].end_error:.1e}",
            many[-1].said,
        ]
        for name, many in runs.items()
    ]
    print("\n" + table(head, rows))


def _nosnoc_ways(
    problem: Switched, sizes: Sequence[tuple[int, int]], bound: float = 1e3, top: float = np.inf
) -> Ways:
    try:
        import_module("nosnoc")
    except ImportError as error:
        print(f"nosnoc is left out: {error}")
        return {}
    return {
        f"nosnoc, {n} x 2, order {2 * s - 1}": partial(by_nosnoc, problem, n, s, bound, top)
        for n, s in sizes
    }


def cars(quick: bool) -> tuple[Switched, Ways]:
    """Return the car and its ways."""
    p = car()
    widths = (3.0, 1.0, 0.3)
    ways: Ways = {
        "nsopt, 60 steps in phases": partial(phased_car, p, 60),
        "nsopt, 120 steps in phases": partial(phased_car, p, 120),
        "nsopt, 60 steps, gain smoothed": partial(smoothed_car, p, 60, widths),
    }
    sizes = [(10, 2)] if quick else [(10, 2), (20, 2), (40, 2)]
    return p, ways | _nosnoc_ways(p, sizes, THRUST, TOP)


def blocks(
    make: Callable[[], Switched], lying: Sequence[tuple[int, float]], quick: bool
) -> tuple[Switched, Ways]:
    """Return a block with dry friction and its ways."""
    p = make()
    ways: Ways = {f"nsopt, {n} steps": partial(rubbing_block, p, n) for n in (50, 100, 200)}
    for n, creep in lying:
        name = f"nsopt, {n} steps, in contact" + (f", creep {creep:g} m/s" if creep else "")
        ways[name] = partial(lying_block, p, n, creep)
    return p, ways | _nosnoc_ways(p, [(20, 2)] if quick else [(20, 2), (40, 2), (40, 3)])


def sleds(quick: bool) -> tuple[Switched, Ways]:
    """Return the block on a sled and its ways."""
    p = sled()
    ways = {f"nsopt, {n} steps": partial(loaded_sled, p, n) for n in (50, 100, 200)}
    return p, ways | _nosnoc_ways(p, [(20, 2)] if quick else [(20, 2), (40, 2), (40, 3)])


MOTIONS: dict[str, Callable[[bool], tuple[Switched, Ways]]] = {
    "car": cars,
    "reversing": partial(blocks, reversing, [(50, 0.0), (100, 0.0), (100, 0.1)]),
    "resting": partial(blocks, resting, [(50, 0.0)]),
    "sled": sleds,
}


def main() -> None:
    """Print a table for each motion."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("motions", nargs="*", choices=[*MOTIONS, []], help="by default all")
    parser.add_argument("--quick", action="store_true", help="once each, coarse")
    options = parser.parse_args()
    print(machine())
    for name in options.motions or MOTIONS:
        compare(*MOTIONS[name](options.quick), 1 if options.quick else 2)


if __name__ == "__main__":
    main()
