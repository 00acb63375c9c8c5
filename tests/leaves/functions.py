"""Functions for tests of leaves, values for them, and how two results are compared."""

import math

import casadi as ca
import numpy as np

SPECIAL = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.3, 2.0, -2.0, 3.7, -25.3, 1e3, 1e22),
    *(5e-324, -1e-310, 2.3e-308, 1e308, -1.7e308, math.inf, -math.inf, math.nan),
]


def sx(*sizes):
    return [ca.SX.sym(name, size) for name, size in zip("xp", sizes, strict=True)]


def interpret(function, x, p):
    """Evaluate by CasADi's virtual machine."""
    return np.array(function(x, p)).ravel()


def compiled(leaf, level=0):
    """Return a leaf as machine code."""
    leaf.compile(level)
    return leaf


def assert_same_bits(found, expected):
    """Compare bits; a NaN is as good as any other."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    bits = [np.where(np.isnan(a), np.nan, a).view(np.int64) for a in (found, expected)]
    np.testing.assert_array_equal(*bits)


UNARY = {
    "exp": ca.exp,
    "log": ca.log,
    "sqrt": ca.sqrt,
    "square": lambda a: a**2,
    "twice": lambda a: 2 * a,
    "negative": lambda a: -a,
    "inverse": lambda a: 1 / a,
    "sin": ca.sin,
    "cos": ca.cos,
    "tan": ca.tan,
    "asin": ca.asin,
    "acos": ca.acos,
    "atan": ca.atan,
    "sinh": ca.sinh,
    "cosh": ca.cosh,
    "tanh": ca.tanh,
    "asinh": ca.asinh,
    "acosh": ca.acosh,
    "atanh": ca.atanh,
    "erf": ca.erf,
    "log1p": ca.log1p,
    "expm1": ca.expm1,
    "floor": ca.floor,
    "ceil": ca.ceil,
    "fabs": ca.fabs,
    "sign": ca.sign,
    "not": ca.logic_not,
    "constant power": lambda a: ca.constpow(a, 2.7),
}

BINARY = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
    "less": lambda a, b: a < b,
    "less or equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "not equal": lambda a, b: a != b,
    "and": ca.logic_and,
    "or": ca.logic_or,
    "fmod": ca.fmod,
    "remainder": ca.remainder,
    "copysign": ca.copysign,
    "if else zero": lambda a, b: ca.SX.binary(ca.OP_IF_ELSE_ZERO, a, b),
    "fmin": ca.fmin,
    "fmax": ca.fmax,
    "atan2": ca.atan2,
    "hypot": ca.hypot,
}


def random_function(seed, length=300, nx=5, np_=4):
    """Return a function of all operations in random order, with numbers that stay in reach."""
    rng = np.random.default_rng(seed)
    x, p = sx(nx, np_)
    values = [*ca.vertsplit(x), *ca.vertsplit(p), ca.SX(0.3), ca.SX(-1.7)]
    unary = [UNARY[name] for name in sorted(UNARY)]
    binary = [BINARY[name] for name in sorted(BINARY)]
    for _ in range(length):
        a, b = (values[k] for k in rng.integers(len(values), size=2))
        if rng.random() < 0.3:
            values.append(ca.tanh(unary[rng.integers(len(unary))](a)))
        else:
            values.append(binary[rng.integers(len(binary))](a, b))
    chosen = rng.choice(len(values), 20, replace=False)
    return ca.Function("random", [x, p], [ca.vertcat(*(values[k] for k in chosen))])


def in_one(functions, *at_end):
    """Return functions (x_k, (p, x_1, ..., x_k-1)) and functions of all of them as one."""
    p = ca.SX.sym("p", functions[0].numel_in(1))
    known, outputs = [p], []
    for function in functions:
        x = ca.SX.sym("x", function.numel_in(0))
        outputs.append(function(x, ca.vertcat(*known)))
        known.append(x)
    outputs += [function(ca.vertcat(*known), ca.SX(0, 1)) for function in at_end]
    return ca.Function("whole", known, outputs)
