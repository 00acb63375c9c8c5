"""Left null vectors of a matrix, of symbols or of numbers."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

SHIFT = 1e-8
"""What inverse iteration adds to the diagonal of C C^T, over the mean squared length of the rows
of C. In two iterations the part of a vector along a squared singular value s times that length
shrinks by (SHIFT / (s + SHIFT))^2."""

ITERATIONS = 2

ZERO = 1e-9
"""Squared length of a combination of rows, over that mean, up to which it counts as zero."""

Column = dict[int, ca.SX]
"""Entries of a column below the diagonal, by row."""


def left_null_vectors(C: ca.SX, count: int) -> ca.SX:
    """Return orthonormal U (m, count) with U^T C = 0, for C (m, n), by inverse iteration on C C^T.

    Where C has fewer left null vectors than ``count``, the rest of the columns is zero.
    """
    m = C.size1()
    gram = C @ C.T
    size = ca.trace(gram) / m
    size += size == 0  # of rows that are all zero each combination is
    factor = _Factor(gram + SHIFT * size * ca.SX.eye(m))
    start = np.random.default_rng(0).normal(size=(m, count))  # not orthogonal to the result
    vectors = [ca.SX(column) for column in start.T]
    for _ in range(ITERATIONS):
        vectors = _orthonormalise([factor.solve(x) for x in vectors])
    lengths = (ca.sumsqr(C.T @ x) for x in vectors)
    found = [x * (square <= ZERO * size) for x, square in zip(vectors, lengths, strict=True)]
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
    squares = np.sum((C.transpose(0, 2, 1) @ U) ** 2, axis=1, keepdims=True)
    return np.asarray(U * (squares <= ZERO * size))


def _orthonormalise(vectors: list[ca.SX]) -> list[ca.SX]:
    """Return an orthonormal basis, by Gram and Schmidt."""
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
