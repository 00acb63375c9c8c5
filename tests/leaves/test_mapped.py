"""Leaves at many instances, in lanes, against CasADi's virtual machine at each of them."""

import casadi as ca
import numpy as np
import pytest

from nsopt.leaves import MappedLeaf, lane_interpreter, mapped, routines
from tests.leaves.functions import BINARY, SPECIAL, UNARY, assert_same_bits, random_function, sx
from tests.leaves.waiting import finish

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def few(monkeypatch, request):
    """Have instances evaluated side by side from the first on, where a test says nothing else."""
    monkeypatch.setattr(mapped, "FEW", getattr(request, "param", 0))


both_ways = pytest.mark.parametrize("few", [0, mapped.FEW], indirect=True)


def one_by_one(function, own, common=()):
    """Evaluate by the virtual machine at each instance."""
    outputs = [
        [np.array(y.nonzeros()) for y in function.call([*(x[k] for x in own), *common])]
        for k in range(len(own[0]))
    ]
    return [np.array(each).reshape(len(own[0]), -1) for each in zip(*outputs, strict=True)]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert_same_bits(one, other)


@pytest.mark.parametrize("side_by_side", [1, 2, 4, 8])
@pytest.mark.parametrize("piece", [7, 2000])
def test_random_functions_have_the_same_bits(side_by_side, piece, monkeypatch):
    """In any number of lanes, in pieces, at both levels, of any number of instances.

    With short numbers in what is interpreted, or long ones.
    """
    monkeypatch.setattr(lane_interpreter, "SHORT", piece if piece == 2000 else 0)
    monkeypatch.setattr(mapped, "count_lanes", lambda: side_by_side)
    monkeypatch.setattr(lane_interpreter, "count_lanes", lambda: max(side_by_side, 2))
    monkeypatch.setattr(routines, "PIECE", piece)
    function = random_function(side_by_side, length=100)
    rng = np.random.default_rng(1)
    p = rng.normal(size=4)
    leaf = MappedLeaf(function, 1)
    for level in (None, 0, 2):
        if level is not None:
            leaf.compile(level)
        assert leaf.level == level
        for count in (1, 8, 13, 70):
            x = rng.normal(size=(count, 5))
            assert_same(leaf([x], [p]), one_by_one(function, [x], [p]))


@pytest.mark.parametrize("level", [None, 0, 2])
def test_operations_have_the_bits_of_the_virtual_machine(level):
    """Interpreted and as machine code."""
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    outputs = [*(f(a) for f in UNARY.values()), *(f(a, b) for f in BINARY.values())]
    function = ca.Function("all", [a, b], outputs)
    pairs = np.array([(x, y) for x in SPECIAL for y in SPECIAL])
    leaf = MappedLeaf(function)
    if level is not None:
        leaf.compile(level)
    assert_same(leaf([pairs[:, 0], pairs[:, 1]]), one_by_one(function, pairs.T))


def test_sums_with_products_have_the_bits_of_the_virtual_machine():
    """Also of zeros with signs, and where the product has other readers."""
    a, b, c = ca.SX.sym("a"), ca.SX.sym("b"), ca.SX.sym("c")
    outputs = [a * b + c, a * b - c, c - a * b, a * b - b * a, -(a * b), 2 * (a * c) + b]
    outputs += [b * c, b * c + a, (a - b) * (a + c) - c**2, -c, a - a * c, ca.sin(a * a) + a * a]
    function = ca.Function("sums", [a, b, c], outputs)
    some = [x for x in SPECIAL if not abs(x) > 1e300 or np.isinf(x)]
    triples = np.array([(x, y, z) for x in some for y in some for z in some])
    leaf = MappedLeaf(function)
    found = leaf(list(triples.T))
    assert leaf.level is None
    assert_same(found, one_by_one(function, triples.T))


@pytest.mark.parametrize("piece", [3, 2000])
def test_each_lane_takes_its_own_side_of_a_branch(piece, monkeypatch):
    """Also of a branch within a side, and of one that depends on p alone."""
    monkeypatch.setattr(routines, "PIECE", piece)
    z, p = ca.SX.sym("z", 2), ca.SX.sym("p")

    def function_of(name, *outputs):
        return ca.Function(name, [z], [y(z) for y in outputs], {"never_inline": True})

    def choice(name, one, other):
        return ca.Function.if_else(name, one, other).wrap()

    first = function_of("first", ca.exp, lambda z: z[1] / z[0])
    second = function_of("second", ca.log, lambda z: z[0] * z[1])
    inner = choice("inner", first, second)
    third = function_of(
        "third", *(lambda z, i=i: inner.call([z[1], z], False, True)[i] for i in (0, 1))
    )
    outer = choice("outer", first, third)
    x = ca.SX.sym("x", 3)
    of_x, of_p = (outer.call([given, x[1:]], False, True) for given in (x[0], p))
    also = outer.call([p, ca.vertcat(p, 2)], False, True)
    function = ca.Function("f", [x, p], [of_x[0] + of_p[1], of_x[1] * also[0][0]])
    values = np.array([(c, a, b) for c in (0.0, 1.0, -0.5) for a in (0.0, 2.0) for b in (0.0, 3.0)])
    leaf = MappedLeaf(function, 1)
    for level in (0, 2):
        leaf.compile(level)
        for given in (0.0, 1.0):
            assert_same(leaf([values], [given]), one_by_one(function, [values], [given]))


