"""Compiled functions of blocks compute what CasADi's interpreter does."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Statements, Tables
from nsopt.mpcc.block_functions import InstanceFunction, compiled, interpreted

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


@pytest.mark.parametrize("code", [Tables(), Statements()])
@pytest.mark.parametrize("function", [SMOOTH, BROKEN], ids=["smooth", "broken"])
def test_compiled_is_as_interpreted(function, code):
    native, plain = compiled(function, code, COUNT), interpreted(function, True)
    assert native.rows.lanes > 1
    rng = np.random.default_rng(0)
    w = np.vstack([rng.uniform(0.1, 2.0, (2, COUNT)), rng.normal(size=COUNT)])
    data, p = np.arange(float(COUNT))[None], np.array([[0.7]])
    lam = rng.normal(size=(function.numel_out(0), COUNT))
    for name in ("value", "rows", "slope", "jacobian"):
        known = [w, data, p]
        found, expected = (values(getattr(x, name), known, 2) for x in (native, plain))
        assert found == pytest.approx(expected, rel=1e-13, abs=1e-13), name
    known = [w, data, lam, p, np.array([[1.3]])]
    found, expected = (values(x.hessian, known, 3) for x in (native, plain))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("code", [Tables(), Statements()])
def test_functions_that_call_others(code):
    """Tables have no calls: such a function is interpreted, of many instances compiled."""
    inner = ca.Function("inner", [X], [ca.sin(X) * X], {"never_inline": True})
    calls = block(inner(X) + Y, inner(Z))
    few, many = (compiled(calls, code, count) for count in (COUNT, 200))
    assert (few.rows.lanes > 1) == (code == Statements())
    assert many.rows.lanes > 1
    w, data, p = np.full((3, COUNT), 0.5), np.zeros((1, COUNT)), np.zeros((1, 1))
    for made in (few, many):
        expected = np.sin(0.5) * 0.5 + np.array([[0.5], [0.0]])
        assert values(made.rows, [w, data, p], 2) == pytest.approx(np.tile(expected, COUNT))
