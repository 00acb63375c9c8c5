"""Which pages use a public name in their code: gallery, lessons, pages, named problems."""

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from public_names import PublicName, by_bare_name, exports, public_names

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
COPIES = ("contributing", "changelog")
"""Pages that a build copies there."""
FOLDERS = ("howto", "", "theory", "measured")
"""Folders of pages in Markdown, the most telling first."""

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LITERAL = re.compile(r"(?<!`)`(\w+)(?:\([^`]*)?`(?!`)")
MOST = 6
"""Pages that are named with one thing."""


def examples(public: PublicName) -> str:
    """Return the sentence that links pages whose code uses a thing, what returns or extends it."""
    if used_on := pages_with()[id(public.thing)]:
        return f"Used in {linked(used_on)}."
    for maker in found_by(public):
        if used_on := pages_with()[id(maker.thing)]:
            derived = inspect.isclass(maker.thing) and public.thing in maker.thing.__mro__
            said = "Such as" if derived else "From"
            return f"{said} :py:obj:`{maker.name} <{maker.path}>`, used in {linked(used_on)}."
    named_on = pages_naming().get(public.path)
    return f"Named in {linked(named_on)}." if named_on else ""


def linked(pages: list[str]) -> str:
    """Return the links to the first of some pages."""
    return ", ".join(f":doc:`/{page}`" for page in pages[:MOST])


def found_by(public: PublicName) -> list[PublicName]:
    """Return what returns, holds or extends a thing, then what returns or holds that."""
    first = makers().get(id(public.thing), [])
    return [*first, *(x for maker in first for x in makers().get(id(maker.thing), []))]


@cache
def makers() -> dict[int, list[PublicName]]:
    """Return the functions that return a class, classes that hold it, then those derived from it.

    By the id of the class.
    """
    found: dict[int, list[PublicName]] = {}
    for public in public_names():
        if inspect.isfunction(public.thing):
            for thing in named_in(public.thing.__annotations__.get("return", ""), public.thing):
                found.setdefault(thing, []).append(public)
    for public in public_names():
        if inspect.isclass(public.thing):
            for words in held(public.thing):
                for thing in named_in(words, public.thing):
                    found.setdefault(thing, []).append(public)
    for public in public_names():
        if inspect.isclass(public.thing):
            for base in public.thing.__mro__[1:]:
                found.setdefault(id(base), []).append(public)
    return found


def named_in(annotation: Any, of: Any) -> list[int]:
    """Return the ids of the things that an annotation names, in the module of what it is of."""
    known = vars(sys.modules[of.__module__])
    return [id(known[word]) for word in re.findall(r"\w+", str(annotation)) if word in known]


def held(kind: type) -> Iterator[Any]:
    """Yield the annotations of the fields, properties and methods that a class defines itself."""
    yield from vars(kind).get("__annotations__", {}).values()
    for name, member in vars(kind).items():
        made = getattr(member, "fget", None) or getattr(member, "func", None) or member
        made = getattr(made, "__func__", made)
        if inspect.isfunction(made) and not name.startswith("_"):
            yield made.__annotations__.get("return", "")


@cache
def pages_with() -> dict[int, list[str]]:
    """Return the pages whose code uses a public thing, the most telling first, by its id."""
    found: dict[int, dict[str, None]] = {id(public.thing): {} for public in public_names()}
    for page, code in sources():
        for thing in used(code):
            if id(thing) in found:
                found[id(thing)][page] = None
    return {key: list(pages) for key, pages in found.items()}


@cache
def pages_naming() -> dict[str, list[str]]:
    """Return the pages that name a public thing in code style, by its path."""
    found: dict[str, dict[str, None]] = {}
    for page, text in written():
        for name in LITERAL.findall(text):
            if name in by_bare_name() and page not in COPIES:
                found.setdefault(by_bare_name()[name], {})[page] = None
    return {path: list(pages) for path, pages in found.items()}


def written() -> Iterator[tuple[str, str]]:
    """Yield pages in Markdown, and their text."""
    for folder in FOLDERS:
        for path in sorted((DOCS / folder).glob("*.md")):
            yield path.relative_to(DOCS).with_suffix("").as_posix(), path.read_text("utf-8")


def sources() -> Iterator[tuple[str, str]]:
    """Yield pages and their code: gallery and lessons first, named problems last."""
    notebooks = ROOT / "notebooks"
    for script in sorted((notebooks / "gallery").rglob("*.py")):
        page = script.relative_to(notebooks).with_suffix("").as_posix()
        yield page, script.read_text(encoding="utf-8")
    for script in sorted(notebooks.glob("*.py")):
        yield f"tutorials/{script.stem}", script.read_text(encoding="utf-8")
    for page, text in written():
        yield page, "\n".join(BLOCK.findall(text))
    for script in sorted((ROOT / "problems").glob("*/*.py")):
        yield f"problems/{script.parent.name}", script.read_text(encoding="utf-8")


def used(code: str) -> Iterator[Any]:
    """Yield the things of nsopt that a code names, what it only imports left out."""
    tree = ast.parse(code)
    known: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "nsopt":
            known |= imported(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in known:
            yield known[node.id]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield getattr(known.get(node.value.id), node.attr, None)


def imported(node: ast.ImportFrom) -> dict[str, Any]:
    """Return the things that an import brings, by the names that they get."""
    module = importlib.import_module(str(node.module))
    if node.names[0].name == "*":
        return {name: getattr(module, name) for name in exports()[module.__name__]}
    for x in node.names:
        if not hasattr(module, x.name):
            importlib.import_module(f"{module.__name__}.{x.name}")
    return {x.asname or x.name: getattr(module, x.name) for x in node.names}
