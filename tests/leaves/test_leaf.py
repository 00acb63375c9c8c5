"""Leaves against CasADi's virtual machine: what is computed once, tiers, sizes, threads."""

import ctypes
import os
import subprocess
import sys
import threading

import casadi as ca
import numpy as np
import pytest

from nsopt.leaves import INTERPRETED, Leaf, routines
from nsopt.leaves.instructions import read_instances
from tests.leaves.functions import assert_same_bits, compiled, interpret, random_function, sx
from tests.leaves.waiting import finish

pytestmark = pytest.mark.usefixtures("folder")


def improved(leaf):
    """Return the leaf when its better code is there."""
    leaf.improve()
    finish()
    return leaf


@pytest.mark.parametrize("piece", [7, 2000])
@pytest.mark.parametrize("seed", range(4))
def test_random_functions_have_the_same_bits(seed, piece, monkeypatch):
    """Interpreted, and as machine code in one piece and in many, at both levels."""
    monkeypatch.setattr(routines, "PIECE", piece)
    function = random_function(seed)
    leaf = Leaf(function)
    rng = np.random.default_rng(seed)
    arguments = [(rng.normal(size=5), rng.normal(size=4)) for _ in range(10)]
    expected = [interpret(function, *both) for both in arguments]
    assert leaf.code.level == INTERPRETED
    assert_same_bits([leaf(*both) for both in arguments], expected)
    for level in (0, 2):
        assert improved(leaf).code.level == level
        assert_same_bits([leaf(*both) for both in arguments], expected)


@pytest.mark.parametrize(
    ("sizes", "y"),
    [
        ((0, 0), lambda x, p: ca.SX(0, 1)),
        ((0, 0), lambda x, p: ca.vertcat(ca.SX(1.5), ca.SX(-0.0))),
        ((0, 2), lambda x, p: ca.sin(p)),
        ((2, 0), lambda x, p: ca.sin(x)),
        ((2, 2), lambda x, p: ca.vertcat(p, x, p[0], 3)),
        ((2, 2), lambda x, p: ca.SX(0, 1)),
        ((3, 1), lambda x, p: x[0]),
    ],
)
def test_sizes(sizes, y):
    x, p = sx(*sizes)
    function = ca.Function("f", [x, p], [y(x, p)])
    leaf = Leaf(function)
    values = np.arange(1.0, sizes[0] + 1), np.arange(5.0, sizes[1] + 5)
    assert_same_bits(leaf(*values), interpret(function, *values))
    assert (leaf.code.x, leaf.code.p, leaf.code.y) == (*sizes, function.numel_out(0))


def test_long_rows_of_copies_are_divided(monkeypatch):
    """Of zeros, of inputs and of what is computed; LLVM takes long for many in one function."""
    monkeypatch.setattr(routines, "COPIES", 7)
    x, p = sx(3, 2)
    y = ca.vertcat(ca.SX.zeros(40), *[x] * 5, ca.sin(x), *[p] * 5, ca.sin(p), ca.cos(x[0] * p[1]))
    leaf = compiled(Leaf(ca.Function("copies", [x, p], [ca.densify(y)])))
    given = np.array([0.3, 0.4, 0.5]), np.array([0.6, 0.7])
    assert_same_bits(leaf(*given), interpret(leaf._function, *given))
    functions = "".join(leaf._text.modules).split("define ")
    assert max(text.count("store ") for text in functions) <= 7 + 4  # those of what it computes


def test_any_entries_of_long_columns_are_told_apart():
    x, p = sx(60, 60)
    for k in range(60):
        found = read_instances(ca.Function("f", [x, p], [x[59] - p[k]]), 1)
        assert found.operation == [ca.OP_INPUT, ca.OP_INPUT, ca.OP_SUB]
        assert sorted(found.right[:2]) == sorted([59, k])
        assert sorted(found.left[:2]) == [0, 1]


def test_what_depends_on_p_alone_is_computed_once():
    """Kept is what the rest reads, each number once: not p, not what leads to it, no constant."""
    x, p = sx(1, 2)
    y = ca.vertcat(x * ca.sin(ca.cos(p[0]) + 2), x + ca.sin(2 + ca.cos(p[0])), p[1] ** 2, 3)
    leaf = compiled(Leaf(ca.Function("f", [x, p], [y])))
    assert leaf.code.kept == 2
    p_values, kept = np.array([0.4, 3.0]), np.empty(2)
    prepare = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(leaf.code.prepare)
    prepare(p_values.ctypes.data, kept.ctypes.data)
    assert sorted(kept) == [np.sin(np.cos(0.4) + 2), 9.0]


