"""``nsopt run``: simulate a problem, save, draw, report."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from nsopt.cli.choices import ImpactName, SchemeName, SolverName, choose_scheme, choose_solver
from nsopt.cli.common import (
    INTERRUPTED,
    NOT_SAVED,
    STOPPED_EARLY,
    Out,
    Overwrite,
    Settings,
    claim_result,
    load,
    name_checkpoint,
    plain_errors,
    read_settings,
)
from nsopt.files import check_writable
from nsopt.interrupt import guard
from nsopt.problem import load_stated
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.simulation import Check, Checkpoint, ErrorControl, StepBounds, StepControl, simulate


def run(
    context: typer.Context,
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
    scheme: SchemeName = None,
    impact: ImpactName = None,
    solver: SolverName = None,
    set_: Settings = None,
    out: Out = None,
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
    accuracy: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="Error that motion and energy may have, over their sizes: steps are shortened "
            "until it is met.",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(help="Repeat the run in other steps, which tells its errors."),
    ] = True,
    overwrite: Overwrite = False,
) -> None:
    """Simulate a problem, save the result and a picture, print a summary."""
    with plain_errors():
        name = Path(problem).stem
        stated, values = load(problem, load_stated), read_settings(set_ or [])
        chosen = stated.at(values)
        bounds = {"h_min": h_min, "h_max": h_max}
        given_bounds = {k: h for k, h in bounds.items() if h is not None}
        steps = _choose_steps(chosen.steps, given_bounds)
        path = out or Path("results") / f"{name}.nc"
        target = claim_result(context, path, overwrite or resume, resumable=True)
        check_writable(target.with_suffix(".png"))
        chosen_scheme = choose_scheme(scheme, impact, chosen.scheme)
        chosen_solver = choose_solver(solver)
        chosen_control = _choose_control(tolerance, chosen_scheme)
        begin = chosen.start.t if chosen.start else 0.0
        # An accuracy is met by many runs, none of which can be gone on with by itself.
        checkpoint = _choose_checkpoint(target, checkpoint_every if accuracy is None else 0, resume)
        if accuracy is not None and not check:
            raise ValueError("--accuracy is met by errors that are measured: leave out --no-check")
    # With an accuracy the problem's own bounds give way to those that `simulate` begins with.
    own_or_given = steps if accuracy is None or given_bounds else None
    with guard():  # after Ctrl-C the steps so far are saved
        with plain_errors():
            result = simulate(
                chosen.dynamics,
                chosen.start,
                chosen.duration if t_end is None else t_end - begin,
                steps=own_or_given,
                accuracy=accuracy,
                scheme=chosen_scheme,
                solver=chosen_solver,
                control=chosen_control,
                parameters={x: y for x, y in values.items() if x not in stated.choices},
                store_every=store_every,
                checkpoint=checkpoint,
                check=Check() if check else None,
                title=name,
            )
        with plain_errors(NOT_SAVED, _suggest_resuming(result)):
            result.save(target)
        if result.completed and checkpoint and result.data.attrs["checkpoint"]:
            checkpoint.remove()
    report(result, target)


def _choose_steps(stated: StepBounds, given: dict[str, float]) -> StepBounds:
    try:
        return replace(stated, **given)
    except ValueError as error:
        if len(given) == 2:
            raise
        raise ValueError(
            f"{error}; the problem itself has h from {stated.h_min:g} to {stated.h_max:g} s, so "
            "give both --h-min and --h-max"
        ) from None


def _choose_control(tolerance: float | None, scheme: Scheme) -> StepControl | None:
    if tolerance is not None and scheme.chooses_h:
        raise ValueError(
            "--tolerance is for schemes that do not choose h themselves, such as --scheme "
            f"variational or paper-given-h; {type(scheme).__name__} does"
        )
    return None if tolerance is None else ErrorControl(tolerance)


def _choose_checkpoint(target: Path, every: float, resume: bool) -> Checkpoint | None:
    """Return the checkpoint beside a result, written every so many seconds, none if that is zero.

    With a note on one that is there already.
    """
    folder = name_checkpoint(target)
    checkpoint = Checkpoint(folder, seconds=every or None, resume=resume)
    if checkpoint.exists and every and not resume:
        print(
            f"note: {folder} holds an unfinished run, which is replaced if this one takes "
            f"longer than {every:g} s or is interrupted; --resume goes on with it",
            file=sys.stderr,
        )
    return checkpoint if every or resume else None


def _suggest_resuming(result: Result) -> str:
    """Return how to resume a run, for messages; empty if it left no checkpoint."""
    folder = result.data.attrs["checkpoint"]
    return f"the same call with --resume goes on from {folder}" if folder else ""


def report(result: Result, target: Path) -> None:
    """Print the summary, draw the picture, and end with the exit code of the run."""
    from nsopt.plots import overview, save  # takes longer than what other commands do

    print(result.summary())
    print(f"{'result':<22}{target}")
    if result.data.sizes["time"] > 1:
        picture = target.with_suffix(".png")
        with plain_errors(NOT_SAVED):
            save(overview(result), picture)
        print(f"{'picture':<22}{picture}")
    if not result.completed:
        reason, _, attempts = result.stop_reason.partition("\n")
        remedy = _suggest_resuming(result)
        print(f"error: {reason}", file=sys.stderr)
        if attempts:
            print(f"each attempt: nsopt info {target}", file=sys.stderr)
        # A step that nothing solved would not be solved the second time.
        if remedy and not result.data.attrs["no_step"]:
            print(remedy, file=sys.stderr)
        raise typer.Exit(INTERRUPTED if result.interrupted else STOPPED_EARLY)
