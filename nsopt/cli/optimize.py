"""``nsopt optimize``: find the best motion, save, draw, report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nsopt.cli.common import NOT_SAVED, Out, Settings, load, plain_errors, result_path, settings
from nsopt.cli.run import report
from nsopt.problem import load_optimization
from nsopt.result import Result, check_writable


def optimize(
    problem: Annotated[
        str,
        typer.Argument(
            help="A name from 'nsopt list', or a Python file that defines "
            "optimization = Optimization(...)."
        ),
    ],
    steps: Annotated[
        int | None, typer.Option(min=2, help="Number of steps of the horizon.")
    ] = None,
    set_: Settings = None,
    out: Out = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate the optimum from its start and compare.")
    ] = False,
) -> None:
    """Find the motion of least cost, save the result and a picture, print what was found."""
    with plain_errors():
        name = Path(problem).stem
        chosen = load(problem, load_optimization)
        target = result_path(out or Path("results") / f"{name}.nc")
        check_writable(target.with_suffix(".png"))
        result = chosen.solve(settings(set_ or []), steps, name, verify)
    with plain_errors(NOT_SAVED):
        result.save(target)
    _costs(result)
    report(result, target)


def _told(shares: str) -> str:
    return ", ".join(f"{name} {value:.6g}" for name, value in json.loads(shares).items())


def _costs(result: Result) -> None:
    """Print the optimum and what it is made of."""
    attrs = result.data.attrs
    print(f"{'objective':<22}{attrs['objective']:.10g} ({_told(attrs['detailed_cost'])})")
    print(f"{'that of the guess':<22}{_told(attrs['guess_cost'])}")
    print(f"{'status':<22}{attrs['status']}, conditions to {attrs['violation']:.1e}")
    if np.isfinite(attrs["deviation"]):
        afresh = f"{attrs['deviation']:.1e} (m, rad) beside a node at most"
        print(f"{'integrated afresh':<22}{afresh}")
    if "resimulated_deviation" in attrs:
        off, until = attrs["resimulated_deviation"], attrs["resimulated_until"]
        print(f"{'simulated afresh':<22}to {until:g} s, {off:.1e} (m, rad) off at most")
