"""``nsopt mobility``: what a mechanism can really do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nsopt.cli.common import Settings, load, plain_errors, read_settings
from nsopt.files import check_writable
from nsopt.problem import load_mechanism


def mobility(
    problem: Annotated[
        str,
        typer.Argument(
            help="A name from 'nsopt list', or a Python file that defines a mechanism, a problem "
            "or an optimization."
        ),
    ],
    order: Annotated[
        int, typer.Option(min=1, help="Highest derivative of the constraints of loops.")
    ] = 6,
    set_: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Picture to write: .png, .pdf, .svg; results/PROBLEM_mobility.png by default."
        ),
    ] = None,
) -> None:
    """Print what freedom a mechanism has at its start, by which joints it is held, and draw it."""
    from nsopt.mobility import mobility as find_mobility  # slow to import

    with plain_errors():
        name = Path(problem).stem
        target = check_writable(out or Path("results") / f"{name}_mobility.png")
        mechanism = load(problem, load_mechanism)
        found = find_mobility(mechanism, order=order, parameters=read_settings(set_ or []))
    print(found)
    from nsopt.plots import mobility as draw_mobility  # slower still: once the text is printed
    from nsopt.plots import save

    with plain_errors():
        save(draw_mobility(found), target)
    print(f"{'picture':<24}{target}")
