"""Programs over a horizon: few functions, each evaluated at many places, with sparse derivatives.

What is differentiated is one small function of SX; the derivatives of the whole are its entries put
in place. So stating a thousand steps takes no longer than stating ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.trajectory.conditions import Bound

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Part:
    """A function at several places of a program.

    Attributes
    ----------
    function : (w (nw,), data (nd,), p (np,)) -> (rows (m,), terms (k,))
        Constraint rows and terms of the objective; every part has the same k.
    columns : (n, nw)
        Which unknowns w is, for each place.
    data : (n, nd)
        Numbers of each place.
    lower, upper : (n, m)
        Bounds of the rows.
    labels : (m,) texts
        What the rows are.
    """

    function: ca.Function
    columns: Index
    data: Array
    lower: Array
    upper: Array
    labels: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of places."""
        return len(self.columns)

    @property
    def rows(self) -> int:
        """Number of rows at each place."""
        return int(self.function.numel_out(0))


def part_of(
    name: str,
    symbols: tuple[ca.SX, ca.SX, ca.SX],
    bounds: Sequence[Bound],
    terms: ca.SX,
    columns: Index,
) -> Part:
    """Return a part whose data is the number of each place."""
    rows = ca.vertcat(ca.SX(0, 1), *(b.value for b in bounds))
    outputs = [ca.densify(rows), ca.densify(ca.vertcat(ca.SX(0, 1), terms))]
    n, nothing = len(columns), np.zeros(0)
    lower, upper = (
        np.tile(np.concatenate([nothing, *(getattr(b, side) for b in bounds)]), (n, 1))
        for side in ("lower", "upper")
    )
    labels = tuple(b.label for b in bounds for _ in range(b.value.numel()))
    function = ca.Function(name, list(symbols), outputs, {"cse": True})
    return Part(function, columns, np.arange(n, dtype=float)[:, None], lower, upper, labels)


class Stack:
    """A program of parts over unknowns x (n,) and parameters p.

    Attributes
    ----------
    x, p, f, g : MX
        Unknowns, parameters, objective, rows.
    terms : Function (x, p) -> (k,)
        The objective term by term.
    """

    def __init__(self, parts: Sequence[Part], n: int, parameters: int) -> None:
        self.parts = tuple(part for part in parts if part.count)
        self.x, self.p = ca.MX.sym("x", n), ca.MX.sym("p", parameters)
        self.lam = ca.MX.sym("lam_g", sum(part.count * part.rows for part in self.parts))
        self.sigma = ca.MX.sym("lam_f")
        rows, terms = [], []
        for part in self.parts:
            c, t = part.function.map(part.count)(*self._at(part))
            rows.append(ca.vec(c))
            terms.append(ca.sum2(t))
        self.g = ca.vertcat(*rows)
        each = sum(terms[1:], terms[0])
        self.f = ca.sum1(each)
        self.terms = ca.Function("terms", [self.x, self.p], [each], ["x", "p"], ["terms"])
        self.lower = np.concatenate([part.lower.ravel() for part in self.parts])
        self.upper = np.concatenate([part.upper.ravel() for part in self.parts])

    def _at(self, part: Part) -> tuple[ca.MX, ca.MX, ca.MX]:
        """Return unknowns, data and parameters of a part, a column for each place."""
        w = ca.reshape(self.x[part.columns.ravel().tolist()], part.columns.shape[1], part.count)
        return w, ca.MX(ca.DM(part.data.T)), ca.repmat(self.p, 1, part.count)

    def violations(self, g: Array) -> Array:
        """Return by how much rows miss their bounds, (rows,); infinite where not a number."""
        off: Array = np.maximum(np.maximum(self.lower - g, g - self.upper), 0)
        return np.where(np.isfinite(g), off, np.inf)

    def label(self, row: int) -> tuple[str, int]:
        """Return what a row is and the number of its place."""
        for part in self.parts:
            if row < part.count * part.rows:
                return part.labels[row % part.rows], row // part.rows
            row -= part.count * part.rows
        raise IndexError(f"no row {row}")

    def derivatives(self) -> dict[str, ca.Function]:
        """Return gradient, Jacobian and Hessian as ``nlpsol`` takes them."""
        gradient, jacobian, hessian = _Entries(), _Entries(), _Entries()
        row = 0
        for part in self.parts:
            slope, J, H = _derivatives(part.function)
            w, data, p = self._at(part)
            gradient.add(slope.map(part.count)(w, data, p), part.columns, None, slope)
            jacobian.add(J.map(part.count)(w, data, p), part.columns, row, J)
            lam = ca.reshape(self.lam[row : row + part.count * part.rows], part.rows, part.count)
            scale = ca.repmat(self.sigma, 1, part.count)
            hessian.add_square(H.map(part.count)(w, data, p, lam, scale), part.columns, H)
            row += part.count * part.rows
        n, x, p = self.x.numel(), self.x, self.p
        J_all = jacobian.matrix(row, n)
        grad = ca.densify(gradient.matrix(n, 1))
        H_all = hessian.matrix(n, n)
        known = [x, p]
        return {
            "grad_f": ca.Function("nlp_grad_f", known, [self.f, grad], ["x", "p"], ["f", "g"]),
            "jac_g": ca.Function("nlp_jac_g", known, [self.g, J_all], ["x", "p"], ["g", "J"]),
            "hess_lag": ca.Function(
                "nlp_hess_l",
                [x, p, self.sigma, self.lam],
                [H_all],
                ["x", "p", "lam_f", "lam_g"],
                ["H"],
            ),
        }


