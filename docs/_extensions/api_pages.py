"""Write one page of the reference for each package: a table of its names, then each of them."""

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

from example_links import examples, pages_with
from name_links import plain
from public_names import PublicName, exports, for_users, public_names
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

TITLES = {
    "nsopt": "Simulation, results, problems",
    "nsopt.algebra": "Algebra",
    "nsopt.analysis": "Analysis of motions",
    "nsopt.animation": "Animation",
    "nsopt.elements": "Joints, contacts, forces",
    "nsopt.elements.clearance": "Joints with clearance",
    "nsopt.elements.compliant": "Compliant contacts",
    "nsopt.elements.range_of_motion": "Range of motion",
    "nsopt.leaves": "Machine code of small functions",
    "nsopt.mechanics": "Mechanics",
    "nsopt.mobility": "Mobility",
    "nsopt.mpcc": "Programs with complementarity",
    "nsopt.plots": "Pictures",
    "nsopt.problem": "Named problems",
    "nsopt.robots": "Robots",
    "nsopt.schemes": "Schemes",
    "nsopt.simulation": "Simulation",
    "nsopt.simulation.checkpoint": "Checkpoints",
    "nsopt.sweep": "Sweeps",
    "nsopt.trajectory": "Trajectory optimization",
    "nsopt.trajectory.conditions": "Conditions",
    "nsopt.trajectory.costs": "Costs",
    "nsopt.trajectory.diagnosis": "Diagnosis",
    "nsopt.trajectory.guesses": "Guesses",
    "nsopt.trajectory.identification": "Fit and design",
    "nsopt.trajectory.phases": "Phases",
    "nsopt.trajectory.sensitivity": "Derivatives",
}
INDEX = """Reference
=========

Every public name, by the package that it belongs to. ``from nsopt import *`` brings what most
models need, the {count} names listed on :doc:`nsopt`; ``from nsopt.trajectory import *`` what
optimizations need.

.. toctree::
   :maxdepth: 1

{pages}
"""

EXTENSIONS = (
    "For extensions (no model or study calls them; elements, schemes and solvers of one's own are "
    "made of them, as :doc:`/contributing` tells):"
)


def write_api_pages(app: Sphinx) -> None:
    """Write the pages, those that changed."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    texts = {f"{package}.rst": page(package) for package in exports()}
    toc = "\n".join(f"   {package}" for package in exports())
    texts["index.rst"] = INDEX.format(count=len(exports()["nsopt"]), pages=toc)
    for old in folder.iterdir():
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def page(package: str) -> str:
    """Return the page of a package."""
    own = [p for p in public_names() if p.page == package]
    listed = [p for p in public_names() if thing_is_exported(p, package)]
    title = TITLES.get(package, package)
    intro = plain(inspect.getdoc(importlib.import_module(package)) or "")
    parts = [title, "=" * len(title), "", f"``{package}``", "", intro, ""]
    users = [p for p in listed if id(p.thing) in for_users() or pages_with()[id(p.thing)]]
    others = [p for p in listed if p not in users]
    parts += [*table(users), ""] if users else []
    parts += [EXTENSIONS, "", *table(others), ""] if others else []
    for about, names in by_module(own).items():
        heading = plain(about.rstrip("."))
        parts += [heading, "-" * len(heading), ""]
        parts += [line for p in names for line in description(p)]
    return "\n".join(parts)


def thing_is_exported(public: PublicName, package: str) -> bool:
    """Return whether a package exports this very thing."""
    module = importlib.import_module(package)
    return public.name in exports()[package] and getattr(module, public.name) is public.thing


def table(names: list[PublicName]) -> list[str]:
    """Return a table of names with the first sentence about each."""
    lines = [".. list-table::", "   :widths: 30 70", ""]
    for p in sorted(names, key=lambda p: p.name.lower()):
        lines += [f"   * - :py:obj:`{p.name} <{p.path}>`", f"     - {summary(p)}"]
    return lines


def summary(public: PublicName) -> str:
    """Return the first paragraph about a thing, on one line."""
    return plain(" ".join(about(public).split("\n\n")[0].split()))


def about(public: PublicName) -> str:
    """Return the docstring of a thing; of a constant, the one below it."""
    if is_constant(public.thing):
        return constant(public)[1]
    return inspect.getdoc(public.thing) or ""


def is_constant(thing: Any) -> bool:
    """Return whether a thing is neither a class nor a function."""
    return not (inspect.isclass(thing) or inspect.isfunction(thing))


def constant(public: PublicName) -> tuple[str, str]:
    """Return the module that defines a constant, and what it says of it."""
    package = importlib.import_module(public.page)
    inside = [public.page]
    if hasattr(package, "__path__"):
        inside += [m.name for m in pkgutil.walk_packages(package.__path__, f"{public.page}.")]
    for name in inside:
        analyzer = ModuleAnalyzer.for_module(name)
        analyzer.analyze()
        held = vars(importlib.import_module(name)).get(public.name)
        if public.name in analyzer.tagorder and held is public.thing:
            return name, "\n".join(analyzer.attr_docs.get(("", public.name), []))
    return public.page, ""


def by_module(names: list[PublicName]) -> dict[str, list[PublicName]]:
    """Return the names below what the module that defines them says of itself."""
    found: dict[str, list[PublicName]] = {}
    for p in names:
        module = constant(p)[0] if is_constant(p.thing) else p.thing.__module__
        first = (importlib.import_module(module).__doc__ or module).split("\n\n")[0]
        found.setdefault(" ".join(first.split()), []).append(p)
    return dict(sorted(found.items()))


def description(public: PublicName) -> list[str]:
    """Return the directive that describes a thing."""
    thing = public.thing
    if is_constant(thing):
        text = constant(public)[1].splitlines()
        value = repr(thing)
        shown = [f"   :value: {value}"] if len(value) < 60 and " at 0x" not in value else []
        body = [f"   {line}".rstrip() for line in text]
        return [f".. py:data:: {public.path}", *shown, "", *body, "", *used_on(public)]
    if inspect.isfunction(thing):
        return [f".. autofunction:: {public.path}", "", *used_on(public)]
    kind = "autoexception" if issubclass(thing, BaseException) else "autoclass"
    options = ["   :members:", "   :show-inheritance:"]
    return [f".. {kind}:: {public.path}", *options, "", *used_on(public)]


def used_on(public: PublicName) -> list[str]:
    """Return the lines that name the pages on which a thing is used."""
    sentence = examples(public)
    return [f"   {sentence}", ""] if sentence else []


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_api_pages)
    return {"parallel_read_safe": True}
