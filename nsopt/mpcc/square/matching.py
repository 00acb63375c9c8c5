"""Which row of a square program is solved for which unknown, found from its Jacobian.

The rows of equations are balances, in which multipliers appear (motion), or not (joints, places).
Balances give their other unknowns first. On the Schur complement that they leave all others are
matched. Both matchings are those of the largest product of pivots [Duff, Koster 2001]; for a
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

from nsopt.mpcc.statement.problem import Mpcc

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

SAMPLES = 5
"""Points at which pivots are compared."""

NEAR_ZERO = 1e-6
"""Scaled unknowns there: what a step starts from and what it leads to are then much alike."""

SHORT = 1e-3
"""Parameters there that stand alone, as the size of a step does; others are about one."""

VANISHING = 1e-12
"""Of the largest entry of a row, what counts as zero there."""

WEAK = 1e3
"""Cost of a pivot that is zero at the points, but need not be elsewhere; others cost less."""

ABSENT = 1e6
"""Cost of a pivot that is zero everywhere."""

ORDER = 1e-6
"""Cost of a place in the order of statement, which decides where nothing else does."""


class RowDerivatives(NamedTuple):
    """Derivatives of the rows of a square program: of the terms that each is made of.

    Attributes
    ----------
    pattern : (n, n) of bool
        Which entries there are in rows, whatever they are made of.
    of_own : Function (x, p) -> (n, n)
        The rows' derivatives by the scaled unknowns, each made of the term in which its own unknown
        stands by itself.
    """

    pattern: NDArray[np.bool_]
    of_own: ca.Function

    @classmethod
    def of(
        cls, mpcc: Mpcc, of_terms: ca.SX, rows: list[list[int]], own: list[int]
    ) -> RowDerivatives:
        """Return those of a program.

        Parameters
        ----------
        mpcc : Mpcc
        of_terms : SX (terms, n)
            Derivatives of the terms.
        rows : list of lists
            The terms that each row may be made of.
        own : list of int
            Of these the one in which its own unknown stands by itself.
        """
        present = _fill(of_terms.sparsity(), True)
        pattern = [present[terms].any(axis=0) for terms in rows]
        function = ca.Function("derivatives", [mpcc.x, mpcc.p], [of_terms[own, :]])
        return cls(np.array(pattern, dtype=bool).reshape(len(rows), -1), function)

    def at(self, x: Array, p: Array) -> Array:
        """Return the rows' derivatives, (n, n)."""
        found = self.of_own(x, p)
        return np.asarray(_fill(found.sparsity(), found.nonzeros()), dtype=float)


def _fill(sparsity: ca.Sparsity, entries: Any) -> NDArray[Any]:
    """Return a matrix with some entries; the others are zero."""
    values = np.zeros(sparsity.shape, dtype=np.asarray(entries).dtype)
    values[tuple(map(np.array, sparsity.get_triplet()))] = entries
    return values


