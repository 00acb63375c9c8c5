"""The order of elimination of a sparse system, and where its entries are kept, by the pattern.

Fewest entries first [Markowitz 1957], unknowns whose pivots may be zero (multipliers) after all
others, which leave them those of C M^-1 C^T. Unknowns that have the same neighbours are eliminated
together, in a dense *front* [Duff and Reid 1983, ACM TOMS 9(3)]: its pivots, the *border* rows that
they change, and the columns these have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
Border = tuple[frozenset[int], frozenset[int]]

LANES = 4
"""Entries of a row that are computed at once."""


class Front(NamedTuple):
    """Rows and columns of a dense matrix: those of the pivots, then of its border."""

    pivots: list[int]
    rows: list[int]
    columns: list[int]

    @property
    def width(self) -> int:
        """Entries of one row: of its columns and the right side, then some that are not used."""
        return -(-(len(self.pivots) + len(self.columns) + 1) // LANES) * LANES

    @property
    def size(self) -> int:
        """Number of entries."""
        return (len(self.pivots) + len(self.rows)) * self.width


class Elimination(NamedTuple):
    """The order of elimination of a square system of n unknowns, and where its entries are kept.

    Entries are those of all fronts, one after another, row by row.

    Attributes
    ----------
    pivot, diagonal, empty : (n,)
        By turns: the row that each eliminates, the place of its diagonal entry, and whether this is
        zero for certain although the row is late, 0 or 1.
    right : (n,)
        The place of each row's right side.
    first, place : (fronts + 1,)
        The turn at which each front begins, and the place of its first entry.
    width : (fronts,)
        Entries in a row of each front, a multiple of `LANES`.
    row_start, row, column_start, column : (fronts + 1,), (k,), (fronts + 1,), (l,)
        Rows and columns of each border.
    target_start, target : (fronts + 1,), (m,)
        Where the entries of each border are added once its pivots are eliminated: by rows, the
        right side of each last.
    """

    pivot: Any
    diagonal: Any
    empty: Any
    right: Any
    first: Any
    place: Any
    width: Any
    row_start: Any
    row: Any
    column_start: Any
    column: Any
    target_start: Any
    target: Any


class MatrixPlaces:
    """The places of a sparse matrix's entries in one array.

    Parameters
    ----------
    fronts : sequence of Front
    """

    def __init__(self, fronts: Sequence[Front]) -> None:
        self.fronts = fronts
        self.start = list_starts([range(front.size) for front in fronts])
        self._front = {k: f for f, front in enumerate(fronts) for k in front.pivots}
        self._row = [_number([*front.pivots, *front.rows]) for front in fronts]
        self._column = [_number([*front.pivots, *front.columns]) for front in fronts]

    def of(self, i: int, j: int) -> int:
        """Return the place of an entry: in the front of its row or its column, the earlier one."""
        f = min(self._front[i], self._front[j])
        return self._at(f, i, self._column[f][j])

    def right(self, i: int) -> int:
        """Return the place of a row's right side."""
        f = self._front[i]
        return self._at(f, i, len(self._column[f]))

    def _at(self, f: int, i: int, column: int) -> int:
        return int(self.start[f]) + self._row[f][i] * self.fronts[f].width + column


def plan_elimination(
    rows: Sequence[Iterable[int]], late: Iterable[int]
) -> tuple[Elimination, MatrixPlaces, int]:
    """Return the elimination of a matrix along its diagonal, its entries, and the first late front.

    Parameters
    ----------
    rows : sequence of columns
        Of each row i, which is solved for unknown i.
    late : indices
        Rows that are eliminated after all others.
    """
    after = set(late)
    left = [set(row) for row in rows]
    columns: list[set[int]] = [set() for _ in left]
    for i, row in enumerate(left):
        for j in row:
            columns[j].add(i)
    early = _choose_fronts(left, columns, set(range(len(left))) - after)
    empty = {i for i in after if i not in left[i]}
    places = MatrixPlaces([*early, *_choose_fronts(left, columns, after)])
    return _place_fronts(places, empty), places, len(early)


def _choose_fronts(left: list[set[int]], columns: list[set[int]], group: set[int]) -> list[Front]:
    """Eliminate the rows of a group from the pattern, and return their fronts, the first one first.

    Parameters
    ----------
    left, columns : sets of columns of each row, and of rows of each column
        Of what is left of the matrix. They are changed.
    group : set of int
    """

    def cost(i: int) -> tuple[int, int]:
        return (len(left[i]) - (i in left[i])) * (len(columns[i]) - (i in columns[i])), i

    costs = {i: cost(i) for i in group}
    cheapest = sorted(costs.values())  # a heap, of costs that were since changed too
    fronts: dict[Border, list[int]] = {}
    while costs:
        least = heappop(cheapest)
        k = least[1]
        if costs.get(k) != least:
            continue
        del costs[k]
        others, below = left[k] - {k}, columns[k] - {k}
        for i in below:
            left[i].discard(k)
            left[i] |= others
        for j in others:
            columns[j].discard(k)
            columns[j] |= below
        for i in below | others:
            if i in costs and costs[i] != (new := cost(i)):
                costs[i] = new
                heappush(cheapest, new)
        _join_front(fronts, k, (frozenset(below), frozenset(others)))
    return [Front(pivots, *map(sorted, border)) for border, pivots in fronts.items()]


def _join_front(fronts: dict[Border, list[int]], k: int, border: Border) -> None:
    """Add a pivot to the fronts, by their borders: no front grows by entries that stay zero.

    It comes behind a front in whose border it was, if nothing else is left of that; and fronts of
    equal borders do not touch each other. Either goes to the end of the order, for no other front
    since has had pivots in its border.
    """
    rows, columns = border
    before = fronts.pop((rows | {k}, columns | {k}), [])
    fronts[border] = [*fronts.pop(border, []), *before, k]


def _place_fronts(places: MatrixPlaces, empty: set[int]) -> Elimination:
    fronts, of = places.fronts, places.of
    turns = [k for front in fronts for k in front.pivots]
    targets = [
        [place for i in x.rows for place in (*(of(i, j) for j in x.columns), places.right(i))]
        for x in fronts
    ]
    found = Elimination(
        pivot=turns,
        diagonal=[of(k, k) for k in turns],
        empty=[k in empty for k in turns],
        right=[places.right(i) for i in range(len(turns))],
        first=list_starts([front.pivots for front in fronts]),
        place=places.start,
        width=[front.width for front in fronts],
        row_start=list_starts([front.rows for front in fronts]),
        row=[i for front in fronts for i in front.rows],
        column_start=list_starts([front.columns for front in fronts]),
        column=[j for front in fronts for j in front.columns],
        target_start=list_starts(targets),
        target=[place for group in targets for place in group],
    )
    return Elimination._make(np.array(x, dtype=np.int64) for x in found)


def _number(indices: list[int]) -> dict[int, int]:
    return {index: k for k, index in enumerate(indices)}


def list_starts(groups: Sequence[Any]) -> Indices:
    """Return where each of some sequences begins if they follow one another, and the end."""
    return np.cumsum([0, *(len(group) for group in groups)], dtype=np.int64)
