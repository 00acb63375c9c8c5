"""Copies of blocks in generated C are of the same numbers."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import compile_native
from nsopt.mpcc.native import generated
from tests.mpcc.compilers import needs_compiler


@needs_compiler
@pytest.mark.parametrize("n", [2, 7, 8, 40])
def test_numbers_are_where_the_interpreter_puts_them(n):
    """Concatenations, parts, and outputs that are inputs, also of a call that leaves some out."""
    x, y = ca.MX.sym("x", n), ca.MX.sym("y", 3 * n)
    a, b = ca.SX.sym("a", n), ca.SX.sym("b", 3 * n)
    called = ca.Function("called", [a, b], [ca.sin(a), b[::-1]], {"never_inline": True})
    s, back = called(x, y)
    _, once = called(back[n : 2 * n], ca.vertcat(x, s, x))
    parts = ca.vertcat(back[n:], x, once, s[: n // 2], y)
    f = ca.Function("handed_on", [x, y], [parts, x, back[: 2 * n], ca.vertcat(parts, parts)[n:]])
    assert "memcpy" in generated(f)
    native = compile_native(f)
    assert native.native
    rng = np.random.default_rng(n)
    numbers = rng.normal(size=n), rng.normal(size=3 * n)
    for found, expected in zip(native.function(*numbers), f(*numbers), strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
