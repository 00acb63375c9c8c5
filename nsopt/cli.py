"""The command line: ``nsopt list``, ``run``, ``sweep``, ``plot``, ``info``."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from nsopt.animation import animate
from nsopt.mpcc import Ipopt, Solver, Sqp
from nsopt.plots import FIGURES, overview, save
from nsopt.problem import Problem, find_problem, load_problem, problem_files, problem_title
from nsopt.result import Result, check_writable
from nsopt.stepping import (
    Checkpoint,
    Compiled,
    Composition,
    ContactAligned,
    ErrorControl,
    MoreauJean,
    PaperStep,
    Scheme,
    StepControl,
    Variational,
    deferred_interrupt,
    simulate,
)
from nsopt.sweep import Grid, numbers, sweep, table

T = TypeVar("T")

BAD_INPUT = 2
STOPPED_EARLY = 3
NOT_SAVED = 4
INTERRUPTED = 130

SHOWN = 20
"""Retried steps that ``nsopt info`` prints."""

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


@contextmanager
def _plain_errors(code: int = BAD_INPUT, remedy: str = "") -> Iterator[None]:
    """Turn an error that is the user's to mend into one line and an exit code."""
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        if remedy:
            print(remedy, file=sys.stderr)
        raise typer.Exit(code) from error


def _choose(table: dict[str, Callable[[], T]], name: str, what: str) -> T:
    if name not in table:
        raise ValueError(f"unknown {what} {name!r}: choose one of {', '.join(table)}")
    return table[name]()


def _settings(assignments: list[str]) -> dict[str, float]:
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


def _load(name: str) -> Problem:
    """Load a problem; an error in the user's own file is told with its line, not as a traceback."""
    file = find_problem(name)
    try:
        return load_problem(name)
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


def _result_path(path: Path) -> Path:
    if path.suffix != ".nc" and not path.is_dir():
        raise ValueError(f"results are netCDF, so --out must end in .nc, got {str(path)!r}")
    return check_writable(path)


def _control(tolerance: float | None, scheme: Scheme) -> StepControl | None:
    if tolerance is not None and scheme.chooses_h:
        raise ValueError(
            "--tolerance is for schemes that do not choose h themselves, such as --scheme "
            f"variational; {type(scheme).__name__} does"
        )
    return None if tolerance is None else ErrorControl(tolerance)


def _checkpoint(target: Path, every: float, resume: bool) -> Checkpoint | None:
    """Return the checkpoint beside a result; tell of one that is there already."""
    place = Checkpoint(target.with_suffix(".checkpoint"), seconds=every or None)
    if place.exists and every and not resume:
        print(
            f"note: {place.folder} holds an unfinished run, which is replaced if this one takes "
            f"longer than {every:g} s or is interrupted; --resume goes on with it",
            file=sys.stderr,
        )
    return place if every or resume else None


def _remedy(result: Result) -> str:
    """Return how to go on with a run, if it left a checkpoint."""
    place = result.data.attrs["checkpoint"]
    return f"the same call with --resume goes on from {place}" if place else ""


@app.command("list")
def list_problems() -> None:
    """List the named problems, ready to run."""
    width = max(map(len, problem_files()), default=0)
    for name, file in problem_files().items():
        print(f"{name:<{width}}  {problem_title(file)}")


@app.command()
def run(
    problem: Annotated[
        str,
        typer.Argument(
            help="A name from 'nsopt list', or a Python file that defines problem = Problem(...)."
        ),
    ],
    t_end: Annotated[float | None, typer.Option(help="When the motion ends [s].")] = None,
    h_min: Annotated[float | None, typer.Option(help="Smallest step [s].")] = None,
    h_max: Annotated[
        float | None,
        typer.Option(
            help="Largest step [s]; equal to --h-min for a fixed step. Smaller bounds lose less "
            "energy and take longer."
        ),
    ] = None,
    scheme: Annotated[str, typer.Option(help=f"Step equations: {', '.join(SCHEMES)}.")] = "paper",
    solver: Annotated[
        str,
        typer.Option(
            help=f"First choice for each step: {', '.join(SOLVERS)}. The other takes over where it "
            "fails."
        ),
    ] = "ipopt",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another value for a Parameter of the problem, SI units; may be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to save the result (netCDF); the picture goes beside it. "
            "results/PROBLEM.nc by default."
        ),
    ] = None,
    store_every: Annotated[
        int, typer.Option(min=1, help="Keep only every that many steps, and the last.")
    ] = 1,
    tolerance: Annotated[
        float | None,
        typer.Option(
            metavar="METRES",
            help="Largest local error of a step, if the scheme does not choose h itself.",
        ),
    ] = None,
    checkpoint_every: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Wall time between checkpoints, a folder beside the result that a run which was "
            "stopped or killed leaves behind; 0 for none.",
        ),
    ] = 60.0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint; all else as it was.")
    ] = False,
) -> None:
    """Simulate a problem, save the result and a picture, print what happened."""
    with _plain_errors():
        name = Path(problem).stem
        chosen = _load(problem)
        given = {"h_min": h_min, "h_max": h_max}
        steps = replace(chosen.steps, **{k: h for k, h in given.items() if h is not None})
        target = _result_path(out or Path("results") / f"{name}.nc")
        check_writable(target.with_suffix(".png"))
        chosen_scheme = _choose(SCHEMES, scheme, "scheme")
        chosen_solver = _choose(SOLVERS, solver, "solver")
        chosen_control = _control(tolerance, chosen_scheme)
        begin = chosen.start.t if chosen.start else 0.0
        checkpoint = _checkpoint(target, checkpoint_every, resume)
    # What was computed is saved, however impatient the user.
    with deferred_interrupt():
        with _plain_errors():
            result = simulate(
                chosen.dynamics,
                chosen.start,
                chosen.duration if t_end is None else t_end - begin,
                steps=steps,
                scheme=chosen_scheme,
                solver=chosen_solver,
                control=chosen_control,
                parameters=_settings(set_ or []),
                store_every=store_every,
                checkpoint=checkpoint,
                resume=checkpoint.folder if checkpoint and resume else None,
                title=name,
            )
        with _plain_errors(NOT_SAVED, _remedy(result)):
            result.save(target)
        if result.completed and checkpoint and result.data.attrs["checkpoint"]:
            checkpoint.remove()
    _report(result, target)


