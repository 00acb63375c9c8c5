"""What is needed only where a condition holds: as CasADi computes it, and nowhere else."""

import casadi as ca
import numpy as np
import pytest

from nsopt.leaves import LeavesInTurn, routines
from tests.leaves.functions import BINARY, UNARY, assert_same_bits, in_one, interpret
from tests.leaves.test_in_turn import call

pytestmark = pytest.mark.usefixtures("folder")

SIZE, UNTOUCHED = 6, -123.25


def chain(rng, given, length):
    """Return numbers of a long computation in which each is read again."""
    values = ca.vertsplit(given)
    unary, binary = ([f for _, f in sorted(of.items())] for of in (UNARY, BINARY))
    for k in range(length):
        a, b = values[-1 - k % 2], values[rng.integers(len(values))]
        values.append(binary[rng.integers(len(binary))](a, ca.tanh(b)))
        values.append(unary[rng.integers(len(unary))](values[-1]))
    return ca.vertcat(*values[-4:])


def guarded(seed):
    """Return a function in turn and one of all, of which much is needed where p[0], p[1] > 0."""
    rng = np.random.default_rng(seed)
    p, x = (ca.SX.sym(name, SIZE) for name in "px")
    first, second = p[0] > 0, p[1] > 0
    rare = chain(rng, p, 60)
    both = ca.if_else(first, chain(rng, ca.vertcat(rare, p[2:4]), 60), 0)
    nested = ca.if_else(second, ca.if_else(first, chain(rng, ca.vertcat(both, p[:2]), 60), p[2]), 1)
    shared = chain(rng, p, 40)  # needed where either holds: it stands under none
    either = ca.if_else(first, shared * rare, 0) + ca.if_else(second, shared, p[3])
    at_x = ca.if_else(first, chain(rng, ca.vertcat(rare, x[:2]), 60), x[0])
    found = ca.vertcat(both, nested, either, at_x)
    last = ca.if_else(first, rare + chain(rng, ca.vertcat(rare, x[2:4]), 60), nested) * x[1]
    return (
        ca.Function("found", [x, p], [ca.densify(found)]),
        ca.Function("last", [ca.vertcat(p, x), ca.SX(0, 1)], [ca.densify(last)]),
    )


def made_at(level, seed):
    first, last = guarded(seed)
    head = first.numel_out(0) // 2
    leaf = LeavesInTurn(in_one([first], last), [head])
    leaf.compile(level)
    return first, last, leaf.code, head


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("piece", [150, 2000])
def test_where_conditions_hold_and_where_not_bits_are_the_same(piece, level, monkeypatch):
    monkeypatch.setattr(routines, "PIECE", piece)
    rng = np.random.default_rng(level)
    for seed in range(piece, piece + 4):  # texts are kept by what they compute
        first, last, code, head = made_at(level, seed)
        for signs in np.ndindex(2, 2):
            p, x = rng.normal(size=(2, SIZE))
            p[:2] = np.abs(p[:2]) * (2 * np.array(signs) - 1)
            numbers, kept = np.concatenate([p, x]), np.full(code.kept, np.nan)
            y, end = np.full(first.numel_out(0), np.nan), np.full(last.numel_out(0), np.nan)
            right = interpret(first, x, p)
            call(code.prepare[0], numbers, kept)
            call(code.evaluate[0], x, kept, y)
            assert_same_bits(y[:head], right[:head])
            call(code.complete[0], x, kept, y)
            assert_same_bits(y, right)
            call(code.last[0], numbers, kept, end)
            assert_same_bits(end, interpret(last, numbers, []))


def test_what_no_condition_asks_for_is_not_computed():
    first, _, code, _ = made_at(0, 0)
    y, untouched = np.zeros(first.numel_out(0)), []
    for sign in (-1.0, 1.0):
        kept, p = np.full(code.kept, UNTOUCHED), np.full(2 * SIZE, 0.5)
        p[0] *= sign
        call(code.prepare[0], p, kept)
        call(code.evaluate[0], p[:SIZE], kept, y)
        untouched.append(int((kept == UNTOUCHED).sum()))
    assert untouched[0] > 0
    assert untouched[1] == 0
