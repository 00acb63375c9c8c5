"""Expressions that are stated once and repeated for other arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import casadi as ca


def state_once(expressions: Callable[..., Any]) -> Callable[..., list[ca.SX]]:
    """Return ``expressions``, a function of SX to a tuple of SX, called once for each sparsity.

    Later calls repeat its operations on other arguments within CasADi. Called from Python one by
    one, each operation would take twenty times longer.
    """
    functions: dict[tuple[int, ...], ca.Function] = {}

    @wraps(expressions)
    def repeat(*arguments: ca.SX) -> list[ca.SX]:
        patterns = [x.sparsity() for x in arguments]
        key = tuple(pattern.hash() for pattern in patterns)
        if key not in functions:
            symbols = [ca.SX.sym("x", pattern) for pattern in patterns]
            functions[key] = ca.Function("repeat", symbols, expressions(*symbols))
        found: list[ca.SX] = functions[key].call(arguments)
        return found

    return repeat
