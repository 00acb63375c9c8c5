"""Size of the mechanism against time per step, to its code, and size of that; variational step.

Three families: a chain of n pendulums on clearance hinges, one slider in prismatic guides of more
and more corners, one door on more and more hinges. Every size runs in a process of its own with an
empty cache of machine code, beside the kernels, which a machine has once; seconds to the end of
the first step are of the processor, so that a busy machine counts less.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from common import cpu_seconds, keep, machine, picture, retried, slope, table

from nsopt import (
    GROUND,
    Body,
    Compiled,
    Dynamics,
    Frame,
    Mechanism,
    PrismaticClearance,
    Result,
    RevoluteClearance,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.kernels import compile_kernels
from nsopt.plots.style import COLOURS, SMALL, axis_labels, title

STEP, COUNT, REPEATS = 2.5e-4, 1000, 5  # s, steps, runs
SIZES = {
    "chain": [1, 2, 3, 5, 7, 10, 15, 20],
    "guide": [3, 4, 6, 8, 12],
    "door": [1, 2, 4, 8],
}


def chain(n: int, mass: float = 1.0) -> Dynamics:
    """Return n pendulums of case A, each hinged to the end of the one before, held out level."""
    bodies: list[Body] = []
    hinges = []
    for k in range(n):
        pin = Frame.at(bodies[-1], (k, 0.0, 0.0)) if bodies else Frame(GROUND)
        body = Body(f"body{k}", mass, (0.01, 0.09, 0.09), position=(k + 0.5, 0.0, 0.0))
        bushing = Frame.at(body, (k, 0.0, 0.0))
        sizes: dict[str, Any] = {"length": 0.1, "clearance": 1e-3, "axial_clearance": 1e-3}
        hinges.append(RevoluteClearance(f"hinge{k}", pin, bushing, **sizes))
        bodies.append(body)
    return assemble(Mechanism(bodies), hinges, gravity=(0.0, -9.81, 0.0))


def guide(n: int) -> Dynamics:
    """Return a slider of n corners, 4 n gaps, tilted by its weight off the middle."""
    angles = 2 * np.pi * (np.arange(n) + 0.3) / n
    section = 0.03 * np.column_stack([np.cos(angles), np.sin(angles)])
    slider = Body("slider", 0.5, (4.7e-4, 4.5e-4, 1e-4), position=(0.0, 0.0, 0.02))
    here = Frame.at(slider, (0.0, 0.0, 0.0))
    joint = PrismaticClearance("guide", Frame(GROUND), here, section, length=0.1, clearance=3e-4)
    return assemble(Mechanism([slider]), [joint], gravity=(0.0, -9.81, 0.5))


def door(n: int) -> Dynamics:
    """Return a door on n hinges in line, 4 n gaps."""
    body = Body("door", 20.0, (6.7, 8.0, 1.4), position=(0.45, 0.0, 1.0))
    sizes: dict[str, Any] = {"length": 0.08, "clearance": 5e-4, "axial_clearance": 1e-3}
    hinges = [
        RevoluteClearance(f"hinge{k}", Frame(GROUND, (0, 0, z)), Frame.at(body, (0, 0, z)), **sizes)
        for k, z in enumerate(np.linspace(0.2, 1.8, n) if n > 1 else [1.0])
    ]
    return assemble(Mechanism([body]), hinges, gravity=(0.0, 2.0, -9.81))


FAMILIES: dict[str, Callable[[int], Dynamics]] = {"chain": chain, "guide": guide, "door": door}


def measured(family: str, n: int) -> dict[str, Any]:
    """Return the figures of one size; call it in a process of its own, with an empty cache."""
    dynamics = FAMILIES[family](n)

    def simulated(duration: float) -> Result:
        steps, solver = StepBounds(STEP, STEP), Compiled()
        return simulate(
            dynamics,
            duration=duration,
            steps=steps,
            scheme=Variational(),
            solver=solver,
            check=None,
            progress=False,
        )

    compile_kernels()
    first, begun = cpu_seconds(lambda: simulated(STEP))
    results = [simulated(COUNT * STEP) for _ in range(REPEATS)]
    data = results[-1].data
    smooth = data["retries"].values[1:] == 0
    # Steps of one call of the chain share their time; the least of all calls counts.
    calls = [float(r["solve_time"].values[1:][smooth].min(initial=np.inf)) for r in results]
    return {
        "family": family,
        "n": n,
        "gaps": data.sizes["contact"],
        "begun": begun,
        "making": float(first.data.attrs["compile_time"]),
        "code": sum(f.stat().st_size for f in Path(os.environ["NSOPT_CACHE"]).glob("*.o")) / 1e6,
        "us": 1e6 * min(calls),
        "iterations": float(np.mean(data["iterations"].values[1:][smooth])),
        "retried": retried(results[-1]),
        "steps": data.sizes["time"] - 1,
        "stopped": data.attrs["stop_reason"],
    }


def alone(family: str, n: int) -> dict[str, Any]:
    """Return `measured`, from a process of its own."""
    with TemporaryDirectory() as folder:
        call = [sys.executable, __file__, "--one", family, str(n)]
        own = {**os.environ, "NSOPT_CACHE": str(Path(folder, "cache"))}
        done = subprocess.run(call, env=own, capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


HEAD = ["n", "gaps", "first step [s]", "of it code [s]", "code [MB]", "us per step"]
HEAD += ["iterations", "retried"]


def row(f: dict[str, Any]) -> list[str]:
    """Return one line of the table."""
    numbers = [f"{f['begun']:.2f}", f"{f['making']:.2f}", f"{f['code']:.2f}"]
    numbers += [f"{f['us']:.3g}", f"{f['iterations']:.1f}", f"{f['retried']} of {f['steps']}"]
    return [str(f["n"]), str(f["gaps"]), *numbers]


def draw(measurements: list[dict[str, Any]]) -> None:
    """Draw time per step, and to the first, by size."""
    figure, axes = picture("Size of the mechanism: compiled variational step", 2, (9.5, 4.0))
    for k, family in enumerate(FAMILIES):
        points = [f for f in measurements if f["family"] == family]
        style = {"color": COLOURS[k], "marker": "os^"[k], "markersize": 5, "label": family}
        for ax, what in zip(axes.flat, ("us", "begun"), strict=True):
            ax.loglog([f["gaps"] for f in points], [f[what] for f in points], **style)
    for ax, words, unit in zip(
        axes.flat, ("a step", "the first step, code made"), ("µs", "s"), strict=True
    ):
        title(ax, f"time of {words}")
        axis_labels(ax, "gaps", unit)
    axes[0, 0].legend(fontsize=SMALL, frameon=False)
    keep(figure, "scaling")


def main() -> None:
    """Print a table for each family and how time grows; draw both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=20, help="longest chain")
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=FAMILIES)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one[0], int(options.one[1]))))
        return
    print(machine())
    measurements = []
    for family in options.families:
        rows = []
        for n in [n for n in SIZES[family] if n <= options.largest]:
            figures = alone(family, n)
            rows.append(row(figures))
            print("  ".join(rows[-1]), figures["stopped"], file=sys.stderr, flush=True)
            measurements.append(figures)
        print("\n" + table([family, *HEAD[1:]], rows))
        large = [f for f in measurements if f["family"] == family and f["gaps"] >= 8]
        for what in ("begun", "us", "code") if len(large) > 1 else ():
            power = slope([f["gaps"] for f in large], [f[what] for f in large])
            print(f"{what} grows with gaps^{power:.2f}, from 8 gaps up")
    draw(measurements)


if __name__ == "__main__":
    main()
