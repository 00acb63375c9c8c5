"""Leaves that repeat an element, in loops, against CasADi's virtual machine."""

import casadi as ca
import numpy as np
import pytest

from nsopt.leaves import Leaf, leaf, program, repeated, routines
from nsopt.leaves.instructions import read_instances
from tests.leaves.functions import BINARY, UNARY, assert_same_bits, interpret, sx

NEVER = {"never_inline": True}

pytestmark = pytest.mark.usefixtures("folder")


def element(rng, length):
    """Return a random function of the numbers of two bodies, with a branch and numbers."""
    given = ca.SX.sym("given", 10)
    values = [*ca.vertsplit(given), ca.SX(0.5)]
    unary, binary = ([f for _, f in sorted(of.items())] for of in (UNARY, BINARY))
    for _ in range(length):
        a, b = (values[k] for k in rng.integers(len(values), size=2))
        if rng.random() < 0.3:
            values.append(ca.tanh(unary[rng.integers(len(unary))](a)))
        else:
            values.append(binary[rng.integers(len(binary))](a, b))
    y = ca.SX.sym("y", 2)
    sides = [
        ca.Function(n, [y], [ca.vertcat(f(y[0]), y[1])], NEVER)
        for n, f in (("a", ca.sin), ("b", ca.exp))
    ]
    choose = ca.Function.if_else("choose", *sides)
    (chosen,) = choose.wrap().call(
        [values[-1] < values[-2], ca.vertcat(*values[-4:-2])], False, True
    )
    return ca.Function("element", [given], [ca.vertcat(*values[-6:], chosen)])


def mechanism(seed, bodies, *, in_order=False, length=60):
    """Return a function of bodies in pairs, of sums at each body, and of what needs all of them."""
    rng = np.random.default_rng(seed)
    force = element(rng, length)
    x, p = sx(3 * bodies, 2 * bodies + 1)
    of = [ca.vertcat(x[3 * k : 3 * k + 3], p[2 * k : 2 * k + 2]) for k in range(bodies)]
    pairs = np.column_stack([np.arange(bodies - 1), np.arange(1, bodies)])
    if not in_order:
        pairs = pairs[rng.permutation(len(pairs))]
    loads, found = [ca.SX(3, 1) for _ in range(bodies)], []
    for a, b in pairs.tolist():
        scale = 0.3 if in_order else rng.choice([0.7, 1.3])  # a number of its own
        y = force(scale * ca.vertcat(of[a], of[b]) + p[-1])
        loads[a], loads[b] = loads[a] + y[:3], loads[b] - y[1:4]
        found.append(y[4:])
    size = ca.norm_inf(ca.vertcat(*loads))
    rows = [*(load * ca.cos(size) / 3 for load in loads), *found, size, x[:2], p[:3], ca.SX(4.0)]
    return ca.Function("mechanism", [x, p], [ca.densify(ca.vertcat(*rows))])


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("lanes", [4, 8])
@pytest.mark.parametrize(("bodies", "piece"), [(4, 2000), (7, 30), (9, 2000), (20, 30)])
def test_elements_have_the_same_bits_in_loops(bodies, piece, lanes, level, monkeypatch):
    """In pieces and whole; of fewer instances than lanes, and of more."""
    monkeypatch.setattr(program, "LONG", 1)
    monkeypatch.setattr(program, "SHARE", 0.0)
    monkeypatch.setattr(routines, "PIECE", piece)
    monkeypatch.setattr(leaf, "count_lanes", lambda: lanes)
    rng = np.random.default_rng(level)
    for seed in range(3):
        function = mechanism(seed, bodies, in_order=seed == 0)
        made = Leaf(function)
        made.compile(level)
        x, p = rng.normal(size=function.numel_in(0)), rng.normal(size=function.numel_in(1))
        assert_same_bits(made(x, p), interpret(function, x, p))


