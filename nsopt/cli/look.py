"""``nsopt list``, ``plot``, ``view`` and ``info``: look at problems and at saved results."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nsopt.cli.common import plain_errors
from nsopt.files import check_writable
from nsopt.problem import command_of, problem_files, problem_title
from nsopt.result import Result
from nsopt.stored import check_hash

PICTURES = (
    "overview",
    "contact_paths",
    "contact_forces",
    "velocities",
    "positions",
    "coordinates",
    "step_size",
    "residuals",
    "energies",
    "gaps",
    "joint_closure",
    "effort",
    "range_of_motion",
    "joint_torques",
    "base_force",
    "tracked_points",
    "joint_coordinates",
    "joint_accelerations",
    "joint_forces",
    "joint_rms",
    "programmed_paths",
    "link_shapes",
    "orbits",
    "contact_modes",
    "phase_portrait",
    "spectra",
)
"""Names of `nsopt.plots.FIGURES`, which takes longer to import than all else of `info`."""

SHOWN = 20
"""Retried steps that ``nsopt info`` prints."""


def list_problems() -> None:
    """List the named problems, ready to run, to optimize, or to find the mobility of."""
    files = problem_files()
    width = max(map(len, files), default=0)
    for command in ("run", "optimize", "mobility"):
        print(f"nsopt {command} ...")
        for name, file in files.items():
            if command_of(file) == command:
                print(f"  {name:<{width}}  {problem_title(file)}")


def plot(
    results: Annotated[
        list[Path], typer.Argument(help="Saved results; several are overlaid for comparison.")
    ],
    what: Annotated[
        str, typer.Option(help=f"Which picture: {', '.join(PICTURES)}, or animation.")
    ] = "overview",
    out: Annotated[
        Path | None,
        typer.Option(help="File to write: .png, .pdf, .svg; .gif or .mp4 for an animation."),
    ] = None,
    joint: Annotated[
        str | None, typer.Option(help="Show only this joint, in orbits and contact_modes.")
    ] = None,
    begin: Annotated[float | None, typer.Option("--from", help="From this time on [s].")] = None,
    end: Annotated[float | None, typer.Option("--to", help="Up to this time [s].")] = None,
) -> None:
    """Draw a picture of one or several saved results."""
    from nsopt.animation import animate
    from nsopt.plots import FIGURES, save

    with plain_errors():
        loaded = [_between(result, begin, end) for result in _told_apart(results)]
        ending = ".gif" if what == "animation" else ".png"
        default = results[0].with_name(f"{results[0].stem}_{what}{ending}")
        target = check_writable(out or default)
        if what == "animation":
            animate(loaded[0], target)
        elif what in FIGURES:
            save(FIGURES[what](*loaded, **_of_joint(what, FIGURES[what], joint)), target)
        else:
            raise ValueError(
                f"unknown picture {what!r}: choose one of {', '.join(PICTURES)}, animation"
            )
        print(target)


def view(
    result: Annotated[Path, typer.Argument(help="A saved result.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Page to write, .html; beside the result by default."),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(help="2 plays twice as fast as it happened; by default a film of 2 to 30 s."),
    ] = None,
) -> None:
    """Make a page that shows a saved result in space and plays it, for any browser, offline."""
    from nsopt.plots import save_view

    with plain_errors():
        page = save_view(Result.open(result), out or result.with_suffix(".html"), speed)
    print(f"{page} ({page.stat().st_size / 1e6:.1f} MB), open it in a browser")


def _told_apart(paths: Sequence[Path]) -> list[Result]:
    """Return saved results, those of one title by the names of their files."""
    loaded = [Result.open(path) for path in paths]
    titles = [result.name for result in loaded]
    return [
        result if titles.count(title) == 1 else Result(result.data.assign_attrs(title=path.stem))
        for result, title, path in zip(loaded, titles, paths, strict=True)
    ]


def _between(result: Result, begin: float | None, end: float | None) -> Result:
    """Return the part of a result between two times, named after them."""
    if begin is None and end is None:
        return result
    time = result["time"].values
    first, last = time[0] if begin is None else begin, time[-1] if end is None else end
    kept = np.flatnonzero((time >= first) & (time <= last))
    if len(kept) < 2:
        raise ValueError(
            f"no step of {result.name} from {first:g} to {last:g} s: it goes from {time[0]:g} to "
            f"{time[-1]:g} s"
        )
    title = f"{result.name}, {first:g} to {last:g} s"
    return Result(result.data.isel(time=kept).assign_attrs(title=title, steps=len(kept) - 1))


def _of_joint(what: str, figure: Callable[..., object], joint: str | None) -> dict[str, str]:
    """Return the joint as an argument of a figure that takes one."""
    if joint is None:
        return {}
    if "joint" not in inspect.signature(figure).parameters:
        raise ValueError(f"--joint is of orbits and contact_modes, not of {what}")
    return {"joint": joint}


def info(result: Annotated[Path, typer.Argument(help="A saved result.")]) -> None:
    """Print summary, provenance and variables of a saved result."""
    with plain_errors():
        opened = Result.open(result, lazy=True)
        saved = check_hash(result)
    data, attrs = opened.data, opened.data.attrs
    print(opened.summary())
    print(f"{'parameters':<22}{json.loads(attrs['parameters']) or 'none'}")
    print(
        f"{'made with':<22}nsopt {attrs['nsopt_version']}, casadi {attrs['casadi_version']}, "
        f"model {attrs['model_hash']}"
    )
    print(f"{'options':<22}{attrs['scheme']}\n{'':<22}{attrs['solver']}")
    print(f"{'data':<22}{f'as saved, sha256 {saved}' if saved else 'without a hash'}")
    for k, text in enumerate(opened.stop_reason.splitlines()[1:]):
        print(f"{'' if k else 'why it ended':<22}{text}")
    tried = data["tried"].values
    retried = np.flatnonzero(tried != "")
    for t, text in zip(data["time"].values[retried[:SHOWN]], tried[retried[:SHOWN]], strict=True):
        print(f"{'retried':<22}t = {t:.9g} s: {text}")
    if len(retried) > SHOWN:
        print(f"{'':<22}and {len(retried) - SHOWN} more, in the variable 'tried'")
    for name, variable in data.variables.items():
        unit = variable.attrs.get("units", "")
        text = variable.attrs.get("long_name", "")
        print(f"  {name!s:<24} {', '.join(map(str, variable.dims)):<26} {f'[{unit}]':<12} {text}")
