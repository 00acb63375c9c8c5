"""The command line, ``nsopt``: list, run, sweep, optimize, mobility, plot, view, info."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from nsopt.cli.common import BAD_INPUT, INTERRUPTED, NOT_SAVED, STOPPED_EARLY, Commands, command
from nsopt.cli.look import info, list_problems, view
from nsopt.cli.mobility import mobility
from nsopt.cli.optimize import optimize
from nsopt.cli.plot import plot
from nsopt.cli.run import run
from nsopt.cli.sweep import run_sweep
from nsopt.versions import version

__all__ = ["BAD_INPUT", "INTERRUPTED", "NOT_SAVED", "STOPPED_EARLY", "app"]

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help=(
        "Simulate mechanisms with real joints: clearance, contact, variable step size.\n\n"
        "Start with: nsopt run revolute_pendulum --h-min 2.5e-4 --h-max 5e-4, then open the "
        "picture it names.\n\n"
        "Exit codes: 0 done; 2 bad input, nothing was run; 3 a run stopped early, what was "
        "computed is saved; 4 the result could not be saved; 130 interrupted (Ctrl-C or SIGTERM), "
        "what was computed is saved."
    ),
)


def _tell_version(asked: bool) -> None:
    if asked:
        print(f"nsopt {version('nsopt')}")
        raise typer.Exit


@app.callback()
def _options(
    told: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_tell_version, help="Tell the version."),
    ] = False,
) -> None:
    pass


_commands: dict[str, Callable[..., None]] = {
    "list": list_problems,
    "run": run,
    "sweep": run_sweep,
    "optimize": optimize,
    "mobility": mobility,
    "plot": plot,
    "view": view,
    "info": info,
}
for _name, _function in _commands.items():
    app.command(_name)(command()(_function))
