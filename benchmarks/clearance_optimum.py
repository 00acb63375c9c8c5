"""Least torque through clearances: clearance by clearance, grid by grid, one table a mechanism.

A pendulum and an arm of two links with planar clearance in every joint, in relative coordinates,
and a free pendulum whose bushing has radial and axial clearance. Cost is the integral of squared
torques; beside it stands that of ideal joints, by the transcription without contacts, to which it
tends with clearance and step. Every run of even steps starts from the same quintic, where that
fails from the motion of half as many steps, found first; its seconds are of all. Steps of free size
start from even ones, and are asked by a small cost to be even: the best motion is else one that
exploits the errors of long steps.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from common import machine, table

from nsopt import Result, StepBounds, Variational
from nsopt.problem import problem_folder
from nsopt.trajectory import (
    IN_STEPS,
    Earlier,
    EvenSteps,
    Horizon,
    Optimization,
)

sys.path += [str(problem_folder() / name) for name in ("clearance_tolerance", "optima")]
chains: Any = importlib.import_module("_chain")
spatial: Any = importlib.import_module("clearance_pendulum")

RADIAL = [1e-2, 1e-3, 1e-4, 1e-5]
STEPS = [50, 100, 200, 400, 800]
QUICK = ([1e-3, 1e-5], [50, 100])
MOTIONS = {
    "pendulum": (chains.PENDULUM, np.radians([-90.0]), np.radians([0.0]), 0.8),
    "arm": (chains.ARM, np.radians([-70.0, 40.0]), np.radians([-10.0, 95.0]), 1.0),
}
COARSEST = 50  # steps
EVEN = 100.0
"""Weight of even steps where sizes are free."""
AGAIN = "from half as many steps"

HEAD = (
    *("c [m]", "N", "converged", "cost", "above ideal [%]", "iterations", "to state [s]"),
    *("to solve [s]", "complementarity [N m]", "penetration [m]", "shortest, longest step [ms]"),
)


def planar(
    name: str, c: float | None, steps: int, normal_implicitness: float = 0.0
) -> Optimization:
    """Return the motion of a chain; ideal joints where ``c`` is None."""
    links, start, end, T = MOTIONS[name]
    clearances = None if c is None else [c] * len(links)
    chain = chains.chain(links, clearances)
    return Optimization(
        chain.dynamics,
        Horizon(T, steps),
        chain.effort(),
        [chains.HungAt(chain, start), chains.TurnedTo(chain, end)],
        chains.Hanging(chain, start, end),
        inputs=chain.inputs,
        scheme=None if c is None else Variational(normal_implicitness=normal_implicitness),
        plan=IN_STEPS,
    )


def freed(stated: Optimization) -> Result:
    """Return the motion of steps of free size, from that of even ones."""
    T, n = stated.horizon.bounds[0], stated.horizon.steps
    return replace(
        stated,
        horizon=Horizon(T, n, StepBounds(0.5 * T / n, 2 * T / n)),
        costs=[*stated.costs, EvenSteps(weight=EVEN)],
        guess=Earlier(solved(stated)),
    ).solve()


def solved(stated: Optimization, parameters: Mapping[str, float] | None = None) -> Result:
    """Return the motion from the quintic; where that fails from one of half as many steps."""
    result = stated.solve(parameters)
    half = stated.horizon.steps // 2
    if result.completed or half < COARSEST:
        return result
    coarse = replace(stated, horizon=replace(stated.horizon, steps=half))
    guess = Earlier(solved(coarse, parameters))
    return replace(stated, guess=guess).solve(parameters, title=AGAIN)


def row(c: float, steps: int, ideal: float, solve: Callable[[], Result]) -> list[str]:
    """Return one line of a table."""
    begin = perf_counter()
    result = solve()
    seconds = perf_counter() - begin
    data, attrs = result.data, result.data.attrs
    over, gone = (
        float(np.nanmax(data[x].values)) for x in ("complementarity_residual", "gap_violation")
    )
    iterations = attrs["solver_name"].split()[1]
    h = 1e3 * np.diff(data["time"].values)
    completed = "yes" if result.completed else "NO"
    if result.name == AGAIN:
        completed += f", {AGAIN}"
    cells = [f"{c:g}", str(steps), completed]
    cost = result.objective - result.detailed_cost.get("EvenSteps", 0.0)
    cells += [f"{cost:.4f}", f"{100 * (cost / ideal - 1):.2f}"]
    cells += [iterations, f"{attrs['compile_time']:.1f}"]
    cells += [f"{seconds - attrs['compile_time']:.1f}", f"{over:.1e}", f"{gone:.1e}"]
    print(" ".join([*cells, attrs["stop_reason"]]), file=sys.stderr, flush=True)
    return [*cells, f"{h.min():.2f}, {h.max():.2f}"]


def planar_table(
    name: str,
    cs: Sequence[float],
    grids: Sequence[int],
    normal_implicitness: float,
    free: bool = False,
) -> None:
    """Print a table of a chain."""
    ideal = planar(name, None, 100).solve().objective
    stated = {(c, n): planar(name, c, n, normal_implicitness) for c in cs for n in grids}
    solves = {k: partial(freed if free else solved, x) for k, x in stated.items()}
    rows = [row(*k, ideal, solve) for k, solve in solves.items()]
    steps = "steps of free size" if free else "even steps"
    title = f"{name}, {steps}, normal implicitness {normal_implicitness:g}"
    print(f"\n{title}; ideal joints {ideal:.4f}\n\n{table(HEAD, rows)}", flush=True)


def spatial_table(cs: Sequence[float], grids: Sequence[int]) -> None:
    """Print the table of the free pendulum."""
    chain = planar("pendulum", None, 100).solve().objective
    base = spatial.optimization
    stated = {n: replace(base, horizon=replace(base.horizon, steps=n)) for n in grids}
    solves = {(c, n): partial(solved, stated[n], {"clearance": c}) for c in cs for n in grids}
    rows = [row(*k, chain, solve) for k, solve in solves.items()]
    title = f"free pendulum, axial clearance {spatial.AXIAL:g} m; ideal joint {chain:.4f}"
    print(f"\n{title}\n\n{table(HEAD, rows)}", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer clearances and grids")
    parser.add_argument("--only", choices=["pendulum", "arm", "free", "spatial"])
    parser.add_argument("--steps", type=int, nargs="*", help="grids of the even steps")
    parser.add_argument("--implicitness", type=float, nargs="*", default=[0.0, 0.5])
    options = parser.parse_args()
    cs, grids = QUICK if options.quick else (RADIAL, STEPS)
    grids = options.steps or grids
    wanted = [options.only] if options.only else ["pendulum", "arm", "free", "spatial"]
    print(machine())
    for name in wanted:
        if name in MOTIONS:
            for normal_implicitness in options.implicitness:
                planar_table(name, cs, grids, normal_implicitness)
        elif name == "free":
            for chain in MOTIONS:
                planar_table(chain, cs, [n for n in grids if n <= 200], 0.5, free=True)
        else:
            spatial_table([c for c in cs if c >= 1e-4], [n for n in grids if n <= 200])


if __name__ == "__main__":
    main()
