"""Shared by the commands: exit codes, options, errors as one line."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from nsopt.claim import claim_file
from nsopt.files import NotWrittenError, check_writable, tell_exposure
from nsopt.interrupt import EXIT_CODE, interruptible
from nsopt.problem import find_problem

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

Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace a result that is there already.")
]

BAD_INPUT, STOPPED_EARLY, NOT_SAVED, INTERRUPTED = 2, 3, 4, EXIT_CODE
"""Exit codes, as ``nsopt --help`` explains them."""


def _tell_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as a line of a summary, without the place in the source that it is from."""
    print(f"{'WARNING':<21} {message}", file=sys.stderr)


@contextmanager
def command() -> Iterator[None]:
    """End a command with one line and an exit code where it cannot go on.

    The code is 130 where Ctrl-C or SIGTERM came, if only at its end, and 4 where what it prints
    cannot be written. A pipe whose reader has gone ends it without a word.
    """
    try:
        with interruptible(), warnings.catch_warnings(), write_output():
            warnings.showwarning = _tell_warning
            yield
            if sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    except MemoryError as error:
        print(f"error: {_tell_error(error)}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from None


@contextmanager
def write_output() -> Iterator[None]:
    """End with 4, and a line, where what is printed cannot be written."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # letters that the locale does not have
    try:
        yield
    except OSError as error:
        # One that names a file is not of the output, nor one that the system did not raise.
        if error.filename is not None or error.errno is None:
            raise
        _drop_output()
        if error.errno != errno.EPIPE:
            print(f"error: cannot write the output: {_tell_error(error)}", file=sys.stderr)
        raise typer.Exit(NOT_SAVED) from None


def _drop_output() -> None:
    """Send the rest of the output nowhere: as it ends, Python would try to write it again."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _tell_error(error: BaseException) -> str:
    """Return an error as one line."""
    if isinstance(error, MemoryError):
        return "not enough memory: take fewer steps, or keep fewer by --store-every"
    if isinstance(error, OSError) and error.filename is None and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def plain_errors(code: int = BAD_INPUT, remedy: str = "") -> Iterator[None]:
    """Turn an error that is the user's to mend into one line and an exit code."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        print(f"error: {error if str(error) else _tell_error(error)}", file=sys.stderr)
        if remedy:
            print(remedy, file=sys.stderr)
        raise typer.Exit(NOT_SAVED if isinstance(error, NotWrittenError) else code) from error


def load(name: str, how: Callable[[str], T]) -> T:
    """Load a problem by ``how``; an error in the user's file becomes one line with its place."""
    file = find_problem(name)
    try:
        with interruptible():
            return how(name)
    except Exception as error:
        origin = error.__cause__ if isinstance(error.__cause__, SystemExit) else error  # sys.exit()
        lines = [
            f.lineno
            for f in traceback.extract_tb(origin.__traceback__)
            if Path(f.filename).resolve() == file.resolve()
        ]
        if isinstance(error, SyntaxError):
            lines = [error.lineno] if error.lineno else []
        where = f"{file.name}, line {lines[-1]}: " if lines else ""
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise ValueError(f"{where}{kind}{error}") from error


def read_settings(assignments: list[str]) -> dict[str, float]:
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


def name_checkpoint(target: Path) -> Path:
    """Return the folder of the checkpoint beside a result."""
    return target.with_suffix(".checkpoint")


def claim_result(
    context: typer.Context, path: Path, replace: bool, *, resumable: bool = False
) -> Path:
    """Return the path to save a result to, which this run alone can write until it ends.

    A result that is there already is refused unless ``replace`` allows it; ``resumable`` says
    whether the command could go on from a checkpoint.
    """
    if path.suffix != ".nc" and not path.is_dir():
        raise ValueError(f"results are netCDF, so --out must end in .nc, got {str(path)!r}")
    claim(context, path)
    if path.exists() and not replace:  # after the claim: no other run makes one in between
        from nsopt.simulation import Checkpoint

        left = resumable and Checkpoint(name_checkpoint(path)).exists
        raise FileExistsError(
            f"{str(path)!r} is there already: name another place by --out, or replace it by "
            f"--overwrite{', or go on with it by --resume' if left else ''}"
        )
    return path


def claim(context: typer.Context, path: Path) -> Path:
    """Return a path that can be written, held against other runs to the end of the command."""
    remedy = "wait until it is done, or name another place by --out"
    check_writable(path)
    if why := tell_exposure(path.parent):
        told = "others can replace or delete the result; --out names another place"
        print(f"note: folder {str(path.parent)!r}: {why}: {told}", file=sys.stderr)
    context.with_resource(claim_file(path, remedy))
    return path