def _derivatives(function: ca.Function) -> tuple[ca.Function, ca.Function, ca.Function]:
    """Return gradient of the summed terms, Jacobian of the rows, Hessian of the Lagrangian."""
    w, data, p = (ca.SX.sym(name, function.numel_in(i)) for i, name in enumerate("wdp"))
    rows, terms = function(w, data, p)
    f = ca.sum1(terms)
    lam, sigma = ca.SX.sym("lam", function.numel_out(0)), ca.SX.sym("sigma")
    lagrangian = sigma * f + ca.dot(lam, rows)
    H = ca.triu(ca.hessian(lagrangian, w)[0])
    known, options = [w, data, p], {"cse": True}
    return (
        ca.Function("slope", known, [ca.densify(ca.gradient(f, w))], options),
        ca.Function("J", known, [ca.jacobian(rows, w)], options),
        ca.Function("H", [*known, lam, sigma], [H], options),
    )


class _Entries:
    """Entries of a sparse matrix as they come; those at one place are added."""

    def __init__(self) -> None:
        self._values: list[ca.MX] = []
        self._rows: list[Index] = []
        self._columns: list[Index] = []

    def add(self, values: ca.MX, columns: Index, first: int | None, function: ca.Function) -> None:
        """Add a matrix for each place: rows counted from ``first``, or a gradient if None."""
        n, pattern = len(columns), function.sparsity_out(0)
        i, j = (np.array(x, dtype=np.intp) for x in pattern.get_triplet())
        place = np.arange(n)[:, None]
        if first is None:  # a column vector, whose rows are unknowns
            rows, at = columns[place, i[None]], np.zeros((n, len(i)), dtype=np.intp)
        else:
            rows, at = first + place * pattern.size1() + i[None], columns[place, j[None]]
        self._append(values, pattern, rows, at)

    def add_square(self, values: ca.MX, columns: Index, function: ca.Function) -> None:
        """Add an upper triangle over the unknowns of each place."""
        pattern = function.sparsity_out(0)
        i, j = (np.array(x, dtype=np.intp) for x in pattern.get_triplet())
        place = np.arange(len(columns))[:, None]
        a, b = columns[place, i[None]], columns[place, j[None]]
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
        rows, columns = np.concatenate(self._rows), np.concatenate(self._columns)
        places, which = np.unique(columns * m + rows, return_inverse=True)
        sums = ca.DM.triplet(
            which.tolist(), list(range(len(which))), ca.DM.ones(len(which)), len(places), len(which)
        )
        values = ca.MX(sums) @ ca.vertcat(*self._values)
        pattern = ca.Sparsity.triplet(m, n, (places % m).tolist(), (places // m).tolist())
        return ca.MX(pattern, ca.densify(values))
