"""Functions that are made together, some of them when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import casadi as ca


@dataclass(frozen=True, eq=False)
class MadeTogether:
    """Functions of one mechanism, each right only beside the others, as fields of a dataclass.

    Those that most users never call are fields with ``init=False``, made when first asked for.

    Raises
    ------
    ValueError
        Naming a field that was replaced: the others would be of what it was before.
    """

    # What makes such a field, by its name; not compared.
    later: Mapping[str, Callable[[], ca.Function]] = field(repr=False, compare=False)
    # The other fields as they were made. `dataclasses.replace` passes it on to the copy, which
    # compares its fields with it and refuses one that was replaced, but for wrappers of the same
    # CasADi function.
    made: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        stated = {x.name: getattr(self, x.name) for x in fields(self) if x.init}
        stated = {k: x for k, x in stated.items() if k not in ("later", "made")}
        for name, before in self.made.items():
            if not _is_same(stated[name], before):
                raise ValueError(
                    f"{name} of a {type(self).__name__} cannot be replaced alone, as the rest of "
                    "it would be of the one before: assemble a mechanism, elements or gravity "
                    "that differ"
                )
        object.__setattr__(self, "made", stated)

    if not TYPE_CHECKING:  # types of attributes are those of the fields

        def __getattr__(self, name: str) -> ca.Function:
            if name not in (later := vars(self).get("later", {})):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            made = vars(self)[name] = later[name]()
            return made

    def __getstate__(self) -> dict[str, Any]:
        """Return what goes to another process: all functions, as expressions cannot go there."""
        return {x.name: getattr(self, x.name) for x in fields(self)} | {"later": {}, "made": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()


def _is_same(x: Any, before: Any) -> bool:
    """Return whether both are one object; of functions, CasADi's behind those of Python."""
    if isinstance(x, ca.Function) and isinstance(before, ca.Function):
        return x.__hash__() == before.__hash__()
    return x is before
