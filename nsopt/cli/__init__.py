"""The command line, ``nsopt``: list, run, sweep, optimize, mobility, plot, view, info."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from nsopt.cli.common import BAD_INPUT, INTERRUPTED, NOT_SAVED, STOPPED_EARLY, command, write_output
from nsopt.versions import version

__all__ = ["BAD_INPUT", "INTERRUPTED", "NOT_SAVED", "STOPPED_EARLY", "app"]

FUNCTIONS = {
    "list": "look:list_problems",
    "run": "run:run",
    "sweep": "sweep:run_sweep",
    "optimize": "optimize:optimize",
    "mobility": "mobility:mobility",
    "plot": "plot:plot",
    "view": "look:view",
    "info": "look:info",
}
"""Modules of commands and their functions."""

PLAIN: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
}


class _CommandsByName(Mapping[str, Any]):
    """All commands, each loaded when it is asked for: what lists problems needs no solver."""

    def __getitem__(self, name: str) -> Any:
        module, function = FUNCTIONS[name].split(":")
        alone = typer.Typer(**PLAIN)
        alone.command(name)(command()(getattr(import_module(f"nsopt.cli.{module}"), function)))
        return get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return iter(FUNCTIONS)

    def __len__(self) -> int:
        return len(FUNCTIONS)


class Commands(TyperGroup):
    """The group of commands: where --help cannot be written it ends as a command does."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "commands": {}})
        self.commands: Any = _CommandsByName()

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command, or tell its help."""
        try:
            with write_output():
                return super().main(*args, **options)
        except typer.Exit as end:
            sys.exit(end.exit_code)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    **PLAIN,
    help=(
        "Simulate mechanisms with real joints: clearance, contact, variable step size.\n\n"
        "Start with: nsopt run revolute_pendulum --h-min 1e-6 --h-max 2e-4, then open the "
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
