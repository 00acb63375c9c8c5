"""Vectors that a matrix takes to zero from the left, of symbols or of numbers."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

SHIFT = 1e-8
"""Of the mean squared size of the rows, what inverse iteration adds: a squared singular value of
the same part is found to 1e-16 in two iterations, larger ones better."""

ITERATIONS = 2

ZERO = 1e-9
"""Of that size, the squared length of a combination of rows that counts as zero."""

Column = dict[int, ca.SX]


def left_null_vectors(C: ca.SX, count: int) -> ca.SX:
    """Return orthonormal U (m, count) with U^T C = 0, for C (m, n), by inverse iteration on C C^T.

    Columns of which there are too many, where C has more independent rows, are zero.
    """
    m = C.size1()
    gram = C @ C.T
    size = ca.trace(gram) / m
    size += size == 0  # of rows that are all zero each combination is
    factor = _Factor(gram + SHIFT * size * ca.SX.eye(m))
    start = np.random.default_rng(0).normal(size=(m, count))
    vectors = [ca.SX(column) for column in start.T]
    for _ in range(ITERATIONS):
        vectors = _orthonormal([factor.solve(x) for x in vectors])
    rates = (ca.sumsqr(C.T @ x) for x in vectors)
    found = [x * (r <= ZERO * size) for x, r in zip(vectors, rates, strict=True)]
    return ca.densify(ca.horzcat(ca.SX(m, 0), *found))


def left_null_arrays(C: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return U (n, m, count) of n matrices C (n, m, k), each as `left_null_vectors` has it."""
    n, m, _ = C.shape
    gram = C @ C.transpose(0, 2, 1)
    size = np.trace(gram, axis1=1, axis2=2)[:, None, None] / m
    size += size == 0  # of rows that are all zero each combination is
    shifted = gram + SHIFT * size * np.eye(m)
    U = np.broadcast_to(np.random.default_rng(0).normal(size=(m, count)), (n, m, count))
    for _ in range(ITERATIONS):
        U = np.linalg.qr(np.linalg.solve(shifted, U))[0]
    rates = np.sum((C.transpose(0, 2, 1) @ U) ** 2, axis=1, keepdims=True)
    return np.asarray(U * (rates <= ZERO * size))


def _orthonormal(vectors: list[ca.SX]) -> list[ca.SX]:
    done: list[ca.SX] = []
    for x in vectors:
        for _ in range(2):  # once more, for what round-off leaves
            x = x / ca.norm_2(x)
            for u in done:
                x = x - u * ca.dot(u, x)
        done.append(x / ca.norm_2(x))
    return done


class _Factor:
    """A = L D L^T of a sparse positive definite matrix (m, m), in the order of its rows."""

    def __init__(self, A: ca.SX) -> None:
        m = A.size1()
        self._columns: list[Column] = []
        self._pivots: list[ca.SX] = []
        left = [{i: A[i, k] for i in range(k, m) if not A[i, k].is_zero()} for k in range(m)]
        for k, column in enumerate(left):
            pivot = column.pop(k)
            scaled = {i: x / pivot for i, x in column.items()}
            for j, x in column.items():
                for i in (i for i in scaled if i >= j):
                    left[j][i] = left[j].get(i, ca.SX(0)) - scaled[i] * x
            self._pivots.append(pivot)
            self._columns.append(scaled)

    def solve(self, b: ca.SX) -> ca.SX:
        """Return x with A x = b, (m,)."""
        x = ca.vertsplit(ca.densify(b))
        for k, column in enumerate(self._columns):
            for i, factor in column.items():
                x[i] = x[i] - factor * x[k]
        x = [a / pivot for a, pivot in zip(x, self._pivots, strict=True)]
        for k in reversed(range(len(x))):
            for i, factor in self._columns[k].items():
                x[k] = x[k] - factor * x[i]
        return ca.vertcat(*x)
