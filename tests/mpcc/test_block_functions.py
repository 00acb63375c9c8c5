"""Functions of blocks are as their mathematics says, whoever evaluates them."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc.horizon import block_functions
from nsopt.mpcc.horizon.block_functions import BlockFunctions, InstanceFunction

COUNT = 21
"""Instances, more than one call takes and no multiple of it."""


def block(*rows: ca.SX) -> ca.Function:
    """Return a function of a block from its rows in w, data and p."""
    terms = ca.vertcat(DATA * ca.sumsqr(W), P * W[0])
    return ca.Function("block", [W, DATA, P], [ca.vertcat(*rows), terms])


W, DATA, P = ca.SX.sym("w", 3), ca.SX.sym("data"), ca.SX.sym("p")
X, Y, Z = ca.vertsplit(W)
SMOOTH = block(
    *(f(X) for f in (ca.sin, ca.cos, ca.tan, ca.exp, ca.log, ca.sqrt, ca.sinh, ca.cosh, ca.tanh)),
    *(f(X / 4) for f in (ca.asin, ca.acos, ca.atan, ca.asinh, ca.atanh, ca.log1p, ca.expm1)),
    *(ca.atan2(X, Y), X**Y, X**3.5, 1 / X, ca.hypot(X, Z), ca.erf(Z), ca.acosh(1 + X), 2.5 * Z),
)
BROKEN = block(
    *(ca.fabs(Z), ca.sign(Z), ca.fmin(X, Y), ca.fmax(X, Z), ca.copysign(X, Z), ca.floor(Z)),
    *(ca.ceil(Z), ca.fmod(Z, Y), ca.if_else(X < Y, X * Z, -Y), ca.if_else(X <= Y, Y, P)),
    *(ca.logic_and(X < Y, Z < 0), ca.logic_or(X < Y, Z < 0), ca.logic_not(X < Y), Z - Z),
    *(ca.if_else(DATA == 3.0, X, Y), ca.if_else(DATA != 3.0, X, Y), Z + Z, -Z),
)


def values(f: InstanceFunction, inputs: list[np.ndarray], own: int) -> np.ndarray:
    """Return the entries of the last output at all instances."""
    symbols = [ca.MX.sym("x", *x.shape) for x in inputs]
    call = ca.Function("call", symbols, f(symbols[:own], symbols[own:], COUNT)[-1:])
    return np.asarray(call(*inputs))


def compile_all(functions, level):
    for x in functions:
        x.leaf.compile(level)


def evaluated(functions, function):
    """Return the last output of each of the functions of a block at all instances."""
    rng = np.random.default_rng(0)
    w = np.vstack([rng.uniform(0.1, 2.0, (2, COUNT)), rng.normal(size=COUNT)])
    data, p, sigma = np.arange(float(COUNT))[None], np.array([[0.7]]), np.array([[1.3]])
    lam = rng.normal(size=(function.numel_out(0), COUNT))
    found = [values(x, [w, data, p], 2) for x in functions[:-1]]
    return [*found, values(functions.hessian, [w, data, lam, p, sigma], 3)]


@pytest.mark.parametrize("function", [SMOOTH, BROKEN], ids=["smooth", "broken"])
def test_machine_code_has_the_bits_of_the_virtual_machine(function, tmp_path, monkeypatch):
    monkeypatch.setenv("NSOPT_CACHE", str(tmp_path))
    functions = BlockFunctions.of(function)
    expected = evaluated(functions, function)
    for level in (0, 2):
        compile_all(functions, level)
        for found, known in zip(evaluated(functions, function), expected, strict=True):
            assert found.tobytes() == known.tobytes()


def test_numbers_of_long_functions_are_inputs(tmp_path, monkeypatch):
    """Their code serves other numbers: nothing is compiled for these."""
    monkeypatch.setenv("NSOPT_CACHE", str(tmp_path / "alone"))
    stated = [block(c * ca.sin(X), c * Y) for c in (0.3, 0.4)]
    alone = [BlockFunctions.of(x) for x in stated]
    for functions in alone:
        compile_all(functions, 2)  # else they may be compiled later, beside the others
    known = [evaluated(x, function) for x, function in zip(alone, stated, strict=True)]
    monkeypatch.setenv("NSOPT_CACHE", str(tmp_path / "long"))
    monkeypatch.setattr(block_functions, "LONG", 1)
    for c, function, expected in zip((0.3, 0.4), stated, known, strict=True):
        functions = BlockFunctions.of(function)
        assert c in functions.rows.numbers.nonzeros()
        compile_all(functions, 0)
        assert len(list((tmp_path / "long").glob("*.o"))) == len(functions)
        for found, number in zip(evaluated(functions, function), expected, strict=True):
            assert found == pytest.approx(number, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("count", [1, block_functions.MANY - 1, block_functions.MANY])
def test_few_instances_are_as_many(count):
    functions = BlockFunctions.of(SMOOTH)
    w = np.linspace(0.1, 0.9, 3 * COUNT).reshape(3, COUNT)
    data, p = np.arange(float(COUNT))[None], np.array([[0.7]])
    of_all = values(functions.jacobian, [w, data, p], 2)
    own = [ca.MX(w[:, :count]), ca.MX(data[:, :count])]
    call = ca.Function("call", [], functions.jacobian(own, [ca.MX(p)], count)[-1:])
    found = np.asarray(call()["o0"])
    assert found.tobytes() == of_all[:, : found.shape[1]].tobytes()


def test_functions_that_call_others(tmp_path, monkeypatch):
    monkeypatch.setenv("NSOPT_CACHE", str(tmp_path))
    inner = ca.Function("inner", [X], [ca.sin(X) * X], {"never_inline": True})
    functions = BlockFunctions.of(block(inner(X) + Y, inner(Z)))
    w, data, p = np.full((3, COUNT), 0.5), np.zeros((1, COUNT)), np.zeros((1, 1))
    compile_all(functions, 0)
    expected = np.sin(0.5) * 0.5 + np.array([[0.5], [0.0]])
    assert values(functions.rows, [w, data, p], 2) == pytest.approx(np.tile(expected, COUNT))
