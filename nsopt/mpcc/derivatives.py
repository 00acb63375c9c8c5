"""Derivatives of structured programs: those of their blocks, put in place."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.native import compile_native

Array = NDArray[np.float64]
Index = NDArray[np.intp]


def block_derivatives(
    function: ca.Function, often: bool, compiled: bool
) -> tuple[ca.Function, ca.Function, ca.Function]:
    """Return summed terms and their gradient, rows and their Jacobian, Hessian of the Lagrangian.

    Merging what is alike in the Hessian takes most of the time to state a program, and pays where
    it is evaluated ``often``.
    """
    w, data, p = (ca.SX.sym(name, function.numel_in(i)) for i, name in enumerate("wdp"))
    rows, terms = function(w, data, p)
    f = ca.sum1(terms)
    lam, sigma = ca.SX.sym("lam", function.numel_out(0)), ca.SX.sym("sigma")
    H = ca.triu(ca.hessian(sigma * f + ca.dot(lam, rows), w)[0])
    name, known, options = function.name(), [w, data, p], {"cse": often}
    slope = ca.Function(f"{name}_slope", known, [ca.densify(f), ca.gradient(f, w)], options)
    J = ca.Function(f"{name}_J", known, [ca.densify(rows), ca.jacobian(rows, w)], options)
    second = ca.Function(f"{name}_H", [*known, lam, sigma], [H], options)
    if not compiled:
        return slope, J, second
    return (
        compile_native(slope).function,
        compile_native(J).function,
        compile_native(second).function,
    )


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
