"""Functions that are computed in turn, what several need once, against CasADi's virtual machine."""

import ctypes
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

from nsopt.leaves import INTERPRETED, LeavesInTurn, leaf, program, routines
from tests.leaves.functions import assert_same_bits, in_one, interpret
from tests.leaves.test_repeated import element

pytestmark = pytest.mark.usefixtures("folder")


def turns(seed, bodies):
    """Return two functions of bodies and of the x before, and one of all, that have much alike."""
    rng = np.random.default_rng(seed)
    force = element(rng, 40)
    p, x, z = (ca.SX.sym(name, 3 * bodies) for name in "pxz")

    def forces(*given):
        of = [ca.vertcat(*(y[3 * k : 3 * k + 3] for y in given)) for k in range(bodies)]
        whole = [ca.vertcat(a, b, ca.SX(10, 1))[:10] for a, b in pairwise(of)]
        return [force(0.3 * a) for a in whole]

    start, middle, end = forces(p), forces(p, x), forces(z)
    alike = [ca.sum1(a) * ca.cos(p[0]) for a in start]
    first = ca.vertcat(*middle, *alike, x[0], p[1])
    second = ca.vertcat(*(a * z[1] for a in middle), *end, p[:2], x[1])
    last = ca.vertcat(*(a + b for a, b in zip(start, end, strict=True)), *alike, ca.exp(x), p, z)
    return (
        ca.Function("first", [x, p], [ca.densify(first)]),
        ca.Function("second", [z, ca.vertcat(p, x)], [ca.densify(second)]),
        ca.Function("last", [ca.vertcat(p, x, z), ca.SX(0, 1)], [ca.densify(last)]),
    )


def call(address, *arrays):
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))(address)(*pointers)


@pytest.mark.parametrize("level", [INTERPRETED, 0, 2])
@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize(("bodies", "piece"), [(2, 2000), (6, 30), (9, 2000)])
def test_functions_in_turn_have_the_same_bits(bodies, piece, looped, level, monkeypatch):
    monkeypatch.setattr(program, "LONG", 1 if looped else 10**6)
    monkeypatch.setattr(program, "SHARE", 0.0)
    monkeypatch.setattr(routines, "PIECE", piece)
    monkeypatch.setattr(leaf, "count_lanes", lambda: 4)
    rng = np.random.default_rng(level + 1)
    for seed in range(2):
        first, second, last = turns(seed, bodies)
        w, none = ca.SX.sym("w", last.numel_in(0)), ca.SX.sym("none", 0)
        other = ca.Function("other", [w, none], [2 * last(w, none)[3:]])
        heads = [f.numel_out(0) // 3 for f in (first, second)]
        made = LeavesInTurn(in_one([first, second], last, other), heads)
        if level != INTERPRETED:
            made.compile(level)
        code, n = made.code, 3 * bodies
        p, x, z = (rng.normal(size=n) for _ in range(3))
        numbers, kept = np.concatenate([p, x, z]), np.full(code.kept, np.nan)
        for k, (function, own) in enumerate([(first, x), (second, z)]):
            call(code.prepare[k], numbers, kept)
            for given in (own + 1.0, own):  # at any x, with what was kept once
                y = np.full(function.numel_out(0), np.nan)
                right = interpret(function, given, numbers[: (k + 1) * n])
                call(code.evaluate[k], given, kept, y)
                assert_same_bits(y[: heads[k]], right[: heads[k]])
                call(code.complete[k], given, kept, y)
                assert_same_bits(y, right)
        for function, address in zip((last, other), code.last, strict=True):
            y = np.full(function.numel_out(0), np.nan)
            call(address, numbers, kept, y)
            assert_same_bits(y, interpret(function, numbers, []))


def test_what_several_need_is_computed_once():
    """Code of functions that are all the same is hardly more than that of one."""
    x, p = ca.SX.sym("x", 1), ca.SX.sym("p", 1)
    long = p
    for k in range(300):
        long = ca.sin(long) * (0.3 + k)
    first = ca.Function("first", [x, p], [long * x])
    last = ca.Function("last", [ca.vertcat(p, x), ca.SX(0, 1)], [long + x])
    made = LeavesInTurn(in_one([first], last), [1])
    assert sum(text.count("call double @sin(") for text in made._text.modules) == 300


def test_functions_that_cannot_be_computed_in_turn_are_refused():
    p, x, z = (ca.SX.sym(name, 2) for name in "pxz")
    early = ca.Function("early", [p, x, z], [x * z, z, p])
    with pytest.raises(ValueError, match="y_1 depends on x_2"):
        LeavesInTurn(early, [2, 2])
    wide = ca.Function("wide", [p, x, z], [x.T, z, p], ["p", "x", "z"], ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"'wide': a is 1x2"):
        LeavesInTurn(wide, [2, 2])
