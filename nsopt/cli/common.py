"""What the commands share: exit codes, names of choices, errors in plain words."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from nsopt.mpcc import Ipopt, Solver, Sqp
from nsopt.problem import find_problem
from nsopt.result import check_writable
from nsopt.stepping import (
    Compiled,
    Composition,
    ContactAligned,
    MoreauJean,
    PaperStep,
    Scheme,
    Variational,
)

T = TypeVar("T")

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another value for a Parameter of the problem, SI units; may be repeated.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Where to save the result (netCDF); the picture goes beside it. "
        "results/PROBLEM.nc by default."
    ),
]

BAD_INPUT = 2
STOPPED_EARLY = 3
NOT_SAVED = 4
INTERRUPTED = 130

SCHEMES: dict[str, Callable[[], Scheme]] = {
    "paper": PaperStep,
    "variational": Variational,
    "moreau-jean": MoreauJean,
    "contact-aligned": ContactAligned,
    "composition": Composition,
}
SOLVERS: dict[str, Callable[[], Solver | Compiled]] = {
    "ipopt": lambda: Solver(backend=Ipopt()),
    "sqp": lambda: Solver(backend=Sqp()),
    "compiled": Compiled,
}


@contextmanager
def plain_errors(code: int = BAD_INPUT, remedy: str = "") -> Iterator[None]:
    """Turn an error that is the user's to mend into one line and an exit code."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        if remedy:
            print(remedy, file=sys.stderr)
        raise typer.Exit(code) from error


def choose(table: dict[str, Callable[[], T]], name: str, what: str) -> T:
    """Return a new object of the named kind."""
    if name not in table:
        raise ValueError(f"unknown {what} {name!r}: choose one of {', '.join(table)}")
    return table[name]()


def load(name: str, how: Callable[[str], T]) -> T:
    """Load a file; an error in the user's own file is told with its line, not as a traceback."""
    file = find_problem(name)
    try:
        return how(name)
    except Exception as error:
        lines = [
            f.lineno
            for f in traceback.extract_tb(error.__traceback__)
            if Path(f.filename).resolve() == file.resolve()
        ]
        if isinstance(error, SyntaxError):
            lines = [error.lineno]
        where = f"{file.name}, line {lines[-1]}: " if lines else ""
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise ValueError(f"{where}{kind}{error}") from error


def settings(assignments: list[str]) -> dict[str, float]:
    """Return the values of --set NAME=VALUE."""
    values = {}
    for text in assignments:
        name, equals, number = text.partition("=")
        try:
            values[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(f"--set takes NAME=NUMBER, got {text!r}")
    return values


def result_path(path: Path) -> Path:
    """Return where a result goes, if it can be written there."""
    if path.suffix != ".nc" and not path.is_dir():
        raise ValueError(f"results are netCDF, so --out must end in .nc, got {str(path)!r}")
    return check_writable(path)
