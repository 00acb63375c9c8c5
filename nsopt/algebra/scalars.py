"""Evaluation of CasADi's expressions with other kinds of numbers: jets, SymPy's, polynomials."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

Operation = Callable[..., Any]

FUNCTIONS = {
    ca.OP_SQRT: "sqrt",
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_ATAN2: "atan2",
    ca.OP_FABS: "fabs",
}
"""Functions by CasADi's codes of operations, under CasADi's names."""

IN_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
"""NumPy's names where they are others."""


class Scalars:
    """The arithmetic of a kind of numbers, beside its own ``+ - *``; here of floats and arrays."""

    def function(self, name: str, *x: Any) -> Any:
        """Return a function of numbers by its name: sqrt, exp, atan2, ..."""
        return getattr(np, IN_NUMPY.get(name, name))(*x)

    def constant(self, value: float) -> Any:
        """Return a constant of an expression as a number of this kind."""
        return value

    def reciprocal(self, x: Any) -> Any:
        """Return 1 / x."""
        return 1 / x

    def power(self, x: Any, exponent: Any) -> Any:
        """Return x to the power of a number."""
        return x**exponent

    def is_positive(self, x: Any) -> bool:
        """Tell whether a number is above zero, which decides which derivatives |x| has there."""
        return bool(np.all(x > 0))


def evaluate(function: ca.Function, inputs: Sequence[Sequence[Any]], scalars: Scalars) -> list[Any]:
    """Return the first output of an SX function for numbers of any kind.

    Parameters
    ----------
    function : Function
        Its first output is a dense column.
    inputs : sequence of sequences
        The entries of each input, which is dense.
    scalars : Scalars
        The arithmetic of these numbers.

    Raises
    ------
    ValueError
        If the function uses an operation that has no derivatives of every order.
    """
    work: dict[int, Any] = {}  # the number in each register
    results: list[Any] = [scalars.constant(0.0)] * function.numel_out(0)
    operations = _list_operations(scalars)
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        ins, outs = function.instruction_input(k), function.instruction_output(k)
        if code == ca.OP_CONST:
            work[outs[0]] = scalars.constant(function.instruction_constant(k))
        elif code == ca.OP_INPUT:
            work[outs[0]] = inputs[ins[0]][ins[1]]
        elif code == ca.OP_OUTPUT:
            results[outs[1]] = work[ins[0]]
        elif code in operations:
            work[outs[0]] = operations[code](*(work[i] for i in ins))
        else:
            raise ValueError(
                f"{function.name()} uses an operation of CasADi without derivatives of every order "
                f"(code {code}): write it with sums, products, powers, roots and trigonometry"
            )
    return results


def _list_operations(scalars: Scalars) -> dict[int, Operation]:
    return {
        ca.OP_ASSIGN: lambda x: x,
        ca.OP_ADD: operator.add,
        ca.OP_SUB: operator.sub,
        ca.OP_MUL: operator.mul,
        ca.OP_DIV: lambda x, y: x * scalars.reciprocal(y),
        ca.OP_NEG: operator.neg,
        ca.OP_SQ: lambda x: x * x,
        ca.OP_TWICE: lambda x: x + x,
        ca.OP_INV: scalars.reciprocal,
        ca.OP_POW: scalars.power,
        ca.OP_CONSTPOW: scalars.power,
        ca.OP_HYPOT: lambda x, y: scalars.function("sqrt", x * x + y * y),
        **{code: partial(scalars.function, name) for code, name in FUNCTIONS.items()},
    }
