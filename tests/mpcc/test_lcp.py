"""Linear complementarity problems with positive definite M against enumeration."""

from functools import lru_cache

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nsopt.mpcc import Ipopt, Mpcc, Solver, Sqp
from tests.mpcc.contacts import by_enumeration

pytestmark = pytest.mark.unit

BACKENDS = {"ipopt": Ipopt(), "sqp": Sqp()}


@lru_cache
def program(n, backend):
    mpcc = Mpcc("lcp")
    M = ca.reshape(mpcc.parameter("M", n * n), n, n)
    q = mpcc.parameter("q", n)
    z = mpcc.variable("z", n, lower=0, guess=1)
    mpcc.complement("lcp", M @ z + q, z)
    return Solver(backend=BACKENDS[backend], schedules=[(1e-2, 1e-6, 1e-10)]).build(mpcc)


entries = st.integers(-20, 20).map(lambda k: k / 10)


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=40)
@given(data=st.data(), n=st.integers(1, 4))
def test_lcp_matches_enumeration(backend, data, n):
    A = data.draw(arrays(float, (n, n), elements=entries))
    q = data.draw(arrays(float, n, elements=entries))
    M = A @ A.T + 0.5 * np.eye(n)
    solution = program(n, backend).solve({"M": M.T.ravel(), "q": q}).require()
    np.testing.assert_allclose(solution["z"], by_enumeration(M, q), atol=1e-4)
