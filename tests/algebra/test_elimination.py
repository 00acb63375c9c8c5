"""Elimination without interchanges: the work it takes, and joining values in pairs."""

import casadi as ca
import numpy as np
import pytest

from nsopt.algebra import in_pairs, solve_symbolic

pytestmark = pytest.mark.unit


def operations(links):
    """How many a chain takes whose multipliers couple two neighbours each."""
    n = 2 * links  # a motion of each link, and a multiplier between it and the one before
    pattern = np.zeros((n, n))
    for k in range(links):
        pattern[k, k] = 1
        for motion in {k, max(k - 1, 0)}:
            pattern[motion, links + k] = pattern[links + k, motion] = 1
    J = ca.SX.sym("J", ca.sparsify(ca.DM(pattern)).sparsity())
    r = ca.SX.sym("r", n)
    x = solve_symbolic(J, r, range(links, n), 1e-9)
    return ca.Function("solve", [J, r], [x]).n_instructions()


def test_elimination_of_a_chain_grows_in_proportion_to_it():
    fewer, more, most = (operations(n) for n in (10, 20, 40))
    assert most - more == 2 * (more - fewer)


@pytest.mark.parametrize("n", range(1, 10))
def test_values_are_joined_in_their_order(n):
    digits = "123456789"[:n]
    assert in_pairs(lambda a, b: a + b, digits) == digits
