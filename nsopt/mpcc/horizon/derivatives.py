"""Sparse matrices of structured programs: entries of their blocks, put in place."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]


class Entries:
    """Entries of a sparse matrix as they come; those of one position are added."""

    def __init__(self) -> None:
        self._values: list[ca.MX] = []
        self._rows: list[Index] = []
        self._columns: list[Index] = []

    def add(self, values: ca.MX, columns: Index, first: int | None, pattern: ca.Sparsity) -> None:
        """Add a matrix for each instance: rows counted from ``first``, or a gradient if None."""
        n = len(columns)
        i, j = (np.array(x, dtype=np.intp) for x in pattern.get_triplet())
        instance = np.arange(n)[:, None]
        if first is None:  # a column vector, whose rows are unknowns
            rows, at = columns[instance, i[None]], np.zeros((n, len(i)), dtype=np.intp)
        else:
            rows, at = first + instance * pattern.size1() + i[None], columns[instance, j[None]]
        self._append(values, pattern, rows, at)

    def add_square(self, values: ca.MX, columns: Index, pattern: ca.Sparsity) -> None:
        """Add an upper triangle over the unknowns of each instance."""
        i, j = (np.array(x, dtype=np.intp) for x in pattern.get_triplet())
        instance = np.arange(len(columns))[:, None]
        a, b = columns[instance, i[None]], columns[instance, j[None]]
        # Two entries of w that are one unknown: both triangles fall on the diagonal.
        twice = np.where((a == b) & (i != j), 2.0, 1.0)
        self._append(values, pattern, np.minimum(a, b), np.maximum(a, b), twice)

    def _append(
        self,
        values: ca.MX,
        pattern: ca.Sparsity,
        rows: Index,
        columns: Index,
        times: Array | float = 1.0,
    ) -> None:
        # A call may have left out zeros that the pattern counts.
        whole = ca.vec(ca.project(values, ca.repmat(pattern, 1, len(rows))).nz[:])
        self._values.append(whole if np.all(times == 1) else whole * ca.DM(np.ravel(times)))
        self._rows.append(rows.ravel())
        self._columns.append(columns.ravel())

    def matrix(self, m: int, n: int) -> ca.MX:
        """Return the matrix (m, n)."""
        if not self._values:
            return ca.MX(m, n)
        rows, columns = np.concatenate(self._rows), np.concatenate(self._columns)
        positions, which = np.unique(columns * m + rows, return_inverse=True)
        sums = ca.DM.triplet(
            which.tolist(),
            list(range(len(which))),
            ca.DM.ones(len(which)),
            len(positions),
            len(which),
        )
        values = ca.MX(sums) @ ca.vertcat(*self._values)
        pattern = ca.Sparsity.triplet(m, n, (positions % m).tolist(), (positions // m).tolist())
        return ca.MX(pattern, ca.densify(values))
