"""The order of elimination of a sparse system, from its pattern alone.

Fewest entries first [Markowitz 1957], unknowns whose pivots may be zero (multipliers) after all
others, which leave them those of C M^-1 C^T.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


class Elimination(NamedTuple):
    """The order of elimination of a square system, and where its entries are kept.

    Attributes
    ----------
    pivot, diagonal : (n,)
        The row that each turn eliminates, and the place of its diagonal entry.
    row_start, row_column, row_place : (n + 1,), (k,), (k,)
        Its other entries: their columns and places.
    column_start, column_row, column_place : (n + 1,), (l,), (l,)
        The entries of its column in rows that are left.
    target_start, target : (n + 1,), (m,)
        The places that change: for each row that is left, one for each entry of the pivot's row.
    empty : (n,)
        Whether a late pivot is zero for certain, 0 or 1; by turns.
    """

    pivot: Any
    diagonal: Any
    row_start: Any
    row_column: Any
    row_place: Any
    column_start: Any
    column_row: Any
    column_place: Any
    target_start: Any
    target: Any
    empty: Any


class MatrixPlaces:
    """The places of a sparse matrix's entries in one array.

    Parameters
    ----------
    rows : sequence of columns
        Of each row.
    """

    def __init__(self, rows: Sequence[Iterable[int]]) -> None:
        self._place: dict[tuple[int, int], int] = {}
        self.rows = [set(row) for row in rows]
        for i, row in enumerate(rows):
            for j in sorted(set(row)):
                self.of(i, j)

    def __len__(self) -> int:
        return len(self._place)

    def of(self, i: int, j: int) -> int:
        """Return the place of an entry, a new one where there was none."""
        self.rows[i].add(j)
        return self._place.setdefault((i, j), len(self._place))


def plan_elimination(places: MatrixPlaces, late: Iterable[int]) -> Elimination:
    """Return the elimination of a matrix along its diagonal; fill is given places.

    Parameters
    ----------
    places : MatrixPlaces
        Row i is solved for unknown i.
    late : indices
        Rows that are eliminated after all others.
    """
    n, after = len(places.rows), set(late)
    left = [set(row) for row in places.rows]
    columns: list[set[int]] = [set() for _ in range(n)]
    for i, row in enumerate(left):
        for j in row:
            columns[j].add(i)
    turns, empty = [], []
    for group in (set(range(n)) - after, after):
        without = {i for i in group & after if i not in left[i]}
        while group:
            k = min(group, key=lambda i: ((len(left[i] - {i})) * (len(columns[i] - {i})), i))
            group.remove(k)
            empty.append(int(k in without))
            others, below = sorted(left[k] - {k}), sorted(columns[k] - {k})
            for i in below:
                left[i].discard(k)
                left[i].update(others)
                for j in others:
                    columns[j].add(i)
            for j in left[k]:
                columns[j].discard(k)
            turns.append((k, others, below))
    return _place_turns(places, turns, empty)


def _place_turns(
    places: MatrixPlaces, turns: Sequence[tuple[int, list[int], list[int]]], empty: list[int]
) -> Elimination:
    of = places.of
    rows = [others for _, others, _ in turns]
    columns = [below for *_, below in turns]
    targets = [[of(i, j) for i in below for j in others] for _, others, below in turns]
    found = Elimination(
        pivot=[k for k, *_ in turns],
        diagonal=[of(k, k) for k, *_ in turns],
        row_start=list_starts(rows),
        row_column=[j for row in rows for j in row],
        row_place=[of(k, j) for k, others, _ in turns for j in others],
        column_start=list_starts(columns),
        column_row=[i for column in columns for i in column],
        column_place=[of(i, k) for k, _, below in turns for i in below],
        target_start=list_starts(targets),
        target=[place for group in targets for place in group],
        empty=empty,
    )
    return Elimination._make(np.array(x, dtype=np.int64) for x in found)


def list_starts(groups: Sequence[Any]) -> Indices:
    """Return where each of some sequences begins if they follow one another, and the end."""
    return np.cumsum([0, *(len(group) for group in groups)], dtype=np.int64)