@both_ways
def test_entries_of_sparse_matrices():
    """Inputs and outputs are their entries; some have none, some are not asked for."""
    A, x = ca.SX.sym("A", ca.Sparsity.lower(2)), ca.SX.sym("x", 2)
    none, p = ca.SX.sym("none", 0), ca.SX.sym("p", 2)
    outputs = [A @ ca.diag(x), ca.SX(2, 0), p, ca.SX(2, 3), A * 2, ca.sin(p)]
    function = ca.Function("f", [A, x, none, p, none], outputs)
    rng = np.random.default_rng(0)
    of_A, of_x, of_p, nothing = rng.normal(size=(5, 3)), rng.normal(size=(5, 2)), [3.0, 4.0], []
    leaf = MappedLeaf(function, 3)
    own = [of_A, of_x, np.zeros((5, 0))]
    expected = leaf(own, [of_p, nothing])
    assert leaf.level is None
    assert expected[0][1].tolist() == [
        of_A[1, 0] * of_x[1, 0],
        of_A[1, 1] * of_x[1, 0],
        of_A[1, 2] * of_x[1, 1],
    ]
    leaf.compile(2)
    assert_same(leaf([of_A, of_x, np.zeros((5, 0))], [of_p, nothing]), expected)
    given = [
        memoryview(np.ascontiguousarray(x))
        for x in (of_A, of_x, np.zeros(0), np.array(of_p), np.zeros(0))
    ]
    found = np.zeros((5, 3))
    leaf.evaluate(5, given, [*[None] * 4, memoryview(found), None])
    assert_same_bits(found, 2 * of_A)


@both_ways
@pytest.mark.parametrize("count", [1, 2])
def test_outputs_that_are_always_zero_are_written(count):
    x = ca.SX.sym("x")
    leaf = MappedLeaf(ca.Function("none", [x], [ca.SX.zeros(3)]))
    found = np.full((count, 3), 7.0)
    leaf.evaluate(count, [np.ones(count).data], [found.data])
    assert not found.any()


def test_better_code_comes_by_itself_and_stays_on_the_disk(folder, monkeypatch):
    """The same bits all the time; another leaf of the same function finds the code."""
    monkeypatch.setattr(mapped, "MAKING", {0: 0.0, 2: 0.0})
    function, rng = random_function(5, length=50), np.random.default_rng(2)
    x, p = rng.normal(size=(9, 5)), rng.normal(size=4)
    expected = one_by_one(function, [x], [p])
    monkeypatch.setattr(mapped, "SOON", np.inf)
    MappedLeaf(function, 1)([x], [p])  # by what interprets, which is code, too
    made = len(list(folder.glob("*.o")))
    leaf = MappedLeaf(function, 1)
    monkeypatch.setattr(mapped, "SOON", 0.0)
    monkeypatch.setattr(mapped, "LATER", 0.0)
    for level in (None, 0, 2):
        assert leaf.level == level
        assert_same(leaf([x], [p]), expected)
        finish()
    assert len(list(folder.glob("*.o"))) == made + 2
    other = MappedLeaf(function, 1)
    monkeypatch.setattr(mapped, "compile_module", None)  # nothing is compiled
    assert_same(other([x], [p]), expected)
    finish()
    assert other.level == 2
    assert_same(other([x], [p]), expected)


def test_long_functions_are_compiled_only_where_that_is_repaid(monkeypatch):
    """By as many seconds of use as LLVM would take."""
    monkeypatch.setattr(mapped, "SOON", 0.0)
    leaf = MappedLeaf(random_function(5, length=50), 1)
    x, p = np.ones((9, 5)), np.ones(4)
    monkeypatch.setattr(mapped, "MAKING", {0: 60.0, 2: 60.0})
    leaf([x], [p])
    finish()
    assert leaf.level is None
    monkeypatch.setattr(mapped, "MAKING", {0: 0.0, 2: 60.0})
    for _ in range(2):
        leaf([x], [p])
        finish()
        assert leaf.level == 0


def test_what_has_no_machine_code_is_interpreted(monkeypatch):
    monkeypatch.setattr(mapped, "SOON", 0.0)
    monkeypatch.setattr(mapped, "MAKING", {0: 0.0, 2: 0.0})
    x, y = ca.SX.sym("x", 2), ca.MX.sym("y", 2)
    inner = ca.Function("inner", [y], [ca.sin(y)], {"never_inline": True})
    leaf = MappedLeaf(ca.Function("f", [x], [inner(x)]))
    for _ in range(2):
        assert leaf([[[0.5, 0.5]]])[0] == pytest.approx(np.sin([[0.5, 0.5]]))
        finish()
    assert leaf.level is None
    with pytest.raises(ValueError, match="'inner' is called and has no machine code"):
        leaf.compile(0)


def test_wrong_arguments_are_refused():
    x, p = sx(2, 1)
    leaf = MappedLeaf(ca.Function("f", [x, p], [x * p], ["x", "p"], ["y"]), 1)
    with pytest.raises(ValueError, match="'f': x has 9 entries, not 6"):
        leaf([np.zeros((3, 3))], [1.0])
    y = ca.MX.sym("y")
    with pytest.raises(TypeError, match="no SX function"):
        MappedLeaf(ca.Function("g", [y], [y]))
