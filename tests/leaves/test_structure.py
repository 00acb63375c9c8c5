"""Texts that serve functions of other numbers, against CasADi's virtual machine."""

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

from nsopt.leaves import Leaf, LeavesInTurn, program
from nsopt.leaves.instructions import read_instances
from nsopt.leaves.structure import Structure, read_records
from nsopt.leaves.turns import Turns
from tests.leaves.functions import (
    assert_same_bits,
    compiled,
    in_one,
    interpret,
    random_function,
    sx,
)
from tests.leaves.test_in_turn import call

pytestmark = pytest.mark.usefixtures("folder")

X, P, Z = np.linspace(-0.4, 0.9, 12), np.linspace(0.2, 0.7, 3), np.linspace(0.1, 0.8, 4)


@pytest.fixture
def written(monkeypatch):
    """Count the texts that are written, of short functions too; none is kept in the process."""
    texts = []

    def note(*given):
        texts.append(write(*given))
        return texts[-1]

    write = program.write_program
    monkeypatch.setattr(program, "write_program", note)
    monkeypatch.setattr(program, "_texts", type(program._texts)())
    monkeypatch.setattr(program, "LONG", 1)
    return texts


def hinges(lengths, mass=0.7, share=0.5):
    """Return forces of springs of some lengths, between one end of a chain and the other."""
    x, p = sx(12, 3)
    rows = [
        mass * (ca.sqrt(length**2 + x[k] ** 2) - share * p[k % 3] * ca.sin(length * x[k + 1]))
        for k, length in enumerate(lengths)
    ]
    return ca.Function("hinges", [x, p], [ca.vertcat(*rows, ca.sum1(ca.vertcat(*rows)))])


def structure_of(function):
    turns = Turns.alone(function)
    return Structure(turns, read_records(function, turns.entries))


def assert_right(*functions):
    for function in functions:
        assert_same_bits(compiled(Leaf(function))(X, P), interpret(function, X, P))


def test_one_text_serves_functions_that_differ_in_numbers(written):
    assert_right(*(hinges([a] * 11, mass) for a, mass in ((0.3, 0.7), (0.4, 1.9), (1e9, -3.0))))
    assert len(written) == 1
    assert_right(hinges([0.3] * 11, share=0.25))  # beside the mass it is a number, not a half
    assert len(written) == 2


def test_numbers_that_are_no_longer_equal_are_told_apart(written):
    """Lengths that differ by round-off, in one place and then in others."""
    near, equal = 0.3 * (1 + 1e-15), hinges([0.3] * 11)
    first, second = hinges([0.3] * 10 + [near]), hinges([near, 0.3, 1.7] + [0.3] * 8)
    assert_right(equal, first, second, equal, first)
    assert len(written) == 2  # the second has each length apart, and so serves all
    assert_right(hinges(np.linspace(0.11, 0.93, 11)))
    assert len(written) == 2


def test_a_number_that_a_formula_has_is_of_another_text(written):
    """So are a product with one, which CasADi leaves out, and minus zero."""
    assert_right(*(hinges([a] * 11, b) for a, b in ((0.3, 0.7), (2.0, 0.7), (1.0, 0.7), (0.3, 1))))
    assert len(written) == 4


def test_texts_are_found_again_on_the_disk(written, folder, monkeypatch):
    assert_right(hinges([0.3] * 11))
    monkeypatch.setattr(program, "_texts", type(program._texts)())
    assert_right(hinges([0.4] * 11))
    assert len(written) == 1
    for path in folder.glob("*.text"):
        path.write_bytes(path.read_bytes()[:-9])
    monkeypatch.setattr(program, "_texts", type(program._texts)())
    assert_right(hinges([0.5] * 11))
    assert len(written) == 2


def test_no_more_texts_are_held_than_are_used(written, monkeypatch):
    monkeypatch.setattr(program, "MOST", 2)
    for count in range(3, 9):
        assert_right(hinges([0.3] * count))
    assert len(program._texts) == 2
    assert len(written) == 6


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.usefixtures("written")
def test_all_operations_in_random_order(seed):
    function = random_function(seed)
    assert read_records(function, Turns.alone(function).entries) is not None
    x, p = np.linspace(-0.9, 1.1, 5), np.linspace(0.3, 2.0, 4)
    assert_same_bits(compiled(Leaf(function))(x, p), interpret(function, x, p))


def test_instructions_are_those_that_casadi_tells():
    """The same operations, each once; numbers are the ones that they read."""
    function = hinges(np.linspace(0.1, 0.9, 11))
    structure = structure_of(function)
    found, told = structure.number_values(structure.label_numbers()), read_instances(function, 1)
    assert sorted(found.operation) == sorted(told.operation)
    assert sorted(found.constants.values()) == sorted(told.constants.values())


