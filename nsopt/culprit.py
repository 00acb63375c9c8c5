"""Errors of what users write, told as those of the element, cost or condition at work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb
from types import FrameType
from typing import Any


@contextmanager
def naming(*kinds: type) -> Iterator[None]:
    """Raise what CasADi refuses as a ValueError that names the object whose code states it.

    Such as Python's ``if`` on an expression. Any other error of its code gets a note with its name.
    ``kinds`` are base classes of the objects that are named, elements, costs or conditions; errors
    in which none takes part are raised as they are.
    """
    try:
        yield
    except Exception as error:
        frames = (frame for frame, _ in walk_tb(error.__traceback__))
        found = [(frame, owner) for frame in frames if (owner := _find_owner(frame, kinds))]
        if not found:
            raise
        if isinstance(error, RuntimeError):
            raise ValueError(_tell(*found[-1], error)) from error
        owner = _name_with_class(found[-1][1])
        if owner not in str(error):
            error.add_note(f"while {owner} was stated")
        raise


def _find_owner(frame: FrameType, kinds: tuple[type, ...]) -> Any:
    """Return the object whose method a frame is, or that it is at work on; None without one."""
    own = frame.f_locals.get("self")
    others = (x for x in frame.f_locals.values() if isinstance(x, kinds))
    return own if isinstance(own, kinds) else next(others, None)


def _name_with_class(owner: Any) -> str:
    name = getattr(owner, "name", None)
    return f"{type(owner).__name__}{f' {name!r}' if isinstance(name, str) else ''}"


def _tell(frame: FrameType, owner: Any, error: RuntimeError) -> str:
    """Return a message with the object, its method, and the last part of what CasADi says."""
    where = f" in its {frame.f_code.co_name}" if frame.f_locals.get("self") is owner else ""
    said = (str(error).strip() or "no reason").splitlines()[0].rpartition(": ")[2].rstrip(".")
    return (
        f"{_name_with_class(owner)} states{where} what CasADi refuses ({said}): on expressions "
        "write ca.if_else, ca.fmin and ca.fmax in place of Python's if, min and max, and give "
        "indices and shapes that fit"
    )
