"""Numbers of several bodies computed side by side are those computed one after another."""

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Lanes, compile_native, has_compiler
from nsopt.mpcc.native import generated
from nsopt.mpcc.side_by_side import with_vectors

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(not has_compiler(), reason="needs a C compiler"),
]

BODIES, SIZE = 7, 3


def statement(lanes: Lanes, owners: list[str], *, cse: bool = True) -> ca.Function:
    """Return a chain: of each body all operations, then with its neighbour, then a sum over all."""
    x, p = ca.SX.sym("x", SIZE * BODIES), ca.SX.sym("p", 2)
    terms = ca.SX.sym("terms", BODIES)
    lanes.assign(x, owners)
    lanes.liken(terms, x[::SIZE] * p[0])
    one = [operations(x[k * SIZE : (k + 1) * SIZE], p, terms[k]) for k in range(BODIES)]
    pairs = [a * b[::-1] - p[1] for a, b in pairwise(one)]
    sums = [ca.sum1(b) for b in pairs]
    whole = ca.sum1(ca.vertcat(*sums))
    again = ca.sum1(ca.vertcat(*sums)) * ca.sum1(ca.vertcat(*sums))  # the same once more
    scaled = [b / (1 + whole**2) for b in pairs]
    outputs = [ca.vertcat(*one), ca.vertcat(*pairs, *sums, again), whole, ca.vertcat(*scaled)]
    inner = ca.Function("inner", [x, p, terms], outputs, {"cse": cse})
    x_, p_ = ca.MX.sym("x", x.numel()), ca.MX.sym("p", 2)
    found = inner(x_, p_, ca.sin(x_[::SIZE]))
    return ca.Function("outer", [x_, p_], found)


def operations(x: ca.SX, p: ca.SX, term: ca.SX) -> ca.SX:
    a, b, c = x[0], x[1], x[2]
    smooth = [f(a) for f in (ca.sin, ca.cos, ca.tan, ca.exp, ca.log, ca.sqrt, ca.sinh, ca.tanh)]
    inverse = [f(a / 4) for f in (ca.asin, ca.acos, ca.atan, ca.asinh, ca.atanh, ca.expm1)]
    other = [ca.atan2(a, b), a**b, a**3.5, 1 / a, ca.hypot(a, c), ca.erf(c), -c, c + c, term * a]
    broken = [ca.fabs(c), ca.sign(c), ca.fmin(a, b), ca.fmax(a, c), ca.copysign(a, c)]
    steps = [ca.floor(c), ca.ceil(c), ca.fmod(c, b), ca.if_else(a < b, a * c, -b)]
    choices = [ca.logic_and(a < b, c < 0), ca.logic_or(a <= b, c < 0), ca.logic_not(a < b)]
    equal = [ca.if_else(p[0] == 0.5, a, b), ca.if_else(a != b, p[1], b), ca.fmin(a, p[0])]
    return ca.vertcat(*smooth, *inverse, *other, *broken, *steps, *choices, *equal)


@pytest.mark.parametrize("cse", [True, False])
@pytest.mark.parametrize("p", [[0.5, 0.1], [0.3, -2.0]])
def test_results_are_the_same_to_the_bit(p, cse):
    lanes = Lanes()
    function = statement(lanes, [f"body{k // SIZE}" for k in range(SIZE * BODIES)], cse=cse)
    native = compile_native(function, lanes)
    assert native.native
    rng = np.random.default_rng(1)
    x = rng.uniform(0.1, 2.0, (BODIES, SIZE))
    x[:, 2] = rng.normal(size=BODIES)
    for inputs in (x.ravel(), np.full(x.size, np.nan), np.full(x.size, 0.7)):
        for found, expected in zip(native.function(inputs, p), function(inputs, p), strict=True):
            np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


def test_what_is_alike_is_in_vectors_and_the_sum_is_not():
    lanes = Lanes()
    function = statement(lanes, [f"body{k // SIZE}" for k in range(SIZE * BODIES)])
    source = generated(function)
    written = with_vectors(source, function, lanes)
    one = operations(ca.SX.sym("x", SIZE), ca.SX.sym("p", 2), ca.SX.sym("t")).numel()
    assert written.count("const V v") > 2 * one
    assert len(written.splitlines()) < len(source.splitlines())


@pytest.mark.parametrize("seed", range(3))
def test_wrong_owners_change_no_result(seed):
    rng = np.random.default_rng(seed)
    lanes = Lanes()
    owners = [f"body{k}" for k in rng.integers(0, BODIES, SIZE * BODIES)]
    function = statement(lanes, owners)
    native = compile_native(function, lanes)
    assert native.native
    x = rng.uniform(0.1, 2.0, SIZE * BODIES)
    for found, expected in zip(
        native.function(x, [0.4, 1.0]), function(x, [0.4, 1.0]), strict=True
    ):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


def test_results_of_calls_are_alike_where_the_function_is_the_same():
    lanes, x = Lanes(), ca.SX.sym("x", BODIES)
    lanes.assign(x, [f"body{k}" for k in range(BODIES)])
    a = ca.SX.sym("a")
    curve, other = (
        ca.Function(name, [a], [f(a), a**2], {"never_inline": True})
        for name, f in (("curve", ca.sin), ("other", ca.cos))
    )
    values = ca.vertcat(*(y for k in range(BODIES) for f in (curve, other) for y in f(x[k])))
    order = lanes.order(ca.SX.sym("terms", values.numel()), values)
    assert sorted(order) == list(range(4 * BODIES))
    for k in range(4):
        alike = order[k * BODIES : (k + 1) * BODIES]
        assert np.diff(alike) == pytest.approx(4)


def test_numbers_that_are_alike_are_one_behind_the_other():
    lanes, x = Lanes(), ca.SX.sym("x", 2 * BODIES)
    lanes.assign(x, [f"body{k // 2}" for k in range(2 * BODIES)])
    values = ca.vertcat(*(f(x[2 * k]) for k in range(BODIES) for f in (ca.sin, ca.cos)))
    order = lanes.order(ca.SX.sym("terms", values.numel()), values)
    assert order in ([*range(0, 14, 2), *range(1, 14, 2)], [*range(1, 14, 2), *range(0, 14, 2)])
