"""Structured programs: few functions, each evaluated many times, with sparse derivatives.

Over a horizon the same equations hold from node to node. What is differentiated is one small
function of SX; the derivatives of the whole are its entries put in place. So stating a thousand
steps takes no longer than stating ten. Blocks that share a function share its derivatives.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple, TypeVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mpcc.backends.backend import Derivatives, Nlp
from nsopt.mpcc.horizon.block_functions import BlockFunctions, DerivedFunctions
from nsopt.mpcc.statement.blocks import stack

Index = NDArray[np.intp]
T = TypeVar("T", bound=np.generic)


class Entries:
    """A sparse matrix that is collected from all instances; entries of one position are summed."""

    def __init__(self) -> None:
        self._values: list[ca.MX] = []
        self._rows: list[Index] = []
        self._columns: list[Index] = []

    def add(self, values: ca.MX, columns: Index, first: int | None, pattern: ca.Sparsity) -> None:
        """Add a matrix for each instance, of rows from ``first`` on, or a gradient if that is None.

        ``values`` are these matrices side by side, each with the ``pattern``; ``columns`` (n, nw)
        are the unknowns of the instances.
        """
        n = len(columns)
        i, j = (np.array(x, dtype=np.intp) for x in pattern.get_triplet())
        instance = np.arange(n)[:, None]
        if first is None:  # a column vector, whose rows are unknowns
            rows, at = columns[instance, i[None]], np.zeros((n, len(i)), dtype=np.intp)
        else:
            rows, at = first + instance * pattern.size1() + i[None], columns[instance, j[None]]
        self._append(values, pattern, rows, at)

    def add_square(self, values: ca.MX, columns: Index, pattern: ca.Sparsity) -> None:
        """Add an upper triangle (nw, nw) for each instance; ``columns`` as of `add`."""
        i, j = (np.array(x, dtype=np.intp) for x in pattern.get_triplet())
        instance = np.arange(len(columns))[:, None]
        a, b = columns[instance, i[None]], columns[instance, j[None]]
        # Where two entries of w are one unknown, both triangles fall on the diagonal.
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
        # With all entries of the pattern, for CasADi may have dropped some that are always zero.
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


class PairPart(Enum):
    """What a row of relaxed complementarity is."""

    G = "the first half of a pair, which is zero or more"
    H = "the second half"
    RELAXED = "a row that relaxes the complementarity of both"


class HorizonPlace(Enum):
    """Where in a horizon the rows of a block hold."""

    START = "at the first node"
    NODES = "at nodes"
    MIDDLES = "at midpoints of steps"
    STEPS = "over steps, each from a node to the next"
    END = "at the last node"
    ENDS = "at the first and the last node at once"


class Bound(NamedTuple):
    """lower <= value <= upper."""

    label: str
    value: ca.SX  # (m,)
    lower: Array  # (m,)
    upper: Array  # (m,)
    part: PairPart | None = None  # of rows of pairs


@dataclass(frozen=True, eq=False)
class ConstraintBlock:
    """A function that is evaluated at several instances, such as all nodes of a horizon.

    Attributes
    ----------
    function : (w (nw,), data (nd,), p (np,)) -> (rows (m,), terms (k,))
        Constraint rows and terms of the objective; every block has the same k.
    columns : (n, nw)
        Indices of the unknowns that w is, for each instance.
    data : (n, nd)
        Numbers of each instance: first its node, or its time over the duration.
    lower, upper : (n, m)
        Bounds of the rows.
    labels : (m,) texts
        Names of the rows.
    parts : (m,)
        What rows of pairs are, None for others; the first G and the first H are a pair, and so on.
    place : HorizonPlace, optional
        None of rows that are of no single horizon, such as those between phases.
    span : int, optional
        Number of the span that its nodes or midpoints are; None where they are all there are.
    """

    function: ca.Function
    columns: Index
    data: Array
    lower: Array
    upper: Array
    labels: tuple[str, ...]
    parts: tuple[PairPart | None, ...] = ()
    place: HorizonPlace | None = None
    span: int | None = None

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(self.function.name())

    @property
    def count(self) -> int:
        """Number of instances."""
        return len(self.columns)

    @property
    def rows(self) -> int:
        """Number of rows of each instance."""
        return int(self.function.numel_out(0))


def constraint_block(
    name: str,
    symbols: tuple[ca.SX, ca.SX, ca.SX],
    bounds: Sequence[Bound],
    terms: ca.SX,
    columns: Index,
    place: HorizonPlace | None = None,
    span: int | None = None,
) -> ConstraintBlock:
    """Return a block whose data is the number of each instance.

    Parameters
    ----------
    name : str
    symbols : SX (nw,), (nd,), (np,)
        Unknowns, data and parameters of an instance.
    bounds : sequence of Bound
        Its rows.
    terms : SX (k,)
        Of the objective.
    columns : (n, nw)
    place, span : HorizonPlace, int, optional
    """
    rows = stack(b.value for b in bounds)
    outputs = [ca.densify(rows), ca.densify(ca.vertcat(ca.SX(0, 1), terms))]
    n, nothing = len(columns), np.zeros(0)
    lower, upper = (
        np.tile(np.concatenate([nothing, *(getattr(b, side) for b in bounds)]), (n, 1))
        for side in ("lower", "upper")
    )
    labels = tuple(b.label for b in bounds for _ in range(b.value.numel()))
    parts = tuple(b.part for b in bounds for _ in range(b.value.numel()))
    function = ca.Function(name, list(symbols), outputs, {"cse": True})
    data = np.arange(n, dtype=float)[:, None]
    return ConstraintBlock(function, columns, data, lower, upper, labels, parts, place, span)


class StructuredNlp:
    """A program of constraint blocks over unknowns x (n,) and parameters p.

    Parameters
    ----------
    blocks : sequence of ConstraintBlock
    n, parameters : int
        Numbers of unknowns and parameters; homotopy numbers, if any, are the last parameters.
    complementary : bool
        Whether some rows are relaxed complementarity.
    derived : DerivedFunctions, optional
        Of another program with which it shares functions of blocks.

    Attributes
    ----------
    x, p, f, g : MX
        Unknowns, parameters, objective, rows.
    terms : Function (x, p) -> (k,)
        The objective term by term.
    rows : Function (x, p) -> (m,)
        All rows.
    lower, upper : (m,)
    """

    def __init__(
        self,
        blocks: Sequence[ConstraintBlock],
        n: int,
        parameters: int,
        *,
        complementary: bool = False,
        derived: DerivedFunctions | None = None,
    ) -> None:
        self.derived = derived or DerivedFunctions()
        self.blocks = tuple(block for block in blocks if block.count)
        self.complementary = complementary
        self.x, self.p = ca.MX.sym("x", n), ca.MX.sym("p", parameters)
        self.lam = ca.MX.sym("lam_g", sum(block.lower.size for block in self.blocks))
        self.sigma = ca.MX.sym("lam_f")
        rows, terms = [], []
        for block in self.blocks:
            common = ca.repmat(self.p, 1, block.count)
            c, t = block.function.map(block.count)(*self._gather(block), common)
            rows.append(ca.vec(c))
            terms.append(ca.sum2(t))
        self.g = ca.vertcat(*rows)
        each = sum(terms[1:], terms[0])
        self.f = ca.sum1(each)
        self.terms = ca.Function("terms", [self.x, self.p], [each], ["x", "p"], ["terms"])
        self.rows = ca.Function("rows", [self.x, self.p], [self.g], ["x", "p"], ["g"])
        self.lower = np.concatenate([block.lower.ravel() for block in self.blocks])
        self.upper = np.concatenate([block.upper.ravel() for block in self.blocks])

    def restate(self, blocks: Sequence[ConstraintBlock]) -> StructuredNlp:
        """Return the program with the same blocks but for the limits of their rows."""
        other = copy.copy(self)
        other.blocks = tuple(blocks)
        other.lower = np.concatenate([block.lower.ravel() for block in blocks])
        other.upper = np.concatenate([block.upper.ravel() for block in blocks])
        return other

    def _gather(self, block: ConstraintBlock) -> list[ca.MX]:
        """Return unknowns w and data of a block, a column for each instance."""
        shape = (block.columns.shape[1], block.count)
        w = ca.reshape(self.x[block.columns.ravel().tolist()], *shape)
        return [w, ca.MX(ca.DM(block.data.T))]

    @cached_property
    def halves(self) -> Index:
        """Rows that are G and H of each pair, (k, 2)."""
        return np.column_stack([self._find_rows(PairPart.G), self._find_rows(PairPart.H)])

    @cached_property
    def products(self) -> Index:
        """Rows that relax each pair, (k,); none, (0,), where there is not one for each."""
        rows = self._find_rows(PairPart.RELAXED)
        return rows if len(rows) == len(self.halves) else rows[:0]

    @cached_property
    def stated_rows(self) -> Index:
        """Rows of the stated constraints, as opposed to those of complementarity pairs."""
        return self._find_rows(None)

    def _find_rows(self, part: PairPart | None) -> Index:
        rows = [np.zeros(0, dtype=np.intp)]
        numbers = self.split_rows(np.arange(self.lower.size, dtype=np.intp))
        for block, own in zip(self.blocks, numbers, strict=True):
            parts = block.parts or (None,) * block.rows
            rows.append(own[:, [x is part for x in parts]].ravel())
        return np.concatenate(rows)

    def split_rows(self, values: NDArray[T]) -> list[NDArray[T]]:
        """Return values of all rows (m,) by blocks, (n, rows) each as the limits of a block."""
        parts = np.split(values, np.cumsum([block.lower.size for block in self.blocks])[:-1])
        return [x.reshape(b.lower.shape) for x, b in zip(parts, self.blocks, strict=True)]

    def violations(self, g: Array) -> Array:
        """Return by how much rows miss their bounds, (rows,); infinite where not a number."""
        off: Array = np.maximum(np.maximum(self.lower - g, g - self.upper), 0)
        return np.where(np.isfinite(g), off, np.inf)

    def label(self, row: int) -> tuple[str, int]:
        """Return the label of a row and the number of its node."""
        block, i, instance = self.locate(row)
        # Some blocks have a share of the motion in place of the node: their instances are nodes.
        return block.labels[i], max(instance, int(block.data[instance, 0]))

    def locate(self, row: int) -> tuple[ConstraintBlock, int, int]:
        """Return the block of a row, which row of the block it is, and of which instance."""
        for block in self.blocks:
            if row < block.lower.size:
                return block, row % block.rows, row // block.rows
            row -= block.lower.size
        raise IndexError(f"no row {row}")

    def nlp(self, name: str, derivatives: Derivatives) -> Nlp:
        """Return what a backend solves."""
        values = (derivatives.f(self.x, self.p), derivatives.g(self.x, self.p))
        limits = (self.lower, self.upper)
        return Nlp(name, self.x, self.p, *values, *limits, derivatives, self.complementary)

    def derivatives(self) -> Derivatives:
        """Return values, gradient, Jacobian and Hessian.

        They can be evaluated as long as this program, or one restated from it, lives.
        """
        n, x, p = self.x.numel(), self.x, self.p
        gradient, jacobian, hessian = Entries(), Entries(), Entries()
        f, slope, g, rows, row = ca.MX(0), ca.MX(0), [], [], 0
        for block, functions in zip(self.blocks, self._functions, strict=True):
            own, count = self._gather(block), block.count
            if functions.slope.pattern(1).nnz():
                f += ca.sum2(functions.value(own, [p], count)[0])
                value, by_w = functions.slope(own, [p], count)
                slope += ca.sum2(value)
                gradient.add(by_w, block.columns, None, functions.slope.pattern(1))
            g.append(ca.vec(functions.rows(own, [p], count)[0]))
            value, by_w = functions.jacobian(own, [p], count)
            rows.append(ca.vec(value))
            jacobian.add(by_w, block.columns, row, functions.jacobian.pattern(1))
            if functions.hessian.pattern(0).nnz():
                lam = ca.reshape(self.lam[row : row + value.numel()], block.rows, count)
                (entries,) = functions.hessian([*own, lam], [p, self.sigma], count)
                hessian.add_square(entries, block.columns, functions.hessian.pattern(0))
            row += value.numel()
        grad, H = ca.densify(gradient.matrix(n, 1)), hessian.matrix(n, n)
        known, values = (x, p, self.sigma, self.lam), (f, ca.vertcat(*g))
        slopes = [slope, grad], [ca.vertcat(*rows), jacobian.matrix(row, n)]
        return Derivatives.of("nlp", known, values, slopes, H)

    @cached_property
    def _functions(self) -> list[BlockFunctions]:
        """The functions of each block; blocks of one function share them."""
        return [self.derived.derive(block.function) for block in self.blocks]
