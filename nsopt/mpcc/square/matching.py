"""Which row of a square program is solved for which unknown, found from its Jacobian.

Equations are balances, in which multipliers appear (of momentum), or others (joints, places).
Balances are matched with unknowns that are no multipliers first; all others by the Schur complement
that is left. Both matchings are those of the largest product of pivots [Duff, Koster 2001]; of a
positive definite matrix in any order, as mass matrices and C M^-1 C^T are, that is its diagonal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import scipy
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mpcc.statement.problem import Mpcc

Indices = NDArray[np.intp]

SAMPLES = 5  # points (x, p) at which pivots are compared
NEAR_ZERO = 1e-6  # size of scaled unknowns there: a step starts and ends much alike
SHORT = 1e-3  # size there of parameters of one number, as h; that of others is about one
VANISHING = 1e-12  # in proportion to the largest entry of its row, a pivot that counts as zero
WEAK = 1e3  # cost of a pivot that is zero at all points, but maybe not elsewhere
ABSENT = 1e6  # cost of a pivot that is zero everywhere
ORDER = 1e-6  # cost of each place away from the order of statement, which breaks ties

MANY = 60
"""Unknowns beyond which matrices are sparse: with fewer that takes longer, and dense ones of more
keep all cores busy."""

Matrix = Any
"""An array of two dimensions, or a sparse one."""


class RowDerivatives(NamedTuple):
    """Derivatives of the rows of a square program by its scaled unknowns."""

    # (n, n) of bool, sparse if large: nonzero entries of each row, of all terms that it may be made
    # of.
    pattern: Matrix
    # (x, p) -> (n, n): of each row the derivatives of its own term, see `own_terms`.
    of_own: ca.Function

    @classmethod
    def of(
        cls, mpcc: Mpcc, of_terms: ca.SX, rows: list[list[int]], own: list[int]
    ) -> RowDerivatives:
        """Return those of a program, from the derivatives (terms, n) of its terms.

        ``rows`` are the terms that each row may be made of, see `terms_of_rows`; ``own`` of these
        the one of `own_terms`.
        """
        from scipy.sparse import csr_array

        sparsity = of_terms.sparsity()
        present = _fill(sparsity, np.ones(sparsity.nnz(), dtype=bool))
        terms = np.array([term for parts in rows for term in parts], dtype=np.intp)
        starts = np.cumsum([0, *map(len, rows)])
        made_of = csr_array(
            (np.ones(len(terms), dtype=bool), terms, starts), (len(rows), *present.shape[:1])
        )
        function = ca.Function("derivatives", [mpcc.x, mpcc.p], [of_terms[own, :]])
        return cls(made_of @ present, function)

    def at(self, x: Array, p: Array) -> Matrix:
        """Return the derivatives of own terms, (n, n)."""
        matrix = self.of_own(x, p)
        return _fill(matrix.sparsity(), np.array(matrix.nonzeros(), dtype=float))


def _fill(sparsity: ca.Sparsity, entries: NDArray[Any]) -> Matrix:
    """Return a matrix with these ``entries``, the others zero; sparse if large."""
    from scipy.sparse import csc_array

    matrix = csc_array((entries, sparsity.row(), sparsity.colind()), sparsity.shape)
    return matrix.tocsr() if sparsity.shape[1] > MANY else matrix.toarray()


def match_rows(mpcc: Mpcc, derivatives: RowDerivatives) -> list[int]:
    """Return the unknown that each row of a square program is solved for, (n,) indices.

    Rows are the equations, then those of the min map, unknowns the scaled variables, both in the
    order of statement. Row i is for unknown i where all rows have a pivot there; equations also
    where only the others have none (redundant joints); and all rows where a balance has no term but
    multipliers, as for coordinates without inertia.

    Raises
    ------
    ValueError
        If the program is structurally singular, naming the rows and unknowns without a partner.
        Redundant equations are not, where each has a multiplier.
    """
    rows, unknowns = _name_rows(mpcc), _name_unknowns(mpcc)
    n = len(unknowns)
    match = np.full(n, -1)
    last = [unknowns.index((event.of, 0)) for event in mpcc.first_events]
    before = n - len(last)  # rows before first events, which come and are eliminated last
    match[before:] = last
    multiplier = np.array([name in mpcc.multipliers for name, _ in unknowns], dtype=bool)
    pivots = _Pivots(mpcc, derivatives)
    equations = sum(block.expr.numel() for block in mpcc.equalities)
    balances = np.flatnonzero(pivots.pattern[:equations][:, multiplier].sum(axis=1))
    given = np.setdiff1d(np.flatnonzero(~multiplier), last)
    stated = np.append(np.setdiff1d(np.arange(n), last), np.array(last, dtype=int))
    if _has_pivots_in_place(pivots, stated, balances, before, multiplier):
        return [int(k) for k in stated]
    beside = np.union1d(balances, np.flatnonzero(~multiplier[stated[:equations]]))
    pairs = _pair_in_place(pivots, beside, stated[beside], multiplier)
    if not pairs:
        pairs = _match(pivots.costs(balances, given), balances, given)
    if any(cost >= ABSENT for *_, cost in pairs):  # coordinates without inertia: as stated
        return [int(k) for k in stated]
    for i, j, _ in pairs:
        match[i] = j
    matched = np.flatnonzero(match[:before] >= 0)
    others, left = np.flatnonzero(match < 0), np.setdiff1d(np.arange(n), match)
    pairs = _match(pivots.costs_after(matched, match[matched], others, left), others, left)
    for i, j, _ in pairs:
        match[i] = j
    # A multiplier that is in no row takes its least norm; a row without any unknown is met or not.
    lost = [
        (rows[i], unknowns[j])
        for i, j, cost in pairs
        if cost >= ABSENT and not multiplier[j] and pivots.pattern[[i]].sum()
    ]
    if lost:
        equations_lost, unknowns_lost = (
            ", ".join(f"{name}[{k}]" for name, k in part) for part in zip(*lost, strict=True)
        )
        raise ValueError(
            f"program {mpcc.name!r} is structurally singular: no unknown is left for "
            f"{equations_lost}, and no row gives {unknowns_lost}: state what gives them; where "
            "equations are redundant, declare their multipliers (multiplier=True or least_norm)"
        )
    return [int(k) for k in match]


def _has_pivots_in_place(
    pivots: _Pivots, stated: Indices, balances: Indices, before: int, multiplier: NDArray[np.bool_]
) -> bool:
    """Tell whether each row has a pivot for the unknown in its place, ``stated`` (n,).

    These are in the order of statement, those of first events last; ``before`` is how many rows are
    before first events, ``balances`` which rows are balances, ``multiplier`` (n,) which unknowns
    are multipliers.

    A scheme that states rows in the order of their unknowns knows better than samples: where
    contacts are redundant, other pivots that are as large at the samples fail in some modes.
    """
    own = stated[balances]
    if multiplier[own].any() or np.any(pivots.own_costs(balances, own) >= WEAK):
        return False
    others = np.setdiff1d(np.arange(before), balances)
    return bool(np.all(pivots.own_costs_after(balances, own, others, stated[others]) < WEAK))


def _pair_in_place(
    pivots: _Pivots, rows: Indices, own: Indices, multiplier: NDArray[np.bool_]
) -> list[tuple[int, int, float]]:
    """Return the pairs (row, column, cost) of equations with the unknowns in their places, ``own``.

    No pair where one of these is a multiplier, or has no pivot. Larger entries elsewhere do not
    count: those of a compliant contact that presses at the samples vanish in free flight.
    """
    costs = pivots.own_costs(rows, own)
    if multiplier[own].any() or np.any(costs >= WEAK):
        return []
    return [(int(i), int(j), float(x)) for i, j, x in zip(rows, own, costs, strict=True)]


class _Pivots:
    """The Jacobian of own terms at a few points; costs of pivots are minus the log of their sizes.

    Attributes
    ----------
    pattern : (n, n) of bool, sparse if large
        As of `RowDerivatives`.
    """

    def __init__(self, mpcc: Mpcc, derivatives: RowDerivatives) -> None:
        n, known = mpcc.x.numel(), mpcc.p.numel()
        self.pattern = derivatives.pattern
        blocks = [block.symbol.numel() for block in mpcc.parameters]
        sizes = np.concatenate(
            [np.zeros(0), *(np.full(m, SHORT if m == 1 else 1.0) for m in blocks)]
        )
        rng = np.random.default_rng(0)
        self._samples = []
        for _ in range(SAMPLES):
            arguments = (
                NEAR_ZERO * rng.uniform(0.5, 1.5, n),
                sizes * rng.uniform(0.5, 1.5, known),
            )
            self._samples.append(derivatives.at(*arguments))
        # Random entries, whose Schur complements vanish only where the pattern makes them.
        self._generic = self.pattern * 1.0
        entries = self._generic if isinstance(self._generic, np.ndarray) else self._generic.data
        entries *= rng.uniform(0.5, 1.5, entries.shape)

    def costs(self, rows: Indices, columns: Indices) -> Array:
        """Return the costs of all entries, (rows, columns)."""
        return _find_all_costs(self._choose(rows, columns), self.pattern[rows][:, columns])

    def costs_after(self, first: Indices, given: Indices, rows: Indices, columns: Indices) -> Array:
        """Return the same after elimination of rows ``first`` with their unknowns ``given``."""
        return _find_all_costs(*self._eliminate(first, given, rows, columns))

    def own_costs(self, rows: Indices, columns: Indices) -> Array:
        """Return the costs of the column in the place of each row, (rows,)."""
        return _find_own_costs(self._choose(rows, columns), self.pattern[rows][:, columns])

    def own_costs_after(
        self, first: Indices, given: Indices, rows: Indices, columns: Indices
    ) -> Array:
        """Return the same after elimination of rows ``first`` with their unknowns ``given``."""
        return _find_own_costs(*self._eliminate(first, given, rows, columns))

    def _choose(self, rows: Indices, columns: Indices) -> list[_Entries]:
        chosen = [abs(J[rows]) for J in self._samples]
        return [_Entries(sizes[:, columns], _find_largest(sizes)) for sizes in chosen]

    def _eliminate(
        self, first: Indices, given: Indices, rows: Indices, columns: Indices
    ) -> tuple[list[_Entries], Matrix]:
        found = (_eliminate(J, first, given, rows, columns) for J in self._samples)
        points = [_Entries(sizes, _find_largest(terms)) for sizes, terms in filter(None, found)]
        generic = _eliminate(self._generic, first, given, rows, columns)
        if generic is None:
            return points, self.pattern[rows][:, columns] * False
        sizes, terms = generic
        return points, sizes > VANISHING * terms


class _Entries(NamedTuple):
    """Entries at one point, sizes without signs."""

    sizes: Matrix  # (m, n)
    largest: Array  # (m,) the largest entry, or term of an entry, of each row


def _find_largest(terms: Matrix) -> Array:
    """Return the largest finite entry of each row, zero where there is none."""
    if isinstance(terms, np.ndarray):
        return np.asarray(np.max(np.nan_to_num(terms, posinf=0.0), axis=1, initial=0.0))
    finite = terms.copy()
    finite.data = np.nan_to_num(finite.data, posinf=0.0)
    return np.asarray(
        finite.max(axis=1).toarray() if finite.nnz else np.zeros(terms.shape[0])
    ).ravel()


def _eliminate(
    J: Matrix, first: Indices, given: Indices, rows: Indices, columns: Indices
) -> tuple[Matrix, Matrix] | None:
    """Return sizes of entries of a Schur complement, and sums of those of their terms; (m, n) both.

    None where the eliminated block is singular.
    """
    here, by = J[rows][:, columns], J[rows][:, given]
    own, others = J[first][:, given], J[first][:, columns]
    if not by.size or not others.size:
        return abs(here), abs(here)
    inverse = _invert(own)
    if inverse is None:
        return None
    fill = inverse @ others
    return abs(here - by @ fill), abs(here) + abs(by) @ abs(fill)


def _invert(matrix: Matrix) -> Matrix | None:
    """Return the inverse, None if singular; that of a sparse matrix by its independent blocks."""
    with contextlib.suppress(np.linalg.LinAlgError, RuntimeError):  # exactly singular
        if not np.isfinite(matrix.sum()):
            return None
        return np.linalg.inv(matrix) if isinstance(matrix, np.ndarray) else _invert_blocks(matrix)
    return None


def _invert_blocks(matrix: Matrix) -> Matrix:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count, block = connected_components(matrix, directed=False)
    order, sizes = np.argsort(block, kind="stable"), np.bincount(block, minlength=count)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(block), dtype=np.intp)
    place[order] = np.arange(len(block)) - np.repeat(starts, sizes)
    entries = matrix.tocoo()
    row, column = entries.coords
    values, at, by = [], [], []
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        number = np.full(count, -1)
        number[chosen] = np.arange(len(chosen))
        here = number[block[row]] >= 0
        i, j = row[here], column[here]
        dense = np.zeros((len(chosen), size, size))
        dense[number[block[i]], place[i], place[j]] = entries.data[here]
        values.append(_invert_each(dense).ravel())
        members = order[starts[chosen][:, None] + np.arange(size)]
        at.append(np.repeat(members, size, axis=1).ravel())
        by.append(np.tile(members, (1, size)).ravel())
    places = np.concatenate(at), np.concatenate(by)
    return coo_array((np.concatenate(values), places), matrix.shape).tocsr()


def _invert_each(blocks: Array) -> Array:
    """Return the inverses of blocks (k, n, n)."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    n = blocks.shape[-1]
    if n <= MANY:
        return np.asarray(np.linalg.inv(blocks), dtype=float)
    return np.array([splu(csc_array(block)).solve(np.eye(n)) for block in blocks])


