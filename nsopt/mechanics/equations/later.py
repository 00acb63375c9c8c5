"""Functions that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import casadi as ca


@dataclass(frozen=True, eq=False)
class MadeLater:
    """What has functions that most have no use for, as its fields with ``init=False``.

    Attributes
    ----------
    later : mapping of the name of such a field to what makes it
        No part of what the whole is equal to, as these fields say the same.
    """

    later: Mapping[str, Callable[[], ca.Function]] = field(repr=False, compare=False)

    if not TYPE_CHECKING:  # types of attributes are those of the fields

        def __getattr__(self, name: str) -> ca.Function:
            if name not in (later := vars(self).get("later", {})):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            made = vars(self)[name] = later[name]()
            return made

    def __getstate__(self) -> dict[str, Any]:
        """Return what goes to another process: all functions, as expressions cannot go there."""
        return {x.name: getattr(self, x.name) for x in fields(self)} | {"later": {}}