def _report(result: Result, target: Path) -> None:
    """Print what happened, draw the picture, and end with the exit code of the run."""
    print(result.summary())
    print(f"{'result':<22}{target}")
    if result.data.sizes["time"] > 1:
        picture = target.with_suffix(".png")
        with _plain_errors(NOT_SAVED):
            save(overview(result), picture)
        print(f"{'picture':<22}{picture}")
    if not result.completed:
        reason, remedy = result.data.attrs["stop_reason"], _remedy(result)
        print(f"error: {reason}", file=sys.stderr)
        interrupted = reason.startswith("interrupted")
        # A step that nothing solved would not be solved the second time.
        if remedy and reason.startswith(("interrupted", "stopped")):
            print(remedy, file=sys.stderr)
        raise typer.Exit(INTERRUPTED if interrupted else STOPPED_EARLY)


@app.command("sweep")
def run_sweep(
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
    scheme: Annotated[str, typer.Option(help=f"Step equations: {', '.join(SCHEMES)}.")] = "paper",
    solver: Annotated[str, typer.Option(help=f"First choice: {', '.join(SOLVERS)}.")] = "ipopt",
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
) -> None:
    """Run a problem over a grid of parameters and step sizes, print a table of what came out."""
    name = Path(problem).stem
    folder = out or Path("results") / f"{name}_sweep"
    with _plain_errors():
        pairs = [text.partition("=") for text in set_]
        values = {left.strip(): numbers(right) for left, _, right in pairs}
        if len(values) < len(pairs):
            raise ValueError("--set takes every name once: NAME=VALUE,VALUE,...")
        grid, chosen = Grid(values), _load(problem)
        begin = chosen.start.t if chosen.start else 0.0
        check_writable(folder / "sweep.nc")
        try:
            data = sweep(
                chosen,
                grid,
                duration=None if t_end is None else t_end - begin,
                scheme=_choose(SCHEMES, scheme, "scheme"),
                solver=_choose(SOLVERS, solver, "solver"),
                workers=workers,
                folder=folder,
                title=name,
            )
        except OSError as error:
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(NOT_SAVED) from error
        except KeyboardInterrupt:
            print(f"error: interrupted; the same call goes on from {folder}", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
    print(table(data))
    print(f"{'sweep':<22}{folder / 'sweep.nc'}")
    if failed := int((data["completed"] == 0).sum()):
        print(f"error: {failed} of {data['completed'].size} runs failed", file=sys.stderr)
        raise typer.Exit(STOPPED_EARLY)


@app.command()
def plot(
    results: Annotated[
        list[Path], typer.Argument(help="Saved results; several are overlaid for comparison.")
    ],
    what: Annotated[
        str, typer.Option(help=f"Which picture: {', '.join(FIGURES)}, or animation.")
    ] = "overview",
    out: Annotated[
        Path | None,
        typer.Option(help="File to write: .png, .pdf, .svg; .gif or .mp4 for an animation."),
    ] = None,
) -> None:
    """Draw a picture of one or several saved results."""
    with _plain_errors():
        loaded = [Result.open(path) for path in results]
        ending = ".gif" if what == "animation" else ".png"
        default = results[0].with_name(f"{results[0].stem}_{what}{ending}")
        target = check_writable(out or default)
        if what == "animation":
            animate(loaded[0], target)
        elif what in FIGURES:
            save(FIGURES[what](*loaded), target)
        else:
            raise ValueError(
                f"unknown picture {what!r}: choose one of {', '.join(FIGURES)}, animation"
            )
        print(target)


@app.command()
def info(result: Annotated[Path, typer.Argument(help="A saved result.")]) -> None:
    """Print what a saved result holds: summary, provenance, variables."""
    with _plain_errors():
        opened = Result.open(result)
    data, attrs = opened.data, opened.data.attrs
    print(opened.summary())
    print(f"{'parameters':<22}{json.loads(attrs['parameters']) or 'none'}")
    print(
        f"{'made with':<22}nsopt {attrs['nsopt_version']}, casadi {attrs['casadi_version']}, "
        f"model {attrs['model_hash']}"
    )
    print(f"{'options':<22}{attrs['scheme']}\n{'':<22}{attrs['solver']}")
    retried = [
        (t, text) for t, text in zip(data["time"].values, data["tried"].values, strict=True) if text
    ]
    for t, text in retried[:SHOWN]:
        print(f"{'retried':<22}t = {t:.9g} s: {text}")
    if len(retried) > SHOWN:
        print(f"{'':<22}and {len(retried) - SHOWN} more, in the variable 'tried'")
    for name, variable in data.variables.items():
        unit = variable.attrs.get("units", "")
        text = variable.attrs.get("long_name", "")
        print(f"  {name!s:<24} {', '.join(map(str, variable.dims)):<26} {f'[{unit}]':<12} {text}")
