"""Statements that come again and again are a loop, to the same bits."""

import casadi as ca
import numpy as np
import pytest

from nsopt.algebra import solver_of
from nsopt.mpcc import Lanes, compile_native, has_compiler
from nsopt.mpcc.native import generated
from nsopt.mpcc.repeats import FAR, Repeat, repeats
from nsopt.mpcc.side_by_side import with_vectors

compiled = pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")

N, SIZE = 30, 3


@pytest.mark.unit
def test_what_was_put_into_a_sequence_is_found():
    rng = np.random.default_rng(0)
    once, other = rng.integers(0, 50, 23), rng.integers(50, 90, 11)
    before, between, after = (rng.integers(100, 10**6, k) for k in (40, 13, 29))
    codes = np.concatenate([before, *[once] * 9, between, *[other] * 7, after])
    none = np.zeros((len(codes), 2), dtype=np.int64)
    found = repeats(codes, none, none + FAR)
    assert found == [Repeat(40, 23, 9), Repeat(40 + 23 * 9 + 13, 11, 7)]
    far = none.copy()
    far[40 + 4 * 23 : 40 + 9 * 23, 0] = 1  # from the fifth time on operands are others
    assert Repeat(40 + 4 * 23, 23, 5) in repeats(codes, far, none + FAR)
    assert repeats(rng.permutation(len(codes)), none, none + FAR) == []


def in_loops(inner: ca.Function) -> tuple[ca.Function, str]:
    """Return a function that calls one, and the C of both."""
    inputs = [ca.MX.sym(f"x{i}", inner.numel_in(i)) for i in range(inner.n_in())]
    outer = ca.Function("outer", inputs, inner.call([2 * x for x in inputs]))
    return outer, with_vectors(generated(outer), outer, many())


def many() -> Lanes:
    lanes = Lanes()
    lanes.assign(ca.SX.sym("q", N), [f"body{k}" for k in range(N)])
    return lanes


def same_bits(outer: ca.Function, *inputs: np.ndarray) -> list[np.ndarray]:
    native = compile_native(outer, many())
    assert native.native
    found, expected = native.function(*inputs), outer(*inputs)
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True)
    numbers = [(np.asarray(a).ravel(), np.asarray(b).ravel()) for a, b in pairs]
    for a, b in numbers:
        np.testing.assert_array_equal(a, b)
    return [a for a, _ in numbers]


@pytest.mark.slow
@compiled
def test_elimination_along_a_chain_is_a_loop():
    blocks = np.arange(N * SIZE) // SIZE
    beside = np.abs(np.subtract.outer(blocks, blocks)) <= 1
    pattern = ca.sparsify(ca.DM(beside.astype(float))).sparsity()
    outer, written = in_loops(solver_of(pattern, range(pattern.nnz())))
    assert written.count("\n") < generated(outer).count("\n") / 3
    rng = np.random.default_rng(1)
    K = np.where(beside, rng.normal(size=beside.shape), 0) + 4 * np.eye(len(beside))
    entries, right = np.array(ca.DM(K)[pattern].nz[:]).ravel(), rng.normal(size=len(K))
    (y,) = same_bits(outer, entries, right)
    np.testing.assert_allclose(y, np.linalg.solve(K, right), rtol=1e-9)


@compiled
def test_a_recurrence_reaches_back_and_is_read_backwards():
    """Legendre's polynomials by their recurrence, two times back, then their sum in reverse."""
    x, a, order = ca.SX.sym("x"), ca.SX.sym("a", N), np.random.default_rng(2).permutation(N)
    P, total = [ca.SX(1), x], ca.SX(0)
    weights = ca.SX.sym("w", 2 * N)  # (2 n + 1) / (n + 1), n / (n + 1)
    for n in range(1, N - 1):
        P.append(weights[n] * x * P[n] - weights[N + n] * P[n - 1])
    for n in reversed(range(N)):
        total = total + a[int(order[n])] * P[n]
    outer, written = in_loops(
        ca.Function("legendre", [x, a, weights], [total, ca.vertcat(*reversed(P))])
    )
    assert "for (long k" in written
    n, c = np.arange(N), np.random.default_rng(3).normal(size=N)
    stated = np.concatenate([(2 * n + 1) / (n + 1), n / (n + 1)])
    value, polynomials = same_bits(outer, np.array([0.15]), c, stated / 2)
    expected = np.polynomial.legendre.legvander(np.array([0.3]), N - 1)[0]
    np.testing.assert_allclose(polynomials[::-1], expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(value[0], 2 * c[order] @ expected, rtol=1e-12)
