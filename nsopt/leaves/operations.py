"""What CasADi's virtual machine does for each operation, as instructions of LLVM.

A template has the operands as ``{0}`` and ``{1}``; its results are ``%{2}``, ``%{3}`` and so on,
and the last of them is the value. Bits are those of the virtual machine, but for the sign and the
payload of a NaN: of a sum of two NaNs processors return the first, and compilers choose which that
is. One sees it in ``copysign`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import casadi as ca


class Operation(NamedTuple):
    """A template, the number of its results, and whether it works on one number at a time."""

    template: str
    results: int
    is_scalar: bool = False


_TRIGONOMETRIC = ("sin", "cos", "tan", "asin", "acos", "atan")
_HYPERBOLIC = ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
_UNARY = ("exp", "log", *_TRIGONOMETRIC, *_HYPERBOLIC, "erf", "log1p", "expm1")
_BINARY = ("pow", "fmod", "atan2", "hypot", "remainder")
_LIBM = dict.fromkeys(_UNARY, 1) | dict.fromkeys(_BINARY, 2)
"""Functions of the mathematical library of C, and how many operands each has."""

_EXACT = ("sqrt", "floor", "ceil")
"""Functions whose result is exact, or rounded once: instructions in place of calls."""

_SIGN = -(2**63)
_MAGNITUDE = 2**63 - 1
"""Bits of a number: LLVM has functions for both operations, for which level 0 takes 70 us."""

_COMPARISONS = {"LT": "olt", "LE": "ole", "EQ": "oeq", "NE": "une"}
"""LLVM's names of comparisons, false of a NaN but for the last."""


def name_type(lanes: int, number: str = "double") -> str:
    """Return LLVM's name of so many numbers side by side."""
    return number if lanes == 1 else f"<{lanes} x {number}>"


def write_constant(value: str, lanes: int, number: str = "double") -> str:
    """Return a value, in all lanes."""
    return value if lanes == 1 else f"splat ({number} {value})"


@cache
def make_operations(lanes: int) -> Mapping[int, Operation]:
    """Return templates for so many numbers side by side, by CasADi's numbers of operations."""
    d, i64, i1 = (name_type(lanes, number) for number in ("double", "i64", "i1"))
    zero, one, minus_one = (write_constant(x, lanes) for x in ("0.0", "1.0", "-1.0"))
    magnitude, sign = (write_constant(str(x), lanes, "i64") for x in (_MAGNITUDE, _SIGN))
    suffix = "f64" if lanes == 1 else f"v{lanes}f64"
    not_zero = (f"fcmp une {d} {{0}}, {zero}", f"fcmp une {d} {{1}}, {zero}")

    def truth(*conditions: str) -> Operation:
        """Return 1 where the last condition holds, else 0."""
        last = len(conditions) + 1
        return _operation(*conditions, f"select {i1} %{{{last}}}, {d} {one}, {d} {zero}")

    def extreme(comparison: str) -> Operation:
        """Return b where it compares with a, or a is NaN; else a."""
        return _operation(
            f"fcmp {comparison} {d} {{1}}, {{0}}",
            f"select {i1} %{{2}}, {d} {{1}}, {d} {{0}}",
            f"fcmp uno {d} {{0}}, {{0}}",
            f"select {i1} %{{4}}, {d} {{1}}, {d} %{{3}}",
        )

    named = {
        **{x: _operation(f"f{x.lower()} {d} {{0}}, {{1}}") for x in ("ADD", "SUB", "MUL")},
        "DIV": _operation(f"fdiv {d} {{0}}, {{1}}"),
        "INV": _operation(f"fdiv {d} {one}, {{0}}"),
        "SQ": _operation(f"fmul {d} {{0}}, {{0}}"),
        "TWICE": _operation(f"fadd {d} {{0}}, {{0}}"),
        "NEG": _operation(f"fneg {d} {{0}}"),
        "FABS": _operation(
            f"bitcast {d} {{0}} to {i64}",
            f"and {i64} %{{2}}, {magnitude}",
            f"bitcast {i64} %{{3}} to {d}",
        ),
        "COPYSIGN": _operation(
            f"bitcast {d} {{0}} to {i64}",
            f"bitcast {d} {{1}} to {i64}",
            f"and {i64} %{{2}}, {magnitude}",
            f"and {i64} %{{3}}, {sign}",
            f"or {i64} %{{4}}, %{{5}}",
            f"bitcast {i64} %{{6}} to {d}",
        ),
        **{name: truth(f"fcmp {how} {d} {{0}}, {{1}}") for name, how in _COMPARISONS.items()},
        "NOT": truth(f"fcmp oeq {d} {{0}}, {zero}"),
        "AND": truth(*not_zero, f"and {i1} %{{2}}, %{{3}}"),
        "OR": truth(*not_zero, f"or {i1} %{{2}}, %{{3}}"),
        "IF_ELSE_ZERO": _operation(not_zero[0], f"select {i1} %{{2}}, {d} {{1}}, {d} {zero}"),
        "SIGN": _operation(
            f"fcmp olt {d} {{0}}, {zero}",
            f"fcmp ogt {d} {{0}}, {zero}",
            f"select {i1} %{{3}}, {d} {one}, {d} {{0}}",
            f"select {i1} %{{2}}, {d} {minus_one}, {d} %{{4}}",
        ),
        "FMIN": extreme("olt"),
        "FMAX": extreme("ogt"),
        **{
            name.upper(): _operation(f"call {d} @llvm.{name}.{suffix}({d} {{0}})")
            for name in _EXACT
        },
        "CONSTPOW": _call("pow", 2),
        "PRINTME": _operation(
            "call i32 (ptr, ...) @printf(ptr @printed, double {1}, double {0})",
            "select i1 true, double {0}, double {0}",
            is_scalar=True,
        ),
        **{name.upper(): _call(name, operands) for name, operands in _LIBM.items()},
    }
    return {getattr(ca, f"OP_{name}"): operation for name, operation in named.items()}


