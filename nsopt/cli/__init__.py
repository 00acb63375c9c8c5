"""The command line, ``nsopt``: list, run, sweep, optimize, plot, view, info."""

from __future__ import annotations

import typer

from nsopt.cli.common import BAD_INPUT, INTERRUPTED, NOT_SAVED, STOPPED_EARLY
from nsopt.cli.look import info, list_problems, plot, view
from nsopt.cli.optimize import optimize
from nsopt.cli.run import run
from nsopt.cli.sweep import run_sweep

__all__ = ["BAD_INPUT", "INTERRUPTED", "NOT_SAVED", "STOPPED_EARLY", "app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help=(
        "Simulate mechanisms with real joints: clearance, contact, variable step size.\n\n"
        "Start with: nsopt run revolute_pendulum, then open the picture it names.\n\n"
        "Exit codes: 0 done; 2 bad input, nothing was run; 3 a run stopped early, what was "
        "computed is saved; 4 the result could not be saved; 130 interrupted, what was computed is "
        "saved."
    ),
)

app.command("list")(list_problems)
app.command()(run)
app.command("sweep")(run_sweep)
app.command()(optimize)
app.command()(plot)
app.command()(view)
app.command()(info)
