"""``nsopt optimize``: find the best motion, save, draw, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nsopt.cli.common import NOT_SAVED, Out, Settings, load, plain_errors, result_path, settings
from nsopt.cli.run import report
from nsopt.problem import load_optimization
from nsopt.result import check_writable


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
    report(result, target)
