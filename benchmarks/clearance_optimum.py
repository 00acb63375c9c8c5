"""Least torque through clearances: clearance by clearance, grid by grid, one table a mechanism.

A pendulum and an arm of two links with planar clearance in every joint, in relative coordinates,
by the plain call beside many short steps, and a free pendulum whose bushing has radial and axial
clearance. Cost is the integral of squared torques; beside it stands that of ideal joints, by the
transcription without contacts, to which it tends with clearance and step. In steps every run starts
from the same quintic, where that fails from the motion of half as many steps, found first; its
seconds are of all. Steps of free size start from even ones, and are asked by a small cost to be
even: the best motion is else one that exploits the errors of long steps.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
from common import machine, table

from nsopt import Result, StepBounds, Variational
from nsopt.problem import problem_folder
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    Earlier,
    EvenSteps,
    Horizon,
    Optimization,
)

sys.path += [str(problem_folder() / name) for name in ("clearance_tolerance", "optima")]
chains: Any = importlib.import_module("_chain")
spatial: Any = importlib.import_module("clearance_pendulum")

RADIAL = [1e-2, 1e-3, 1e-4, 1e-5]
STEPS = [50, 100, 200]
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

PLAIN_HEAD = (
    *("c [m]", "steps", "cost", "above ideal [%]", "off, told [%]", "true [%]"),
    *("angles off, told", "true", "s, over 200 steps", "how"),
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


def plain_table(name: str, cs: Sequence[float], grids: Sequence[int], fine: int) -> None:
    """Print the plain call on several grids beside as many as ``fine`` steps without phases.

    Errors are of the cost, in %, and of the angles at nodes [rad]; seconds are of the processor,
    over those of 200 steps without phases.
    """
    ideal, damped = planar(name, None, 100).solve().objective, 0.5
    rows = []
    for c in cs:
        usual, usual_seconds = timed(planar(name, c, 200, damped))
        true, seconds = timed(planar(name, c, fine, damped))
        told = (str(x.completed) for x in (usual, true))
        print(c, *told, usual.objective, true.objective, usual_seconds, seconds, file=sys.stderr)
        rows.append([f"{c:g}", str(fine), *compare(true, true, ideal), f"{seconds:.1f}", ""])
        for n in grids:
            best, seconds = timed(replace(planar(name, c, n, damped), plan=PLAN))
            cells = compare(best, true, ideal)
            share = f"{seconds:.1f}, {seconds / usual_seconds:.2f}"
            rows.append([f"{c:g}", str(n), *cells, share, describe(best)])
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    title = f"{name}, ideal joints {ideal:.4f}, {fine} steps without phases for comparison"
    print(f"\n{title}\n\n{table(PLAIN_HEAD, rows)}", flush=True)


def timed(stated: Optimization) -> tuple[Result, float]:
    """Return an optimum and the seconds of the processor that it takes, without its check."""
    begin = process_time()
    stated.solve(check=None)
    seconds = process_time() - begin
    return stated.solve(), seconds


def compare(best: Result, true: Result, ideal: float) -> list[str]:
    """Return its cost, that above ``ideal``, errors told and true, of cost and of angles."""
    told, own = best.data.attrs.get("objective_error", np.nan), best.objective
    angles, right = (x["q"].values[:, 2::3] for x in (best, true))
    at = best["time"].values, true["time"].values
    columns = zip(angles.T, right.T, strict=True)
    off = max(float(np.abs(x - np.interp(*at, y)).max()) for x, y in columns)
    moved = float(best.error["q"].values[..., 2::3].max()) if "error_q" in best else np.nan
    cells = [f"{own:.4f}", f"{100 * (own / ideal - 1):.2f}", f"{100 * told / own:.2g}"]
    return [*cells, f"{100 * (own / true.objective - 1):.2g}", f"{moved:.2g}", f"{off:.2g}"]


def describe(best: Result) -> str:
    """Return whether it is exact, or why not, and whether its forces are told to alternate."""
    attrs = best.data.attrs
    if not best.completed:
        return best.stop_reason.splitlines()[0]
    told = ", forces alternate" if any("alternate" in x for x in best.warnings) else ""
    reason = attrs.get("not_exact", "").splitlines()
    return (f"in steps, {reason[0].partition(', most of all')[0]}" if reason else "exact") + told


def free_table(name: str, cs: Sequence[float], grids: Sequence[int]) -> None:
    """Print a table of a chain in steps of free size."""
    ideal = planar(name, None, 100).solve().objective
    stated = {(c, n): planar(name, c, n, 0.5) for c in cs for n in grids}
    rows = [row(*k, ideal, partial(freed, x)) for k, x in stated.items()]
    title = f"{name}, steps of free size, normal implicitness 0.5; ideal joints {ideal:.4f}"
    print(f"\n{title}\n\n{table(HEAD, rows)}", flush=True)


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
    parser.add_argument("--steps", type=int, nargs="*", help="grids of the plain call")
    parser.add_argument("--fine", type=int, default=1600, help="steps for comparison")
    parser.add_argument("--clearance", type=float, nargs="*", help="radial [m]")
    options = parser.parse_args()
    cs, grids = QUICK if options.quick else (RADIAL, STEPS)
    cs, grids = options.clearance or cs, options.steps or grids
    wanted = [options.only] if options.only else ["pendulum", "arm", "free", "spatial"]
    print(machine())
    for name in wanted:
        if name in MOTIONS:
            plain_table(name, cs, grids, options.fine)
        elif name == "free":
            for chain in MOTIONS:
                free_table(chain, cs, grids)
        else:
            spatial_table([c for c in cs if c >= 1e-4], grids)


if __name__ == "__main__":
    main()
