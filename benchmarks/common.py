"""Helpers of the benchmarks: case A's reference, runs in turn, tables, pictures in results/."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, TypeVar
from unittest.mock import patch

import casadi as ca
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray

from nsopt import Compiled, Problem, Result, Solver, StepBounds, simulate
from nsopt.leaves import leaf
from nsopt.plots import save
from nsopt.plots.style import page
from nsopt.schemes import Scheme

T = TypeVar("T")
Array = NDArray[np.float64]

RESULTS = Path(__file__).resolve().parents[1] / "results"

THETA = -0.0137398064
"""Case A after 2 s: rotation of the body about z since the start [rad], mod 2 pi (event-driven)."""

IDEAL_THETA = -0.016225082719
"""The same on an ideal hinge (exact)."""

IMPACT_LOSS = 2.59676e-3
"""Case A: energy that its one impact takes [J] (event-driven)."""


def machine() -> str:
    """Return what a table was measured on; the load tells how far to trust its times."""
    load = os.getloadavg()[0]
    return (
        f"{processor()}, {os.cpu_count()} cores, load {load:.1f}; nsopt {version('nsopt')}, "
        f"Python {platform.python_version()}, CasADi {ca.CasadiMeta.version()}"
    )


def processor() -> str:
    """Return the name of this machine's processor; without Linux, its architecture."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, aligned so that it reads as plain text too."""
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    lines = [
        "| " + " | ".join(_placed(text, widths[k], k) for k, text in enumerate(row)) + " |"
        for row in (head, *rows)
    ]
    rule = "|" + "|".join("-" * (w + 1) + ("-" if k == 0 else ":") for k, w in enumerate(widths))
    return "\n".join([lines[0], rule + "|", *lines[1:]])


def _placed(text: str, width: int, column: int) -> str:
    return text.ljust(width) if column == 0 else text.rjust(width)


def picture(
    title: str, columns: int, size: tuple[float, float], rows: int = 1
) -> tuple[Figure, Any]:
    """Return a figure in the look of nsopt's own and its axes (rows, columns)."""
    return page(title, [], rows, columns, size)


def keep(figure: Figure, name: str) -> None:
    """Save a figure under results/ and say where."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                axis.set_minor_formatter(NullFormatter())  # crowded
    print(f"picture: {save(figure, RESULTS / f'{name}.png').relative_to(RESULTS.parent)}")


def run(
    problem: Problem,
    steps: StepBounds,
    scheme: Scheme,
    solver: Solver | Compiled,
    duration: float | None = None,
) -> Result:
    """Simulate a problem; say so where a run ends early."""
    result = simulate(
        problem.dynamics,
        problem.start,
        problem.duration if duration is None else duration,
        steps=steps,
        scheme=scheme,
        solver=solver,
        check=None,
        progress=False,
    )
    if not result.completed:
        print(f"STOPPED EARLY, {type(scheme).__name__}: {result.data.attrs['stop_reason']}")
    return result


def solver_seconds(result: Result) -> float:
    """Return the time in the solver, or in the calls of the chain, over the whole run [s]."""
    return float(np.nansum(result["solve_time"]))


def per_step(result: Result) -> float:
    """Return the time a step in the solver, or in the chain [s]."""
    return solver_seconds(result) / (result.data.sizes["time"] - 1)


def retried(result: Result) -> int:
    """Return how many steps were retried, with the chain's own or with other solvers."""
    return int(np.sum(result["retries"].values[1:] > 0))


def turn(result: Result) -> float:
    """Return the first body's rotation about z at the end [rad], mod 2 pi."""
    return float(2 * np.arctan2(*result["body_quaternion"].values[-1, 0, [3, 0]]))


def off(angle: float, reference: float) -> float:
    """Return the difference of two angles, between -pi and pi [rad]."""
    return float((angle - reference + np.pi) % (2 * np.pi) - np.pi)


def in_turn(calls: Mapping[str, Callable[[], T]], repeats: int) -> dict[str, list[T]]:
    """Call all in turn, ``repeats`` times over, so that a busy machine slows them alike."""
    results: dict[str, list[T]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            results[name].append(call())
    return results


def ratio(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return the median of the ratios of what was measured in turn."""
    return median(a / b for a, b in zip(ones, others, strict=True))


def cpu_seconds(call: Callable[[], T]) -> tuple[T, float]:
    """Return what a call returns and the processor's time it took, waiting not counted [s]."""
    begin = time.process_time()
    value = call()
    return value, time.process_time() - begin


def settle(seconds: Callable[[], float], pause: float = 5.0) -> None:
    """Measure until times no longer fall: code of LLVM's level 2 is made meanwhile.

    Parameters
    ----------
    seconds : callable
        Measures once.
    pause : float [s]
        Between two measurements, long enough to make the code of the mechanism.
    """
    with patch.object(leaf, "SOON", 0.0), patch.object(leaf, "LATER", 0.0):
        before = np.inf
        while (now := seconds()) < 0.98 * before:
            before = now
            time.sleep(pause)


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent of y ~ x^k, fitted over all points."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
