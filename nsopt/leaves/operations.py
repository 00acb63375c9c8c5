"""What CasADi's virtual machine does for each operation, as instructions of LLVM.

A template has the operands as ``{0}`` and ``{1}``; its results are ``%{2}``, ``%{3}`` and so on,
and the last of them is the value. Bits are those of the virtual machine, but for the sign and the
payload of a NaN: of a sum of two NaNs processors return the first, and compilers choose which that
is. One sees it in ``copysign`` alone.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca


class Operation(NamedTuple):
    """A template, and the number of its results."""

    template: str
    results: int


def _operation(*instructions: str) -> Operation:
    lines = [f"%{{{k}}} = {text}\n" for k, text in enumerate(instructions, 2)]
    return Operation("".join(lines), len(lines))


def _call(name: str, operands: int) -> Operation:
    return _operation(f"call double @{name}({_list('double {0}', 'double {1}', count=operands)})")


def _list(*texts: str, count: int) -> str:
    return ", ".join(texts[:count])


def _truth(*conditions: str) -> Operation:
    """Return 1 where the last condition holds, else 0."""
    last = len(conditions) + 1
    return _operation(*conditions, f"select i1 %{{{last}}}, double 1.0, double 0.0")


def _extreme(comparison: str) -> Operation:
    """Return b where it compares with a, or a is NaN; else a. Processors have the first select."""
    return _operation(
        f"fcmp {comparison} double {{1}}, {{0}}",
        "select i1 %{2}, double {1}, double {0}",
        "fcmp uno double {0}, {0}",
        "select i1 %{4}, double {1}, double %{3}",
    )


_ONE = ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
_ONE_MORE = ("asinh", "acosh", "atanh", "erf", "log1p", "expm1")
_TWO = ("pow", "fmod", "atan2", "hypot", "remainder")
_LIBM = dict.fromkeys(_ONE + _ONE_MORE, 1) | dict.fromkeys(_TWO, 2)
_EXACT = {"sqrt": 1, "floor": 1, "ceil": 1}
"""Functions whose result is exact, or rounded once: instructions in place of calls."""

_SIGN = -(2**63)
_MAGNITUDE = 2**63 - 1
"""Bits of a number: LLVM has functions for both operations, for which level 0 takes 70 us."""

_ORDERED = {"LT": "olt", "LE": "ole", "EQ": "oeq", "NE": "une"}
_NOT_ZERO = ("fcmp une double {0}, 0.0", "fcmp une double {1}, 0.0")

_BY_NAME = {
    **{name: _operation(f"f{name.lower()} double {{0}}, {{1}}") for name in ("ADD", "SUB", "MUL")},
    "DIV": _operation("fdiv double {0}, {1}"),
    "INV": _operation("fdiv double 1.0, {0}"),
    "SQ": _operation("fmul double {0}, {0}"),
    "TWICE": _operation("fadd double {0}, {0}"),
    "NEG": _operation("fneg double {0}"),
    "FABS": _operation(
        "bitcast double {0} to i64",
        f"and i64 %{{2}}, {_MAGNITUDE}",
        "bitcast i64 %{3} to double",
    ),
    "COPYSIGN": _operation(
        "bitcast double {0} to i64",
        "bitcast double {1} to i64",
        f"and i64 %{{2}}, {_MAGNITUDE}",
        f"and i64 %{{3}}, {_SIGN}",
        "or i64 %{4}, %{5}",
        "bitcast i64 %{6} to double",
    ),
    **{name: _truth(f"fcmp {how} double {{0}}, {{1}}") for name, how in _ORDERED.items()},
    "NOT": _truth("fcmp oeq double {0}, 0.0"),
    "AND": _truth(*_NOT_ZERO, "and i1 %{2}, %{3}"),
    "OR": _truth(*_NOT_ZERO, "or i1 %{2}, %{3}"),
    "IF_ELSE_ZERO": _operation(_NOT_ZERO[0], "select i1 %{2}, double {1}, double 0.0"),
    "SIGN": _operation(
        "fcmp olt double {0}, 0.0",
        "fcmp ogt double {0}, 0.0",
        "select i1 %{3}, double 1.0, double {0}",
        "select i1 %{2}, double -1.0, double %{4}",
    ),
    "FMIN": _extreme("olt"),
    "FMAX": _extreme("ogt"),
    "CONSTPOW": _call("pow", 2),
    "PRINTME": _operation(
        "call i32 (ptr, ...) @printf(ptr @printed, double {1}, double {0})",
        "select i1 true, double {0}, double {0}",
    ),
    **{name.upper(): _call(name, operands) for name, operands in _LIBM.items()},
    **{name.upper(): _call(f"llvm.{name}.f64", operands) for name, operands in _EXACT.items()},
}

OPERATIONS = {getattr(ca, f"OP_{name}"): operation for name, operation in _BY_NAME.items()}
"""From CasADi's numbers of operations."""

COMMUTATIVE = frozenset(
    getattr(ca, f"OP_{name}") for name in ("ADD", "MUL", "EQ", "NE", "AND", "OR")
)
"""Operations whose operands may be exchanged: bits stay the same, unlike those of a least zero."""

_DECLARED = [
    *(f"@{name}({_list('double', 'double', count=n)})" for name, n in _LIBM.items()),
    *(f"@llvm.{name}.f64({_list('double', 'double', count=n)})" for name, n in _EXACT.items()),
]
_PRINTED = '@printed = private constant [15 x i8] c"|> %g : %.16e\\0A\\00"\n'
DECLARATIONS = "".join(f"declare double {text}\n" for text in _DECLARED)
DECLARATIONS += "declare i32 @printf(ptr, ...)\n" + _PRINTED


def name_of(operation: int) -> str:
    """Return CasADi's name of an operation, in small letters, for messages."""
    names = (name for name, number in vars(ca).items() if number == operation)
    name = next((name for name in names if name.startswith("OP_")), f"number {operation}")
    return name.removeprefix("OP_").lower()
