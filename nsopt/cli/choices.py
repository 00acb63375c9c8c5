"""What ``--scheme``, ``--impact`` and ``--solver`` may name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Annotated, TypeVar

import typer

from nsopt import mpcc, schemes
from nsopt.checks import check_names
from nsopt.mpcc import Backend, Solver
from nsopt.schemes import LinearisedClosure, PaperStep, Scheme
from nsopt.simulation import Compiled

T = TypeVar("T")


def command_name(kind: type) -> str:
    """Return the name of a class on the command line: ``moreau-jean`` of `MoreauJean`."""
    name = kind.__name__.removesuffix("Step").removesuffix("Impact")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def list_kinds(package: ModuleType, kind: type[T]) -> dict[str, Callable[[], T]]:
    """Return the exported classes of one kind by `command_name`, abstract ones left out."""
    exported = (getattr(package, name) for name in package.__all__)
    classes = [x for x in exported if isinstance(x, type) and issubclass(x, kind)]
    return {command_name(x): x for x in classes if not inspect.isabstract(x)}


def _make_solver(backend: Callable[[], Backend]) -> Solver:
    return Solver(backend=backend())


PAPER_FORMS: dict[str, Callable[[], Scheme]] = {
    "paper-linearised": partial(PaperStep, closure=LinearisedClosure()),
    "paper-unnormalised": partial(PaperStep, renormalise=False),
    "paper-explicit": partial(PaperStep, explicit=True),
    "paper-printed": partial(
        PaperStep, closure=LinearisedClosure(), renormalise=False, explicit=True
    ),
    "paper-given-h": partial(PaperStep, finds_h=False),
}
"""Forms of `PaperStep`: those printed, one by one and together, and that of a given step size; see
docs/paper_step.md."""
SCHEMES = list_kinds(schemes, Scheme) | PAPER_FORMS  # type: ignore[type-abstract]
"""What ``--scheme`` may name; ``--impact`` and ``--solver`` likewise below."""
IMPACTS = list_kinds(schemes, schemes.Impact)  # type: ignore[type-abstract]
SchemeName = Annotated[
    str | None,
    typer.Option(
        help=f"Step equations: {', '.join(SCHEMES)}; by default the problem's own, or variational."
    ),
]
ImpactName = Annotated[
    str | None, typer.Option(help=f"Law of impact, where the scheme has one: {', '.join(IMPACTS)}.")
]
HORIZON_BACKENDS = list_kinds(mpcc, Backend)  # type: ignore[type-abstract]
SOLVERS: dict[str, Callable[[], Solver | Compiled]] = {
    **{name: partial(_make_solver, kind) for name, kind in HORIZON_BACKENDS.items()},
    "compiled": Compiled,
}
SolverName = Annotated[
    str | None,
    typer.Option(
        help=f"First choice for each step: {', '.join(SOLVERS)}; others take over where it fails. "
        "By default compiled, with --scheme paper ipopt."
    ),
]


def choose(table: dict[str, Callable[[], T]], name: str, kind: str) -> T:
    """Return a new object by its name in a table; ``kind`` is what it is, for messages."""
    check_names(f"unknown {kind}", [name], table)
    return table[name]()


def choose_solver(name: str | None) -> Solver | Compiled | None:
    """Return a solver by name; without one `simulate` chooses."""
    return None if name is None else choose(SOLVERS, name, "solver")


def choose_scheme(
    name: str | None, impact: str | None, own: Scheme | None = None, default: str = "variational"
) -> Scheme:
    """Return a scheme, with the named law of impact if one is given.

    Without a name it is a problem's ``own``, or else that of the default name. If a problem's own
    is named it keeps what the problem states of it, such as the gains of Baumgarte.
    """
    if own and (name is None or SCHEMES.get(name) is type(own)):
        scheme = own
    else:
        scheme = choose(SCHEMES, name or default, "scheme")
    if impact is None:
        return scheme
    law = choose(IMPACTS, impact, "law of impact")
    if not hasattr(scheme, "impact"):
        able = ", ".join(name for name, kind in SCHEMES.items() if hasattr(kind(), "impact"))
        raise ValueError(f"--impact is of {able}; {type(scheme).__name__} has a law of its own")
    return replace(scheme, impact=law)  # type: ignore[type-var]
