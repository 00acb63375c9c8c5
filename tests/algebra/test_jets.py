"""Jets of expressions against nested derivatives by CasADi; screws against matrix exponentials."""

from math import factorial

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

from nsopt.algebra import Ad, JetScalars, Scalars, TimeJet, ad, bracket, evaluate, exp

pytestmark = pytest.mark.unit
ORDER = 6
x, y = ca.SX.sym("x"), ca.SX.sym("y")
EXPRESSIONS = {
    "product": x * y + x,
    "quotient": (x - y) / (2 + x * y),
    "square root": ca.sqrt(x * x + y),
    "exponential": ca.exp(x - y),
    "logarithm": ca.log(y + x),
    "sine": ca.sin(x * y),
    "cosine": ca.cos(x / y),
    "tangent": ca.tan(x),
    "arc sine": ca.asin(x / 5),
    "arc cosine": ca.acos(x / 4),
    "arc tangent": ca.atan(x * y),
    "angle": ca.atan2(x, y),
    "length": ca.hypot(x, y),
    "whole power": x**3 / y**2,
    "power": y**1.7,
    "absolute": ca.fabs(x - y) * y,
    "constant": ca.SX(3.0),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_jets_of_expressions(name):
    d = np.random.default_rng(0).normal(size=(2, ORDER + 1))
    d[:, 0] = 0.3, 2.0
    t = ca.SX.sym("t")
    path = [sum(c * t**k / factorial(k) for k, c in enumerate(row)) for row in d]
    e, exact = ca.substitute(EXPRESSIONS[name], ca.vertcat(x, y), ca.vertcat(*path)), []
    for _ in range(ORDER + 1):
        exact.append(float(ca.Function("e", [t], [e])(0)))
        e = ca.jacobian(e, t)
    function = ca.Function("f", [ca.vertcat(x, y)], [EXPRESSIONS[name]])
    of = JetScalars(Scalars())
    (found,) = evaluate(function, [[TimeJet(row) for row in d]], of)
    values = found.d if isinstance(found, TimeJet) else [found, *[0] * ORDER]
    assert values == pytest.approx(exact, rel=1e-12, abs=1e-12)


def test_an_expression_without_derivatives_of_every_order_is_refused():
    function = ca.Function("f", [x], [ca.floor(x)])
    with pytest.raises(ValueError, match="without derivatives of every order"):
        evaluate(function, [[1.0]], Scalars())


def screws(seed, count):
    return np.random.default_rng(seed).normal(size=(count, 6))


def matrix(Y):
    """Screws as 4 x 4 matrices."""
    w, v = Y[:3], Y[3:]
    W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.block([[W, v[:, None]], [np.zeros((1, 4))]])


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-7])
def test_exponential_of_screws(size):
    for Y in [*screws(0, 5), np.array([0, 0, 0, 1.0, 2, 3])]:
        R, r = exp(Y, size)
        assert expm(size * matrix(Y)) == pytest.approx(
            np.block([[R, r[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]), abs=1e-14
        )


def test_bracket_is_the_commutator():
    X, Y = screws(1, 2)
    A, B = matrix(X), matrix(Y)
    assert matrix(bracket(X, Y)) == pytest.approx(A @ B - B @ A, abs=1e-14)
    assert ad(X) @ Y == pytest.approx(bracket(X, Y), abs=1e-14)


def test_adjoint_carries_screws_along():
    X, Y = screws(2, 2)
    R, r = exp(X)
    G = expm(matrix(X))
    assert matrix(Ad(R, r) @ Y) == pytest.approx(G @ matrix(Y) @ np.linalg.inv(G), abs=1e-12)
    assert Ad(R, r) == pytest.approx(expm(ad(X)), abs=1e-12)