def test_equal_values_are_computed_once_and_dead_ones_not_at_all():
    x, p = sx(2, 1)
    y = x[0] * x[1] + x[1] * x[0]
    function = ca.Function("f", [x, p], [ca.vertcat(y, y)])
    instructions = read_instances(function, 1)
    computed = [what for what in instructions.operation if what not in (ca.OP_INPUT, ca.OP_CONST)]
    assert computed in ([ca.OP_MUL, ca.OP_ADD], [ca.OP_MUL, ca.OP_TWICE])


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda x, p: ca.Function("f", [x], [x]), ValueError, "1 inputs and 1 outputs"),
        (lambda x, p: ca.Function("f", [x.T, p], [x]), ValueError, "x is .* not a dense column"),
        (lambda x, p: ca.Function("f", [x, p], [ca.diag(x)]), ValueError, "y is .* not a dense"),
        (
            lambda x, p: ca.Function("f", [ca.MX.sym("x"), ca.MX.sym("p")], [ca.MX(1)]),
            TypeError,
            "no SX function",
        ),
    ],
)
def test_other_functions_are_refused(make, error, words):
    with pytest.raises(error, match=words):
        Leaf(make(*sx(2, 1)))


def test_arrays_of_other_sizes_are_refused():
    x, p = sx(2, 1)
    with pytest.raises(ValueError, match="f: x has 3 entries, not 2"):
        Leaf(ca.Function("f", [x, p], [x]))([1, 2, 3], [1])


@pytest.mark.parametrize("level", [INTERPRETED, 0])
def test_code_runs_in_many_threads(level, monkeypatch):
    """What pieces compute for one another is each call's own."""
    monkeypatch.setattr(routines, "PIECE", 5)
    function = random_function(1, length=60)
    leaf = Leaf(function) if level == INTERPRETED else compiled(Leaf(function), level)
    p, xs = np.full(4, 0.3), np.random.default_rng(2).normal(size=(2, 5))
    expected = [interpret(function, x, p) for x in xs]
    found = [[], []]
    threads = [
        threading.Thread(target=lambda k=k: found[k].extend(leaf(xs[k], p) for _ in range(300)))
        for k in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(2):
        assert_same_bits(found[k], [expected[k]] * 300)


@pytest.mark.slow
def test_process_ends_while_code_is_improved():
    """Also in the middle of it, and without a message."""
    code = (
        "from nsopt.leaves import INTERPRETED, Leaf, routines\n"
        "from tests.leaves.functions import random_function\n"
        "routines.PIECE = 50\n"
        "leaves = [Leaf(random_function(seed, 1500)) for seed in range(3)]\n"
        "leaves[0].code\n"
        "for leaf in leaves: leaf.improve()\n"
        "print(leaves[-1]._code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_without_p_nothing_is_kept():
    """Not even what a called function makes of constants."""
    x, p = sx(1, 0)
    inner = ca.Function("inner", [x], [ca.sin(x)], {"never_inline": True})
    leaf = Leaf(ca.Function("f", [x, p], [inner(ca.SX(0.3)) * x]))
    assert leaf.code.kept == 0
    assert leaf([2.0], []) == [2 * np.sin(0.3)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_is_forked_while_code_is_made_makes_its_own():
    script = """
import os, signal, time
from nsopt.leaves import Leaf
from tests.leaves.functions import random_function
big, small = (Leaf(random_function(k, n)) for k, n in ((0, 20000), (1, 20)))
big.code, big.improve()
time.sleep(0.1)
pid = os.fork()
if pid == 0:
    signal.alarm(60)
    small.code
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_is_forked_while_a_text_is_written_writes_its_own():
    """What calls others is machine code from the beginning, so its text is written at once."""
    script = """
import os, signal, time
import casadi as ca
from nsopt.leaves import Leaf
x, p = ca.SX.sym("x"), ca.SX(0, 1)
values = [x]
for k in range(20000):
    values.append(ca.sin(values[-1]) * (1 + k))
inner = ca.Function("inner", [x], [2 * x], {"never_inline": True})
big = Leaf(ca.Function("big", [x, p], [ca.vertcat(*values)]))
big.code, big.improve()
time.sleep(0.1)
pid = os.fork()
if pid == 0:
    signal.alarm(60)
    (y,) = Leaf(ca.Function("calls", [x, p], [inner(x)]))([3], [])
    os._exit(int(y != 6))
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
os._exit(int(code != 0))
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    assert subprocess.run(command, check=False).returncode == 0
