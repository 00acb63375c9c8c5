"""``nsopt list``, ``view`` and ``info``: look at problems and at saved results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nsopt.cli.common import plain_errors
from nsopt.problem import command_of, problem_files, problem_title
from nsopt.result import Result, check_saved

PICTURES = (
    "overview",
    "contact_paths",
    "contact_forces",
    "velocities",
    "deviations",
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
    "programmed_rates",
    "link_shapes",
    "orbits",
    "contact_modes",
    "phase_portrait",
    "poincare_map",
    "spectra",
)
"""Names of `nsopt.plots.FIGURES`, for the help: to import that takes longer than all else does."""

SWEEP_PICTURES = ("measures", "bifurcation_diagram")  # names of `nsopt.plots.SWEEP_FIGURES`
SHOWN = 20  # number of retried steps that ``nsopt info`` prints


def list_problems() -> None:
    """List the named problems, ready to run, to optimize, or to find the mobility of."""
    files = problem_files()
    width = max(map(len, files), default=0)
    commands = {name: command_of(file) for name, file in files.items()}
    for command in ("run", "optimize", "mobility"):
        print(f"nsopt {command} ...")
        for name, file in files.items():
            if commands[name] == command:
                print(f"  {name:<{width}}  {problem_title(file)}")


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


def info(result: Annotated[Path, typer.Argument(help="A saved result.")]) -> None:
    """Print summary, provenance and variables of a saved result."""
    with plain_errors():
        opened = Result.open(result, lazy=True)
        saved = check_saved(result, opened.data)
    data, attrs = opened.data, opened.data.attrs
    print(opened.summary(full=True))
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
