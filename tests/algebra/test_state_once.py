"""Expressions that are stated once: they are those of each call, stated anew."""

import casadi as ca
import numpy as np
import pytest

from nsopt.algebra import state_once

pytestmark = pytest.mark.unit


def turn_and_add(A, x, y):
    """Return a vector and a row."""
    return A @ x + ca.cross(x, y), (A.T @ y).T


@pytest.mark.parametrize("axis", [ca.DM.ones(3), ca.DM(ca.Sparsity(3, 1, [0, 1], [2]), 1.0)])
def test_calls_repeat_the_operations_of_their_arguments(axis):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return turn_and_add(*arguments)

    repeated, rng = state_once(counted), np.random.default_rng(0)
    A, y = ca.SX.sym("A", 3, 3), ca.SX.sym("y", 3)
    for factor in (2.0, -0.3):
        x = factor * ca.SX(axis)
        numbers = rng.normal(size=(3, 3)), rng.normal(size=3)
        for stated, expected in zip(repeated(A, x, y), turn_and_add(A, x, y), strict=True):
            assert stated.sparsity() == expected.sparsity()
            values = [ca.Function("f", [A, y], [e])(*numbers) for e in (stated, expected)]
            np.testing.assert_array_equal(*map(np.asarray, values))
    assert len(calls) == 1
