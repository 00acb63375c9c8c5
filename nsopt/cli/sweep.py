"""``nsopt sweep``: a problem over a grid of parameters and step sizes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from nsopt.checks import check_names
from nsopt.cli.choices import ImpactName, SchemeName, SolverName, choose_scheme, choose_solver
from nsopt.cli.common import (
    INTERRUPTED,
    NOT_SAVED,
    STOPPED_EARLY,
    claim,
    load,
    plain_errors,
)
from nsopt.problem import load_stated
from nsopt.simulation import Check
from nsopt.sweep import Grid, numbers, sweep, table


def run_sweep(
    context: typer.Context,
    problem: Annotated[str, typer.Argument(help="As for 'nsopt run'.")],
    set_: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME=VALUES",
            help="Values of a Parameter of the problem, or of h (fixed step), h_min, h_max: "
            "1e-4,3e-4 or FROM:TO:COUNT or log:FROM:TO:COUNT; may be repeated for a grid.",
        ),
    ],
    t_end: Annotated[float | None, typer.Option(help="When the motion ends [s].")] = None,
    scheme: SchemeName = None,
    impact: ImpactName = None,
    solver: SolverName = None,
    of: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OUTPUT",
            help="An output of an element whose largest value is shown too, such as cone.excess; "
            "may be repeated.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; one for each core by default.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the finished runs and of sweep.nc; runs that are there already are not "
            "repeated. results/PROBLEM_sweep by default."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(help="Repeat each run in other steps, which tells errors of the measures."),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace a sweep.nc that has other points than this one."),
    ] = False,
) -> None:
    """Run a problem over a grid of parameters and step sizes, print a table of the measures."""
    name = Path(problem).stem
    folder = out or Path("results") / f"{name}_sweep"
    with plain_errors():
        pairs = [text.partition("=") for text in set_]
        values = {left.strip(): numbers(right) for left, _, right in pairs}
        if len(values) < len(pairs):
            raise ValueError("--set takes every name once: NAME=VALUE,VALUE,...")
        grid, chosen = Grid(values), load(problem, load_stated)
        first = chosen.at(grid.rows()[0])
        why = " is no output of an element"
        check_names("--of", of or (), first.dynamics.output_names, why)
        begin = first.start.t if first.start else 0.0
        method: dict[str, Any] = {}
        if scheme is not None or impact is not None:  # else each point has that of its problem
            method["scheme"] = choose_scheme(scheme, impact, first.scheme)
        if check:
            method["check"] = Check()
        claim(context, folder / "sweep.nc")
        try:
            data = sweep(
                chosen,
                grid,
                duration=None if t_end is None else t_end - begin,
                **method,
                solver=choose_solver(solver),
                workers=workers,
                folder=folder,
                overwrite=overwrite,
                title=name,
            )
        except OSError as error:
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(NOT_SAVED) from error
        except KeyboardInterrupt:
            print(f"error: interrupted; the same call goes on from {folder}", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
    print(table(data, of or ()))
    print(f"{'sweep':<22}{folder / 'sweep.nc'}")
    if failed := int((data["completed"] == 0).sum()):
        print(f"error: {failed} of {data['completed'].size} runs failed", file=sys.stderr)
        raise typer.Exit(STOPPED_EARLY)