def _find_all_costs(points: Sequence[_Entries], pattern: Matrix) -> Array:
    """Return the costs of all entries, (m, n)."""
    m, n = pattern.shape
    apart = np.abs(np.subtract.outer(np.arange(m), np.arange(n)))
    sizes = [_densify(point.sizes) for point in points]
    largest = [point.largest[:, None] for point in points]
    return _find_costs(sizes, largest, _densify(pattern)) + ORDER * apart


def _find_own_costs(points: Sequence[_Entries], pattern: Matrix) -> Array:
    """Return the costs of the entries on the diagonal."""
    sizes = [point.sizes.diagonal() for point in points]
    return _find_costs(sizes, [point.largest for point in points], pattern.diagonal())


def _densify(matrix: Matrix) -> Array:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


def _find_costs(sizes: list[Array], largest: list[Array], pattern: Array) -> Array:
    """Return the mean costs of pivots over the points at which they are not zero."""
    total, count = np.zeros(pattern.shape), np.zeros(pattern.shape)
    for size, of_row in zip(sizes, largest, strict=True):
        good = np.isfinite(size) & (size > VANISHING * of_row)
        total += np.where(good, -np.log(np.where(good, size, 1.0)), 0.0)
        count += good
    return np.where(count > 0, total / np.maximum(count, 1), np.where(pattern, WEAK, ABSENT))


def _match(costs: Array, rows: Indices, columns: Indices) -> list[tuple[int, int, float]]:
    """Return the cheapest pairs (row, column, cost)."""
    pairs = zip(*scipy.optimize.linear_sum_assignment(costs), strict=True)
    return [(int(rows[i]), int(columns[j]), float(costs[i, j])) for i, j in pairs]


def _name_rows(mpcc: Mpcc) -> list[tuple[str, int]]:
    sizes = [(block.name, block.expr.numel()) for block in mpcc.equalities]
    sizes += [(block.name, block.G.numel()) for block in mpcc.pairs]
    sizes += [(block.name, block.z.numel()) for block in mpcc.boxes]
    sizes += [(block.name, block.z.numel()) for block in mpcc.discs]
    sizes += [(block.name, 1) for block in mpcc.first_events]
    return [(name, k) for name, size in sizes for k in range(size)]


def _name_unknowns(mpcc: Mpcc) -> list[tuple[str, int]]:
    return [(block.name, k) for block in mpcc.variables for k in range(block.scaled.numel())]
