"""The public names of nsopt: what each package exports, and the one page where it is described."""

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from functools import cache, cached_property
from types import FunctionType
from typing import Any

import nsopt

MODULES = ("nsopt.problem", "nsopt.animation")
"""Modules that users import, and that no package exports in full."""

DOORS = (
    *("nsopt", "nsopt.analysis", "nsopt.animation", "nsopt.mobility", "nsopt.parallel"),
    *("nsopt.plots", "nsopt.problem", "nsopt.robots", "nsopt.sweep", "nsopt.trajectory"),
)
"""Packages from which models and studies import; what the others alone export is for extensions."""

HELPERS = frozenset(
    [
        "capsule_outline",
        "frame_times",
        "FundamentalCycle",
        "DIED",
        "wait_interruptibly",
        "run_all",
        "SWEEP_FIGURES",
        "Curves",
        "Film",
        "Pixels",
        "draw_curves",
        "require_steps",
        "MEASURES",
        "numbers",
        "flattened",
        "ends_at_rest",
        "Scaling",
        "cost_derivatives",
        "optimum_derivatives",
        "Derivatives",
        "OptimumDerivatives",
        "Span",
        "Press",
    ]
)
"""Names that these packages export for other packages of nsopt."""


DESCRIBED = (FunctionType, classmethod, staticmethod, property, cached_property)


@dataclass(frozen=True)
class PublicName:
    """A name that users may import.

    Parameters
    ----------
    name : str
    package : str
        The shortest from which it is imported.
    page : str
        The package or module on whose page it is described: the innermost that exports it.
    """

    name: str
    package: str
    page: str

    @property
    def path(self) -> str:
        return f"{self.package}.{self.name}"

    @property
    def thing(self) -> Any:
        return getattr(importlib.import_module(self.package), self.name)


@cache
def exports() -> dict[str, tuple[str, ...]]:
    """Return the names that each public package or module exports, outer packages first."""
    found = {"nsopt": tuple(nsopt.__all__)}
    for info in pkgutil.walk_packages(nsopt.__path__, "nsopt."):
        if info.ispkg and info.name != "nsopt.cli":
            module = importlib.import_module(info.name)
            if hasattr(module, "__all__"):
                found[info.name] = tuple(module.__all__)
    elsewhere = {id(thing(p, n)) for p, names in found.items() for n in names}
    for name in MODULES:
        module = importlib.import_module(name)
        found[name] = tuple(
            n
            for n, x in vars(module).items()
            if not n.startswith("_")
            and getattr(x, "__module__", "") == name
            and id(x) not in elsewhere
        )
    return dict(sorted(found.items(), key=lambda item: (item[0].count("."), item[0])))


@cache
def for_users() -> frozenset[int]:
    """Return the ids of what the packages for models and studies export, but for `HELPERS`."""
    return frozenset(
        id(thing(package, name))
        for package in DOORS
        for name in exports()[package]
        if name not in HELPERS
    )


def thing(package: str, name: str) -> Any:
    """Return what a package exports by a name."""
    return getattr(importlib.import_module(package), name)


@cache
def public_names() -> tuple[PublicName, ...]:
    """Return every public thing once."""
    packages: dict[tuple[str, int], list[str]] = {}
    for package, names in exports().items():
        for name in names:
            packages.setdefault((name, id(thing(package, name))), []).append(package)
    pages = [(name, found, max(found, key=innermost)) for (name, _), found in packages.items()]
    return tuple(PublicName(name, found[0], page) for name, found, page in pages)


def innermost(package: str) -> int:
    """Return how deep a package is."""
    return package.count(".")


@cache
def by_bare_name() -> dict[str, str]:
    """Return the path of each thing by its name, and of each member by Class.member.

    Of several things of one name the first counts, pictures last. Fields are described by their
    class.
    """
    found: dict[str, str] = {}
    for public in sorted(public_names(), key=lambda p: p.package == "nsopt.plots"):
        found.setdefault(public.name, public.path)
        if inspect.isclass(public.thing):
            for member in vars(public.thing):
                if not member.startswith("_"):
                    described = isinstance(vars(public.thing)[member], DESCRIBED)
                    place = f"{public.path}.{member}" if described else public.path
                    found.setdefault(f"{public.name}.{member}", place)
    return found
