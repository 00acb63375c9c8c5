"""``nsopt optimize``: find the best motion, save, draw, report."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from nsopt.cli.choices import HORIZON_BACKENDS, choose
from nsopt.cli.common import (
    NOT_SAVED,
    Out,
    Overwrite,
    Settings,
    claim_result,
    load,
    plain_errors,
    read_settings,
)
from nsopt.cli.run import report
from nsopt.files import check_writable
from nsopt.interrupt import guard
from nsopt.problem import load_optimization
from nsopt.simulation import Check

CHECKS = {None: Check(), True: Check(seconds=math.inf), False: None}
"""Checks of the grid: by default, and as asked for."""

MOST_STEPS = 100_000  # steps of a horizon, at most: all are in memory, some kilobytes each


def optimize(
    context: typer.Context,
    problem: Annotated[
        str,
        typer.Argument(
            help="A name from 'nsopt list', or a Python file that defines "
            "optimization = Optimization(...)."
        ),
    ],
    steps: Annotated[
        int | None, typer.Option(min=2, max=MOST_STEPS, help="Number of steps of the horizon.")
    ] = None,
    set_: Settings = None,
    out: Out = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help=f"Backend, instead of that of the problem: {', '.join(HORIZON_BACKENDS)}."
        ),
    ] = None,
    in_steps: Annotated[
        bool,
        typer.Option(
            "--in-steps", help="Leave changes of contact at steps: do not make their times exact."
        ),
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate the optimum from its start and compare.")
    ] = False,
    accuracy: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="Error that objective and motion may have, over their sizes: steps are doubled "
            "until it is met.",
        ),
    ] = None,
    check: Annotated[
        bool | None,
        typer.Option(
            "--check/--no-check",
            show_default=False,
            help="Solve it again in half and twice the steps, which tells its error, however long "
            "that takes, or not at all. By default where it takes at most five seconds.",
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Find the motion of least cost, save the result and a picture, print a summary."""
    with plain_errors():
        name = Path(problem).stem
        optimization = load(problem, load_optimization)
        target = claim_result(context, out or Path("results") / f"{name}.nc", overwrite)
        check_writable(target.with_suffix(".png"))
        if solver is not None:
            stated, backend = optimization.solver, choose(HORIZON_BACKENDS, solver, "solver")
            # The options of a backend that the problem itself states are kept.
            if type(stated.backend) is not type(backend):
                optimization = replace(optimization, solver=replace(stated, backend=backend))
        if in_steps:
            from nsopt.trajectory import ExactContacts  # other commands do without

            plan = optimization.plan.without(ExactContacts)
            optimization = replace(optimization, plan=plan)
        if accuracy is not None and check is False:
            raise ValueError("--accuracy is met by errors that are measured: leave out --no-check")
    with guard():  # after Ctrl-C the motion so far is saved
        with plain_errors():
            result = optimization.solve(
                read_settings(set_ or []),
                steps,
                name,
                verify,
                check=CHECKS[check],
                accuracy=accuracy,
            )
        with plain_errors(NOT_SAVED):
            result.save(target)
    report(result, target)