def _operation(*instructions: str, is_scalar: bool = False) -> Operation:
    lines = [f"%{{{k}}} = {text}\n" for k, text in enumerate(instructions, 2)]
    return Operation("".join(lines), len(lines), is_scalar)


def _call(name: str, operands: int) -> Operation:
    given = ", ".join(["double {0}", "double {1}"][:operands])
    return _operation(f"call double @{name}({given})", is_scalar=True)


OPERATIONS = frozenset(make_operations(1))
"""CasADi's numbers of those that have machine code."""

COMMUTATIVE = frozenset(
    getattr(ca, f"OP_{name}") for name in ("ADD", "MUL", "EQ", "NE", "AND", "OR")
)
"""Operations whose operands may be exchanged: bits stay the same, unlike FMIN's of 0.0 and -0.0."""

_PRINTED = '@printed = private constant [15 x i8] c"|> %g : %.16e\\0A\\00"\n'


@cache
def declare_functions(lanes: int) -> str:
    """Return declarations of the functions that templates call."""
    text = "".join(
        f"declare double @{name}({', '.join(['double'] * n)})\n" for name, n in _LIBM.items()
    )
    d, suffix = name_type(lanes), "f64" if lanes == 1 else f"v{lanes}f64"
    text += "".join(f"declare {d} @llvm.{name}.{suffix}({d})\n" for name in _EXACT)
    return text + "declare i32 @printf(ptr, ...)\n" + _PRINTED


def name_operation(operation: int) -> str:
    """Return CasADi's name of an operation, in small letters, for messages."""
    names = (name for name, number in vars(ca).items() if number == operation)
    name = next((name for name in names if name.startswith("OP_")), f"number {operation}")
    return name.removeprefix("OP_").lower()


_CALLING = frozenset((ca.OP_INPUT, ca.OP_CONST, ca.OP_CALL, ca.OP_OUTPUT))


def has_only_calls(called: ca.Function) -> bool:
    """Return whether a function is an MX function that does nothing but call others.

    So are a branch that is wrapped, see `find_sides`, and its derivatives.
    """
    return called.is_a("MXFunction") and _CALLING.issuperset(
        called.instruction_id(k) for k in range(called.n_instructions())
    )


def find_sides(called: ca.Function) -> tuple[ca.Function, ca.Function] | None:
    """Return the sides of a branch, where the condition counts as zero and elsewhere.

    CasADi puts a branch, `Function.if_else`, into SX as the sum of both sides. One that is to stay
    a branch is therefore called as ``branch.wrap().call(arguments, False, True)``: an MX function
    that does nothing but call it, never inlined.

    The condition counts as zero where a conversion to an integer gives zero: strictly between -1
    and 1. None is returned for other functions, and for sides whose inputs or outputs have other
    entries.
    """
    if called.class_name() != "Switch":
        return None
    stated = called.info()
    if len(stated["f"]) != 1 or stated["project_in"] or stated["project_out"]:
        return None
    return stated["f"][0], stated["f_def"]
