"""Functions of a mechanism whose expressions are made once for equal arguments."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import Any

import casadi as ca

from nsopt.mechanics.equations.dynamics import Dynamics


class _Recalling(ca.Function):
    """A function that returns the same expressions when it is called with equal ones again."""

    def __init__(self, function: ca.Function) -> None:
        super().__init__(function)
        self._calls: list[tuple[list[ca.SX], Any]] = []

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if named or not any(isinstance(x, ca.SX) for x in arguments):
            return super().__call__(*arguments, **named)
        given = [ca.SX(x) for x in arguments]
        for known, results in self._calls:
            if all(map(_are_equal, known, given)):
                return results
        results = super().__call__(*given)
        self._calls.append((given, results))
        return results


class _Part(_Recalling):
    """A function whose expressions are among those of another one, in fewer operations."""

    def __init__(self, function: ca.Function, whole: _Recalling, part: int) -> None:
        super().__init__(function)
        self._whole, self._part = whole, part

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if named or not any(isinstance(x, ca.SX) for x in arguments):
            return super().__call__(*arguments, **named)
        return self._whole(*arguments)[self._part]


def _are_equal(a: ca.SX, b: ca.SX) -> bool:
    """Tell whether expressions are of the same operations on the same operands."""
    return a.shape == b.shape and bool(ca.is_equal(a, b, 1))  # 1: looks one operation deep


def recall_calls(dynamics: Dynamics) -> Dynamics:
    """Return the same dynamics, with functions that recall their calls with expressions.

    For what calls them again and again at the same state, as the parts of a step and its checks:
    they get the same expressions, which are then differentiated and compiled once.
    """
    stated = {x.name: getattr(dynamics, x.name) for x in fields(dynamics) if x.init}
    later = {x.name: partial(_recall, dynamics, x.name) for x in fields(dynamics) if not x.init}
    functions: dict[str, Any] = {
        name: _Recalling(f) for name, f in stated.items() if isinstance(f, ca.Function)
    }
    terms = functions["contact_terms"]
    for k, name in enumerate(("gap", "gap_matrix", "slope", "contact_normals")):
        functions[name] = _Part(stated[name], terms, k)
    return replace(dynamics, **functions, later=later)


def _recall(dynamics: Dynamics, name: str) -> ca.Function:
    return _Recalling(getattr(dynamics, name))
