"""Small dense matrices, such as at the nodes of a motion, one after another: systems, products."""

from __future__ import annotations

from typing import Any

import numpy as np

from nsopt.kernels.kernel import kernel
from nsopt.kernels.machine import index


@kernel
def solve_dense(A: Any, x: Any, singular: Any) -> None:
    """Solve systems by Gaussian elimination with pivots by rows, each entry that is zero left out.

    So unknowns that no entry connects do not see each other, and cost nothing.

    Parameters
    ----------
    A : (n, m, m)
    x : (n, m, k)
        Right-hand sides, then solutions.
    singular : (n,)
        Whether there is no pivot; x is then as it was.
    """
    n, m, k = x.shape
    rows = np.empty((m, m + k))
    for s in range(n):
        for i in range(m):
            for j in range(m):
                rows[i, j] = A[s, i, j]
            for j in range(k):
                rows[i, m + j] = x[s, i, j]
        singular[s] = not eliminate_rows(rows)
        if not singular[s]:
            substitute_rows(rows)
            for i in range(m):
                for j in range(k):
                    x[s, i, j] = rows[i, m + j]


@kernel
def multiply_dense(A: Any, B: Any, x: Any) -> None:
    """Add products of matrices to x (n, m, l), each entry of A (n, m, k) that is zero left out."""
    n, m, k = A.shape
    for s in range(n):
        for i in range(m):
            for j in range(k):
                entry = A[s, i, j]
                if entry != 0.0:
                    for c in range(B.shape[2]):
                        x[index(s), index(i), index(c)] += entry * B[index(s), index(j), index(c)]


@kernel
def eliminate_rows(rows: Any) -> bool:
    """Make a matrix (m, m) triangular, with all columns behind it; tell whether it has pivots."""
    m, columns = rows.shape
    for p in range(m):
        best = p
        for i in range(p + 1, m):
            if abs(rows[index(i), index(p)]) > abs(rows[index(best), index(p)]):
                best = i
        if rows[best, p] == 0.0:
            return False
        if best != p:
            for j in range(p, columns):
                rows[p, j], rows[best, j] = rows[best, j], rows[p, j]
        for i in range(p + 1, m):
            if rows[index(i), index(p)] != 0.0:
                multiple = rows[i, p] / rows[p, p]
                for j in range(p + 1, columns):
                    rows[index(i), index(j)] -= multiple * rows[index(p), index(j)]
    return True


@kernel
def substitute_rows(rows: Any) -> None:
    """Solve for the columns behind a triangular matrix (m, m)."""
    m, columns = rows.shape
    for p in range(m - 1, -1, -1):
        for j in range(m, columns):
            rows[p, j] /= rows[p, p]
        for i in range(p):
            if rows[i, p] != 0.0:
                for j in range(m, columns):
                    rows[i, j] -= rows[i, p] * rows[p, j]