def test_a_function_without_numbers_or_p(written):
    x, p = sx(4, 0)
    function = ca.Function("plain", [x, p], [ca.vertcat(x[0] * x[1] - x[2], 2 * x[3], x[0])])
    for _ in range(2):
        made = compiled(Leaf(function))
        assert_same_bits(made(X[:4], []), interpret(function, X[:4], []))
    assert len(written) == 1


def test_what_calls_others_is_read_one_by_one(written):
    y = ca.SX.sym("y", 2)
    called = ca.Function("called", [y], [ca.hypot(y[0], 0.7 * y[1])], {"never_inline": True})
    x, p = sx(2, 1)
    function = ca.Function("calls", [x, p], [called(x) + p])
    assert read_records(function, Turns.alone(function).entries) is None
    for _ in range(2):
        assert_same_bits(Leaf(function)([0.2, 0.3], [0.5]), interpret(function, [0.2, 0.3], [0.5]))


def in_turn(lengths, mass=0.7, calls=False):
    """Return forces of springs of some lengths in turn, and their work; 12 x, then 4 z."""
    x, p, z = (ca.SX.sym(name, n) for name, n in (("x", 12), ("p", 3), ("z", 4)))
    first = hinges(lengths, mass)(x, p)
    forces = [mass * (a * p[0] - ca.exp(-b * z[1])) for a, b in pairwise(lengths)]
    middle = ca.vertcat(*forces, first[0] * z[3], p[1])
    if calls:
        y = ca.SX.sym("y")
        called = ca.Function("called", [y], [ca.hypot(y, 0.7)], {"never_inline": True})
        middle = ca.vertcat(middle, called(z[0]))
    return (
        ca.Function("first", [x, p], [first]),
        ca.Function("empty", [ca.SX(0, 1), ca.vertcat(p, x)], [ca.SX(0, 1)]),
        ca.Function("second", [z, ca.vertcat(p, x)], [middle]),
        ca.Function("last", [ca.vertcat(p, x, z), ca.SX(0, 1)], [ca.vertcat(z, first * 0.37, p)]),
    )


def assert_in_turn(*functions):
    """Compare functions of x, of nothing, of z and of all, in turn."""
    *each, last = functions
    code = compiled(LeavesInTurn(in_one(each, last), [f.numel_out(0) for f in each])).code
    numbers, kept = np.concatenate([P, X, Z]), np.full(code.kept, np.nan)
    for k, (function, own) in enumerate(zip(each, (X, Z[:0], Z), strict=True)):
        y = np.full(function.numel_out(0), np.nan)
        call(code.prepare[k], numbers, kept)
        call(code.evaluate[k], own, kept, y)
        assert_same_bits(y, interpret(function, own, numbers[: function.numel_in(1)]))
    y = np.full(last.numel_out(0), np.nan)
    call(code.last[0], numbers, kept, y)
    assert_same_bits(y, interpret(last, numbers, []))


@pytest.mark.parametrize("looped", [False, True])
def test_one_text_serves_functions_in_turn(written, looped, monkeypatch):
    """Numbers are the same in all of them, or no longer in one."""
    monkeypatch.setattr(program, "SHARE", 0.0 if looped else 2.0)
    assert_in_turn(*in_turn([0.3] * 11))
    assert_in_turn(*in_turn([0.4] * 11, mass=-3.0))
    assert len(written) == 1
    assert_in_turn(*in_turn([0.3] * 11)[:3], in_turn([0.3] * 11, mass=0.71)[3])
    assert len(written) == 2
    assert_in_turn(*in_turn(np.linspace(0.11, 0.93, 11)))
    monkeypatch.setattr(program, "_texts", type(program._texts)())
    assert_in_turn(*in_turn(np.linspace(0.12, 0.94, 11)))
    assert len(written) == 3


def test_functions_in_turn_that_are_parted_otherwise_have_another_text(written):
    """The same values, of which those of one routine are another's."""
    x, p, z = (ca.SX.sym(name, n) for name, n in (("x", 12), ("p", 3), ("z", 4)))
    rows = ca.vertcat(*(ca.sin(0.3 * x[k]) for k in range(12)), z * p[0])
    last = ca.Function("last", [ca.vertcat(p, x, z), ca.SX(0, 1)], [ca.vertcat(rows, p)])
    empty = ca.Function("empty", [ca.SX(0, 1), ca.vertcat(p, x)], [ca.SX(0, 1)])
    for count in (4, 5):
        first = ca.Function("first", [x, p], [rows[:count]])
        second = ca.Function("second", [z, ca.vertcat(p, x)], [rows[count:]])
        assert_in_turn(first, empty, second, last)
    assert len(written) == 2


def test_functions_in_turn_of_which_one_calls_others_are_read_one_by_one(written):
    functions = in_turn([0.3] * 11, calls=True)
    whole = in_one(functions[:-1], functions[-1])
    assert read_records(whole, Turns.of(whole, [12, 0, 4]).entries) is None
    assert_in_turn(*functions)
    assert len(written) == 1
