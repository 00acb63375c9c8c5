"""The operations of SX in C, on vectors whose lanes are instances."""

from __future__ import annotations

import math
from collections.abc import Sequence

import casadi as ca

ARITHMETIC = {
    ca.OP_ASSIGN: "{0}",
    ca.OP_LIFT: "{0}",
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_INV: "1.0 / {0}",
}
"""What C does on vectors by itself."""

MASKED = {
    ca.OP_FABS: "masked(a, ~signs)",
    ca.OP_FMIN: "chosen(a < b | b != b, a, b)",
    ca.OP_FMAX: "chosen(a > b | b != b, a, b)",
    ca.OP_LT: "masked(ones, a < b)",
    ca.OP_LE: "masked(ones, a <= b)",
    ca.OP_EQ: "masked(ones, a == b)",
    ca.OP_NE: "masked(ones, a != b)",
    ca.OP_NOT: "masked(ones, a == 0)",
    ca.OP_AND: "masked(ones, a != 0 & b != 0)",
    ca.OP_OR: "masked(ones, a != 0 | b != 0)",
    ca.OP_IF_ELSE_ZERO: "masked(b, a != 0)",
}
"""What is chosen by the bits of comparisons, of vectors a and b."""

LANE_BY_LANE = {
    ca.OP_EXP: "exp(x)",
    ca.OP_LOG: "log(x)",
    ca.OP_POW: "pow(x, y)",
    ca.OP_CONSTPOW: "pow(x, y)",
    ca.OP_SQRT: "sqrt(x)",
    ca.OP_SIN: "sin(x)",
    ca.OP_COS: "cos(x)",
    ca.OP_TAN: "tan(x)",
    ca.OP_ASIN: "asin(x)",
    ca.OP_ACOS: "acos(x)",
    ca.OP_ATAN: "atan(x)",
    ca.OP_SINH: "sinh(x)",
    ca.OP_COSH: "cosh(x)",
    ca.OP_TANH: "tanh(x)",
    ca.OP_ASINH: "asinh(x)",
    ca.OP_ACOSH: "acosh(x)",
    ca.OP_ATANH: "atanh(x)",
    ca.OP_ATAN2: "atan2(x, y)",
    ca.OP_LOG1P: "log1p(x)",
    ca.OP_EXPM1: "expm1(x)",
    ca.OP_HYPOT: "hypot(x, y)",
    ca.OP_ERF: "erf(x)",
    ca.OP_FLOOR: "floor(x)",
    ca.OP_CEIL: "ceil(x)",
    ca.OP_FMOD: "fmod(x, y)",
    ca.OP_REMAINDER: "remainder(x, y)",
    ca.OP_FABS: "fabs(x)",
    ca.OP_SIGN: "x < 0 ? -1 : x > 0 ? 1 : x",
    ca.OP_COPYSIGN: "copysign(x, y)",
    ca.OP_FMIN: "fmin(x, y)",
    ca.OP_FMAX: "fmax(x, y)",
    ca.OP_LT: "x < y",
    ca.OP_LE: "x <= y",
    ca.OP_EQ: "x == y",
    ca.OP_NE: "x != y",
    ca.OP_NOT: "!x",
    ca.OP_AND: "x && y",
    ca.OP_OR: "x || y",
    ca.OP_IF_ELSE_ZERO: "x ? y : 0",
}
"""What is done lane by lane, of a lane x, and y of a second vector."""


def operation(kind: int, values: Sequence[str]) -> tuple[int, str]:
    """Return how many values an operation reads, and its result as C.

    Raises
    ------
    NotImplementedError
        If CasADi has an operation that is not known here.
    """
    if kind in ARITHMETIC:
        form = ARITHMETIC[kind]
        return 1 + ("{1}" in form), form.format(*values)
    if kind not in LANE_BY_LANE:
        raise NotImplementedError(f"no C code for operation {kind} of CasADi")
    count = 1 + ("y" in LANE_BY_LANE[kind].replace("copysign", ""))
    return count, f"op_{kind}({', '.join(values[:count])})"


def number(value: float) -> str:
    """Return a number in C, to the last bit."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(float(value))


def head(lanes: int) -> str:
    """Return the type of vectors, V, and what is done with them.

    ``load`` and ``store`` reach one entry of columns that stand side by side, a column a lane;
    ``get`` and ``put`` numbers one behind the other.
    """
    every = range(lanes)
    inline = "static inline __attribute__((always_inline))"
    lines = [
        "#include <math.h>",
        # Aligned as doubles are: columns start anywhere.
        f"typedef double V __attribute__((vector_size({8 * lanes}), aligned(8)));",
        f"typedef long long M __attribute__((vector_size({8 * lanes}), aligned(8)));",
        f"{inline} V all(double x) {{ return (V) {{{', '.join('x' for _ in every)}}}; }}",
        f"{inline} V load(const double* p, long n) "
        f"{{ return (V) {{{', '.join(f'p[{k} * n]' for k in every)}}}; }}",
        f"{inline} void store(double* p, long n, V x) "
        f"{{ {' '.join(f'p[{k} * n] = x[{k}];' for k in every)} }}",
        # Of a type that may point to doubles; a copy is not made one instruction.
        f"typedef double W __attribute__((vector_size({8 * lanes}), aligned(8), may_alias));",
        "#define masked(x, m) ((V)((M)(x) & (M)(m)))",
        "#define chosen(m, x, y) ((V)(((M)(x) & (M)(m)) | ((M)(y) & ~(M)(m))))",
        "#define ones all(1.0)",
        "#define signs ((M)all(-0.0))",
        f"{inline} V get(const double* p) {{ return *(const W*)p; }}",
        f"{inline} void put(double* p, V x) {{ *(W*)p = x; }}",
    ]
    for kind, form in LANE_BY_LANE.items():
        two = operation(kind, "xy")[0] == 2
        start = f"{inline} V op_{kind}(V a{', V b' if two else ''}) {{ "
        if kind in MASKED:
            lines.append(f"{start}return {MASKED[kind]}; }}")
            continue
        lines.append(
            f"{start}V r; "
            f"for (int k = 0; k < {lanes}; ++k) {{ double x = a[k]{', y = b[k]' if two else ''}; "
            f"r[k] = {form}; }} return r; }}"
        )
    return "\n".join([*lines, ""])


def scalar(kind: int, values: Sequence[str]) -> str:
    """Return the result of an operation on numbers as C; `scalar_head` has what it calls."""
    return operation(kind, values)[1].replace("op_", "one_", 1)


def scalar_head() -> str:
    """Return what is done with numbers."""
    lines = []
    for kind, form in LANE_BY_LANE.items():
        two = operation(kind, "xy")[0] == 2
        arguments = "double x, double y" if two else "double x"
        lines.append(f"static inline double one_{kind}({arguments}) {{ return {form}; }}")
    return "\n".join([*lines, ""])
