"""Functions and branches that a leaf calls, against CasADi's virtual machine."""

import ctypes

import casadi as ca
import numpy as np
import pytest

from nsopt.leaves import Leaf, routines
from nsopt.leaves.instructions import read_instances
from tests.leaves.functions import assert_same_bits, interpret, sx

pytestmark = pytest.mark.usefixtures("folder")
NEVER = {"never_inline": True}
CONDITIONS = [0.0, -0.0, 0.5, -0.99, 5e-324, 1.0, -1.0, 1.5, -3.0, 1e300, np.inf, -np.inf, np.nan]


def function_of(name, *outputs):
    """Return outputs, each a function of a vector of two."""
    z = ca.SX.sym("z", 2)
    return ca.Function(name, [z], [output(z) for output in outputs], NEVER)


def called(branch, *arguments):
    """Call a branch from SX, so that it stays one."""
    return branch.wrap().call([*arguments], False, True)


def assert_as_interpreted(function, arguments, levels=(0, 2)):
    leaf = Leaf(function)
    for level in levels:
        leaf.compile(level)
        for x, p in arguments:
            assert_same_bits(leaf(x, p), interpret(function, x, p))


def test_what_is_called_is_part_of_the_code():
    """Also of what that calls, with sparse inputs and outputs that are not used."""
    x, p = sx(3, 1)
    entries = ca.SX.sym("entries", ca.Sparsity.diag(2))
    inner = ca.Function("inner", [entries], [ca.sin(entries), ca.sumsqr(entries)], NEVER)
    a, b = inner.call([ca.diag(x[:2])])
    outer = ca.Function("outer", [x], [ca.diag(a) * b, x**2], NEVER)
    function = ca.Function("f", [x, p], [ca.vertcat(outer.call([p * x])[0], x)])
    assert_as_interpreted(function, [(np.random.default_rng(0).normal(size=3), 0.7)])


@pytest.mark.parametrize("piece", [3, 2000])
@pytest.mark.parametrize("of_p", [False, True])
def test_a_branch_is_the_side_that_the_virtual_machine_takes(of_p, piece, monkeypatch):
    """For all conditions, also where it depends on p alone, and in pieces; -0 stays what it is."""
    monkeypatch.setattr(routines, "PIECE", piece)
    x, p = sx(3, 3)
    one = function_of("one", ca.exp, lambda z: -z[0], lambda z: z[1] / z[0])
    other = function_of("other", ca.log, lambda z: -2 * z[0], lambda z: z[0] * z[1])
    source = p if of_p else x
    choice = ca.Function.if_else("choice", one, other)
    a, b, _ = called(choice, source[0], ca.sin(source[1:]))
    function = ca.Function("f", [x, p], [ca.vertcat(a[1], b, x[1] * a[0], b + p[1])])
    arguments = [([c, 0.0, 0.5], [c, 0.0, 0.5]) for c in CONDITIONS]
    assert_as_interpreted(function, arguments)
    kept = Leaf(function).code.kept
    assert kept == (4 if of_p else 1)  # what is read of both outputs and their sum with p[1]


def test_sides_may_be_branches_and_call_functions():
    x, p = sx(3, 1)
    inner = function_of("inner", ca.cos)
    one = function_of("one", lambda z: inner(z) * z[0])
    two = function_of("two", lambda z: 3 * inner(z[::-1]))
    three = function_of("three", lambda z: called(ca.Function.if_else("in", one, two), z[1], z)[0])
    direct = ca.Function.if_else("direct", two, one)
    four = ca.Function("four", [z := ca.SX.sym("z", 2)], called(direct, z[0], z))
    choice = ca.Function.if_else("choice", three, four)
    function = ca.Function("f", [x, p], [called(choice, x[0], x[1:])[0] * p])
    arguments = [([a, b, c], 2.0) for a in (0, 1) for b in (0, 3) for c in (0, 2)]
    assert_as_interpreted(function, arguments)


def test_the_derivative_of_a_branch_is_a_branch():
    x, p = sx(3, 1)
    one, other = (function_of(f.__name__, f) for f in (ca.exp, ca.sin))
    y = called(ca.Function.if_else("choice", one, other), x[0] > p, x[1:])[0]
    function = ca.Function("f", [x, p], [ca.densify(ca.vec(ca.jacobian(y, x)))])
    assert read_instances(function, 1).branches
    assert_as_interpreted(function, [([c, 0.4, 0.9], 0.0) for c in (-1.0, 1.0)])


def test_the_other_side_is_not_evaluated(capfd):
    x, p = sx(3, 1)
    one, other = (
        function_of(f"side{k}", lambda z, k=k: z * z[0].printme(ca.SX(k))) for k in (1, 2)
    )
    choice = ca.Function.if_else("choice", one, other)
    leaf = Leaf(ca.Function("f", [x, p], called(choice, x[0], x[1:])))
    for condition, side in ((1.0, 1), (0.0, 2)):
        assert leaf([condition, 3.25, 1.0], 0.0).tolist() == [3.25**2, 3.25]
        ctypes.CDLL(None).fflush(None)
        assert [line.split()[1] for line in capfd.readouterr().out.splitlines()] == [str(side)]


def test_equal_calls_of_a_branch_are_one():
    x, p = sx(3, 1)
    choice = ca.Function.if_else("choice", *(function_of(n, ca.sin) for n in ("a", "b")))
    twice = [called(choice, x[0] * p, x[1:] + p)[0] for _ in range(2)]
    instructions = read_instances(ca.Function("f", [x, p], [twice[0] * twice[1]]), 1)
    assert (len(instructions.branches), len(instructions.sides)) == (1, 2)


@pytest.mark.parametrize("kind", ["MX", "of three"])
def test_a_call_without_machine_code_is_named(kind):
    x, p = sx(2, 1)
    y = ca.MX.sym("y", 2)
    inner = ca.Function("inner", [y], [ca.sin(y)], NEVER)
    if kind == "of three":
        sides = [function_of(name, ca.sin) for name in "abc"]
        three = ca.Function.conditional("inner", sides[:2], sides[2])
        inner = ca.Function("outer", [y], [three(1, y)], NEVER)
    with pytest.raises(ValueError, match="'inner' is called and has no machine code: state it"):
        Leaf(ca.Function("outer", [x, p], [inner(x)]))
