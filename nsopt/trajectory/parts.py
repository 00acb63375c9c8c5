"""Programs over a horizon: few functions, each evaluated at many places, with sparse derivatives.

What is differentiated is one small function of SX; the derivatives of the whole are its entries put
in place. So stating a thousand steps takes no longer than stating ten. Parts that share a function
share its derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import compile_native
from nsopt.trajectory.conditions import Bound

Array = NDArray[np.float64]
Index = NDArray[np.intp]

OFTEN = 10
"""Places from which it pays to make a function shorter before it is evaluated."""


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
    rows : Function (x, p) -> (m,)
        All rows.
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
        self.rows = ca.Function("rows", [self.x, self.p], [self.g], ["x", "p"], ["g"])
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
        """Return what a row is and the number of its node."""
        part, at, place = self.locate(row)
        # Data begin with the number of the node, or with a share of the motion where places are
        # numbered by nodes themselves.
        return part.labels[at], max(place, int(part.data[place, 0]))

    def locate(self, row: int) -> tuple[Part, int, int]:
        """Return the part of a row, which row of the part it is, and at which of its places."""
        for part in self.parts:
            if row < part.count * part.rows:
                return part, row % part.rows, row // part.rows
            row -= part.count * part.rows
        raise IndexError(f"no row {row}")

    def derivatives(self, native: bool = False) -> dict[str, ca.Function]:
        """Return gradient, Jacobian and Hessian as ``nlpsol`` takes them.

        Parameters
        ----------
        native : bool
            Whether functions of many places are compiled (`nsopt.mpcc.compile_native`). Their code
            does not depend on the number of places, and is kept from one process to the next.
        """
        gradient, jacobian, hessian = _Entries(), _Entries(), _Entries()
        values, rows, row = ca.MX(0), [], 0
        for part, (slope, J, H) in zip(self.parts, self._differentiated(native), strict=True):
            place = self._at(part)
            if slope.nnz_out(1):
                value, by_w = slope.map(part.count)(*place)
                values += ca.sum2(value)
                gradient.add(by_w, part.columns, None, slope.sparsity_out(1))
            value, by_w = J.map(part.count)(*place)
            rows.append(ca.vec(value))
            jacobian.add(by_w, part.columns, row, J.sparsity_out(1))
            if H.nnz_out(0):
                lam = ca.reshape(self.lam[row : row + value.numel()], part.rows, part.count)
                scale = ca.repmat(self.sigma, 1, part.count)
                entries = H.map(part.count)(*place, lam, scale)
                hessian.add_square(entries, part.columns, H.sparsity_out(0))
            row += value.numel()
        n, x, p = self.x.numel(), self.x, self.p
        J_all, g = jacobian.matrix(row, n), ca.vertcat(*rows)
        grad, H_all = ca.densify(gradient.matrix(n, 1)), hessian.matrix(n, n)
        weighted, names = [x, p, self.sigma, self.lam], ["x", "p", "lam_f", "lam_g"]
        return {
            "grad_f": ca.Function("nlp_grad_f", [x, p], [values, grad], names[:2], ["f", "g"]),
            "jac_g": ca.Function("nlp_jac_g", [x, p], [g, J_all], names[:2], ["g", "J"]),
            "hess_lag": ca.Function("nlp_hess_l", weighted, [H_all], names, ["H"]),
        }

    def _differentiated(self, native: bool) -> list[tuple[ca.Function, ca.Function, ca.Function]]:
        """Return the derivatives of each part; those of one function are one."""
        found: dict[int, tuple[ca.Function, ca.Function, ca.Function]] = {}
        for part in self.parts:
            key, often = part.function.__hash__(), part.count >= OFTEN
            if key not in found:
                found[key] = _derivatives(part.function, often, native and often)
        return [found[part.function.__hash__()] for part in self.parts]


def _derivatives(
    function: ca.Function, often: bool, native: bool
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
    if not native:
        return slope, J, second
    return (
        compile_native(slope).function,
        compile_native(J).function,
        compile_native(second).function,
    )


class _Entries:
    """Entries of a sparse matrix as they come; those at one place are added."""

    def __init__(self) -> None:
        self._values: list[ca.MX] = []
        self._rows: list[Index] = []
        self._columns: list[Index] = []

    def add(self, values: ca.MX, columns: Index, first: int | None, pattern: ca.Sparsity) -> None:
        """Add a matrix for each place: rows counted from ``first``, or a gradient if None."""
        n = len(columns)
        i, j = (np.array(x, dtype=np.intp) for x in pattern.get_triplet())
        place = np.arange(n)[:, None]
        if first is None:  # a column vector, whose rows are unknowns
            rows, at = columns[place, i[None]], np.zeros((n, len(i)), dtype=np.intp)
        else:
            rows, at = first + place * pattern.size1() + i[None], columns[place, j[None]]
        self._append(values, pattern, rows, at)

    def add_square(self, values: ca.MX, columns: Index, pattern: ca.Sparsity) -> None:
        """Add an upper triangle over the unknowns of each place."""
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
        if not self._values:
            return ca.MX(m, n)
        rows, columns = np.concatenate(self._rows), np.concatenate(self._columns)
        places, which = np.unique(columns * m + rows, return_inverse=True)
        sums = ca.DM.triplet(
            which.tolist(), list(range(len(which))), ca.DM.ones(len(which)), len(places), len(which)
        )
        values = ca.MX(sums) @ ca.vertcat(*self._values)
        pattern = ca.Sparsity.triplet(m, n, (places % m).tolist(), (places // m).tolist())
        return ca.MX(pattern, ca.densify(values))