def test_without_p_loops_keep_nothing():
    """Callers give it no room: that of a step's end, or of a guess, belongs to others."""
    x, p = (ca.SX.sym(name, n) for name, n in (("x", 400), ("p", 0)))
    of_each = [ca.tanh(x[k] * ca.sin(x[(k + 1) % 400])) for k in range(400)]
    function = ca.Function("f", [x, p], [ca.vertcat(*of_each, ca.sum1(ca.vertcat(*of_each)))])
    made = Leaf(function)
    made.compile(0)
    assert made.code.kept == 0
    given = np.linspace(-1, 1, 400)
    assert_same_bits(made(given, []), interpret(function, given, []))


def groups(seed):
    """Return a function of groups of values: of each one operation on others, in any order."""
    rng = np.random.default_rng(seed)
    unary = [f for _, f in sorted(UNARY.items())]
    binary = [f for name, f in sorted(BINARY.items()) if name != "copysign"]  # of NaN
    x, p = sx(*rng.integers(1, 14, size=2))
    found = [ca.vertsplit(x), ca.vertsplit(p)]
    for _ in range(rng.integers(3, 25)):
        count = rng.choice([1, 2, 3, 5, 8, 12, 20])
        first, second = (found[k] for k in rng.integers(len(found), size=2))
        one, two = unary[rng.integers(len(unary))], binary[rng.integers(len(binary))]
        scale = rng.choice([0.3, 1.0])
        a, b = (
            rng.integers(len(of), size=count) if rng.random() < 0.6 else np.arange(count) % len(of)
            for of in (first, second)
        )
        terms = [two(first[i], second[j]) for i, j in zip(a, b, strict=True)]
        found.append([y if scale == 1.0 else ca.tanh(one(scale * y)) for y in terms])
    values = [value for group in found for value in group]
    chosen = rng.choice(len(values), min(len(values), rng.integers(1, 60)), replace=False)
    return ca.Function("groups", [x, p], [ca.densify(ca.vertcat(*(values[k] for k in chosen)))])


@pytest.mark.parametrize("first", [150, 10250, 10480, 10840])
def test_groups_that_read_each_other_in_any_order(first, monkeypatch):
    """Also where some values of a kind are read by others than its other values are."""
    monkeypatch.setattr(program, "LONG", 1)
    monkeypatch.setattr(program, "SHARE", 0.0)
    for seed in range(first, first + 20):
        function, rng = groups(seed), np.random.default_rng(seed)
        made = Leaf(function)
        made.compile(0)
        x, p = rng.normal(size=function.numel_in(0)), rng.normal(size=function.numel_in(1))
        assert_same_bits(made(x, p), interpret(function, x, p))


def test_what_pieces_share_may_be_too_much_for_a_stack(monkeypatch):
    monkeypatch.setattr(repeated, "ON_STACK", 100)
    function = mechanism(1, 20)
    made, rng = Leaf(function), np.random.default_rng(0)
    made.compile(0)
    for _ in range(3):
        x, p = rng.normal(size=function.numel_in(0)), rng.normal(size=function.numel_in(1))
        assert_same_bits(made(x, p), interpret(function, x, p))


@pytest.mark.parametrize("alike", [2, 5])
def test_loops_read_values_of_which_some_are_kept(alike, monkeypatch):
    """Of values that are alike, too few for a loop or enough, x needs the first alone."""
    monkeypatch.setattr(program, "LONG", 1)
    monkeypatch.setattr(program, "SHARE", 0.0)
    x, p = sx(2, alike + 8)
    of_p = [ca.sin(p[k]) for k in range(alike)]
    read = [ca.cos(of_p[k % alike] * p[alike + k]) for k in range(8)]
    y = ca.vertcat(x[0] * of_p[0], *(x[1] * value for value in read))
    function = ca.Function("some_kept", [x, p], [y])
    made = Leaf(function)
    made.compile(0)
    given = [np.linspace(0.3, 2.0, function.numel_in(i)) for i in range(2)]
    assert_same_bits(made(*given), interpret(function, *given))


def test_code_does_not_grow_with_the_number_of_elements():
    """But for sums over all of them: 80 bodies have less than twice the code of 20."""
    sizes = [
        sum(map(len, program.write_program(read_instances(function, 1), 8).modules))
        for function in (mechanism(1, n, in_order=True, length=300) for n in (20, 80))
    ]
    assert sizes[1] < 2 * sizes[0]