def match_rows(mpcc: Mpcc, derivatives: RowDerivatives) -> list[int]:
    """Return the unknown that each row of a square program is solved for, (n,) indices.

    Rows are the equations, then those of the min map, unknowns the scaled variables, both in the
    order of statement. That order is kept where each row has a pivot in its place, for equations
    beside their unknowns also where others have none (redundant joints), and where balances have no
    term but multipliers, as for coordinates without inertia.

    Parameters
    ----------
    mpcc : Mpcc
    derivatives : RowDerivatives

    Raises
    ------
    ValueError
        If the program is structurally singular, naming the rows and unknowns without a partner.
        Redundant equations are not, where each has a multiplier.
    """
    rows, unknowns = _row_names(mpcc), _name_unknowns(mpcc)
    n = len(unknowns)
    match = np.full(n, -1)
    last = [unknowns.index((event.of, 0)) for event in mpcc.first_events]
    before = n - len(last)  # first events are the last rows, and eliminated last
    match[before:] = last
    multiplier = np.array([name in mpcc.multipliers for name, _ in unknowns], dtype=bool)
    pivots = _Pivots(mpcc, derivatives)
    equations = sum(block.expr.numel() for block in mpcc.equalities)
    balances = np.flatnonzero(pivots.pattern[:equations, multiplier].any(axis=1))
    given = np.setdiff1d(np.flatnonzero(~multiplier), last)
    stated = np.append(np.setdiff1d(np.arange(n), last), np.array(last, dtype=int))
    if _usable(pivots, stated, balances, before, multiplier):
        return [int(k) for k in stated]
    beside = np.union1d(balances, np.flatnonzero(~multiplier[stated[:equations]]))
    pairs = _in_their_places(pivots, beside, stated[beside], multiplier)
    if not pairs:
        pairs = _match(pivots.costs(balances, given), balances, given)
    if any(cost >= ABSENT for *_, cost in pairs):  # coordinates without inertia: as stated
        return [int(k) for k in stated]
    for i, j, _ in pairs:
        match[i] = j
    first = np.flatnonzero(match[:before] >= 0)
    others, left = np.flatnonzero(match < 0), np.setdiff1d(np.arange(n), match)
    pairs = _match(pivots.costs_after(first, match[first], others, left), others, left)
    for i, j, _ in pairs:
        match[i] = j
    # A multiplier that is nowhere takes its least norm; a row without any unknown holds or not.
    lost = [
        (rows[i], unknowns[j])
        for i, j, cost in pairs
        if cost >= ABSENT and not multiplier[j] and pivots.pattern[i].any()
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


def _usable(
    pivots: _Pivots, stated: Indices, balances: Indices, before: int, multiplier: NDArray[np.bool_]
) -> bool:
    """Tell whether each row has a pivot for the unknown in its place.

    A scheme that states rows beside their unknowns knows its pivots better than samples tell: where
    contacts are redundant, other pivots that are as large at the samples fail in some of its modes.
    """
    own = stated[balances]
    if multiplier[own].any() or np.any(np.diag(pivots.costs(balances, own)) >= WEAK):
        return False
    others = np.setdiff1d(np.arange(before), balances)
    after = pivots.costs_after(balances, own, others, stated[others])
    return bool(np.all(np.diag(after) < WEAK))


def _in_their_places(
    pivots: _Pivots, rows: Indices, own: Indices, multiplier: NDArray[np.bool_]
) -> list[tuple[int, int, float]]:
    """Return the pairs (row, column, cost) of equations with the unknowns in their places.

    None where one of these is a multiplier, or without a pivot. A compliant contact that presses at
    the samples has larger entries off the diagonal, which vanish in free flight.
    """
    costs = np.diag(pivots.costs(rows, own))
    if multiplier[own].any() or np.any(costs >= WEAK):
        return []
    return [(int(i), int(j), float(x)) for i, j, x in zip(rows, own, costs, strict=True)]


class _Pivots:
    """The Jacobian of a program at a few points, each row of the min map by its own alternative.

    Attributes
    ----------
    pattern : (n, n) of bool
        Which entries there are, in any alternative.
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
        # Products of these are zero only where there is no path at all.
        self._generic = np.where(self.pattern, rng.uniform(0.5, 1.5, self.pattern.shape), 0.0)

    def costs(self, rows: Indices, columns: Indices) -> Array:
        """Return minus the logarithms of the entries, (rows, columns)."""
        entries = np.ix_(rows, columns)
        sizes = [np.abs(J[entries]) for J in self._samples]
        return _costs(sizes, [np.abs(J[rows]) for J in self._samples], self.pattern[entries])

    def costs_after(self, first: Indices, given: Indices, rows: Indices, columns: Indices) -> Array:
        """Return the same once the rows ``first`` gave their unknowns."""
        sizes, terms = zip(
            *(_eliminate(J, first, given, rows, columns) for J in self._samples), strict=True
        )
        generic, size = _eliminate(self._generic, first, given, rows, columns)
        return _costs(sizes, terms, generic > VANISHING * size)


def _eliminate(
    J: Array, first: Indices, given: Indices, rows: Indices, columns: Indices
) -> tuple[Array, Array]:
    """Return the sizes of the entries of a Schur complement, and those of their terms."""
    from scipy.sparse import csc_array, csr_array  # most entries are zero
    from scipy.sparse.linalg import splu

    here, by = J[np.ix_(rows, columns)], J[np.ix_(rows, given)]
    own, others = J[np.ix_(first, given)], J[np.ix_(first, columns)]
    if not by.size or not here.size:
        return np.abs(here), np.abs(here)
    if np.isfinite(own).all():
        with contextlib.suppress(RuntimeError):  # exactly singular
            fill, carried = splu(csc_array(own)).solve(others), csr_array(by)
            return np.abs(here - carried @ fill), np.abs(here) + abs(carried) @ np.abs(fill)
    return np.full(here.shape, np.nan), np.full(here.shape, np.nan)


def _costs(sizes: Sequence[Array], terms: Sequence[Array], pattern: NDArray[np.bool_]) -> Array:
    """Return the mean costs of pivots where there are any, by their sizes at several points."""
    order = np.abs(np.subtract.outer(np.arange(pattern.shape[0]), np.arange(pattern.shape[1])))
    total, count = np.zeros(pattern.shape), np.zeros(pattern.shape)
    for size, term in zip(sizes, terms, strict=True):
        largest = np.max(np.nan_to_num(term, posinf=0.0), axis=1, initial=0.0, keepdims=True)
        good = np.isfinite(size) & (size > VANISHING * largest)
        total += np.where(good, -np.log(np.where(good, size, 1.0)), 0.0)
        count += good
    cost = np.where(count > 0, total / np.maximum(count, 1), np.where(pattern, WEAK, ABSENT))
    return np.asarray(cost + ORDER * order)


def _match(costs: Array, rows: Indices, columns: Indices) -> list[tuple[int, int, float]]:
    """Return the cheapest pairs (row, column, cost)."""
    pairs = zip(*scipy.optimize.linear_sum_assignment(costs), strict=True)
    return [(int(rows[i]), int(columns[j]), float(costs[i, j])) for i, j in pairs]


def _row_names(mpcc: Mpcc) -> list[tuple[str, int]]:
    sizes = [(block.name, block.expr.numel()) for block in mpcc.equalities]
    sizes += [(block.name, block.G.numel()) for block in mpcc.pairs]
    sizes += [(block.name, block.z.numel()) for block in mpcc.boxes]
    sizes += [(block.name, block.z.numel()) for block in mpcc.discs]
    sizes += [(block.name, 1) for block in mpcc.first_events]
    return [(name, k) for name, size in sizes for k in range(size)]


def _name_unknowns(mpcc: Mpcc) -> list[tuple[str, int]]:
    return [(block.name, k) for block in mpcc.variables for k in range(block.scaled.numel())]
