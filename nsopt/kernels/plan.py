"""The order of elimination of a sparse system, and where its entries are kept, by the pattern.

Fewest entries first [Markowitz 1957], unknowns whose pivots may be zero (multipliers) after all
others, which leave them those of C M^-1 C^T. Unknowns are eliminated together in *fronts* [Duff and
Reid 1983, ACM TOMS 9(3)]: dense matrices of their rows, of the *border* rows that they change, and
of the columns that these have in common. What a border gets is then added where later fronts have
it, by index, which takes longer than arithmetic: fronts are joined wherever that saves time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

LANES = 4
"""Entries of a row that are computed at once, by instructions of vectors."""

FRONT, PIVOT, ROW, VECTOR, BORDER, ENTRY = 20.0, 10.0, 6.0, 1.5, 5.0, 2.5
"""Cycles of a processor, about, as measured: of a front, a pivot, a row that this changes, `LANES`
entries of that; of a row of the border, and of each entry that is added by index."""


class Front(NamedTuple):
    """Rows and columns of a dense matrix: those of the pivots, then of its border.

    Attributes
    ----------
    early, late : list of int
        Pivots, in order; the late ones once all early ones of all fronts are eliminated.
    rows, columns : set of int
        Of the border.
    """

    early: list[int]
    late: list[int]
    rows: set[int]
    columns: set[int]

    @property
    def pivots(self) -> list[int]:
        """All pivots in order."""
        return [*self.early, *self.late]

    @property
    def row_entries(self) -> int:
        """How many entries a row has: of its columns and the right side."""
        return len(self.early) + len(self.late) + len(self.columns) + 1

    @property
    def width(self) -> int:
        """How far rows are apart: there is room for `LANES` entries from the last one on."""
        return self.row_entries + LANES - 1

    def join(self, other: Front) -> Front:
        """Return the front of the pivots of both, those of ``other`` last."""
        early, late = self.early + other.early, self.late + other.late
        pivots = {*early, *late}
        return Front(
            early, late, (self.rows | other.rows) - pivots, (self.columns | other.columns) - pivots
        )


class Elimination(NamedTuple):
    """The order of elimination of a square system of n unknowns, and where its entries are kept.

    Entries are those of all fronts, one after another, row by row. A front of early and late pivots
    counts as two, of which the first has no border.

    Attributes
    ----------
    pivot, diagonal, rest, empty : (n,)
        By turns: the row that each eliminates, the place of its diagonal entry, how many entries
        follow that in its row, and whether it is zero for certain although the row is late, 0 or 1.
    right : (n,)
        The place of each row's right side.
    row_start, row_place, row_right : (n + 1,), (k,), (k,)
        By turns: of rows that are changed, the places of their entries in the pivot's column, and
        of their right sides.
    column_start, column, column_place : (n + 1,), (l,), (l,)
        By turns: columns that the pivot's row has entries in beside its own, and their places.
    first : (fronts + 1,)
        The turn at which each front begins.
    pivots, border, columns, width : (fronts,)
        How many columns come before those of the border; the place of its first row, how many
        columns it has with the right side, and how far rows are apart.
    target_start, target : (fronts + 1,), (m,)
        Where the entries of each border are added once its pivots are eliminated: by rows, the
        right side of each last.
    """

    pivot: Any
    diagonal: Any
    rest: Any
    empty: Any
    right: Any
    row_start: Any
    row_place: Any
    row_right: Any
    column_start: Any
    column: Any
    column_place: Any
    first: Any
    pivots: Any
    border: Any
    columns: Any
    width: Any
    target_start: Any
    target: Any


class Neighbours(NamedTuple):
    """Rows that a pivot changes, and columns in which it changes them."""

    rows: set[int]
    columns: set[int]


class MatrixPlaces:
    """The places of a sparse matrix's entries in one array; ``turns``: pivots in order.

    Attributes
    ----------
    size : int
        Of the array.
    nowhere : int
        Its last entry, to which nothing but zeros is added.
    """

    def __init__(self, fronts: Sequence[Front], turns: list[int]) -> None:
        self.fronts = fronts
        self._width = [x.width for x in fronts]
        counts = (len(x.early) + len(x.late) + len(x.rows) for x in fronts)
        sizes = [n * width for n, width in zip(counts, self._width, strict=True)]
        self.start = [0, *accumulate(sizes)]
        self._turn = _number_positions(turns)
        self._front = {k: f for f, front in enumerate(fronts) for k in front.pivots}
        self._row = [_number_positions([*x.pivots, *sorted(x.rows)]) for x in fronts]
        self._column = [_number_positions([*x.pivots, *sorted(x.columns)]) for x in fronts]
        self.nowhere, self.size = self.start[-1], self.start[-1] + 1

    def of(self, i: int, j: int) -> int:
        """Return the place of an entry: in the front of its row or its column, the earlier one."""
        f = self._front[i if self._turn[i] < self._turn[j] else j]
        return self._at(f, i, self._column[f][j])

    def of_border(self, i: int, j: int) -> int:
        """Return the place of an entry of a border, ``nowhere`` if it is zero in all fronts.

        So may be one in the row of one pivot and the column of another one that joined it.
        """
        f = self._front[i if self._turn[i] < self._turn[j] else j]
        return self.of(i, j) if i in self._row[f] and j in self._column[f] else self.nowhere

    def right(self, i: int) -> int:
        """Return the place of a row's right side."""
        f = self._front[i]
        return self._at(f, i, len(self._column[f]))

    def border(self, f: int) -> int:
        """Return the place of the first entry of a front's border."""
        return self.start[f] + len(self.fronts[f].pivots) * self._width[f]

    def _at(self, f: int, i: int, column: int) -> int:
        return self.start[f] + self._row[f][i] * self._width[f] + column


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
    late_rows = set(late)
    rows_left = [set(row) for row in rows]
    columns_left: list[set[int]] = [set() for _ in rows_left]
    for i, row in enumerate(rows_left):
        for j in row:
            columns_left[j].add(i)
    neighbours = _choose_order(rows_left, columns_left, set(range(len(rows_left))) - late_rows)
    empty = {i for i in late_rows if i not in rows_left[i]}
    neighbours |= _choose_order(rows_left, columns_left, late_rows)
    fronts = _join_late(*_choose_fronts(neighbours, late_rows), neighbours)
    return _place_fronts(fronts, neighbours, empty)


def _choose_order(
    rows: list[set[int]], columns: list[set[int]], group: set[int]
) -> dict[int, Neighbours]:
    """Eliminate the rows of a group from the pattern; return the neighbours of each, in order.

    ``rows`` are the columns of each row of what is left of the matrix, ``columns`` the rows of each
    column; both are changed.
    """

    def cost(i: int) -> tuple[int, int]:
        return (len(rows[i]) - (i in rows[i])) * (len(columns[i]) - (i in columns[i])), i

    costs = {i: cost(i) for i in group}
    cheapest = sorted(costs.values())  # a heap, of costs that were since changed too
    found = {}
    while costs:
        least = heappop(cheapest)
        k = least[1]
        if costs.get(k) != least:
            continue
        del costs[k]
        others, below = rows[k] - {k}, columns[k] - {k}
        for i in below:
            rows[i].discard(k)
            rows[i] |= others
        for j in others:
            columns[j].discard(k)
            columns[j] |= below
        for i in below | others:
            if i in costs and costs[i] != (new := cost(i)):
                costs[i] = new
                heappush(cheapest, new)
        found[k] = Neighbours(below, others)
    return found


def _choose_fronts(
    neighbours: dict[int, Neighbours], late_rows: set[int]
) -> tuple[list[Front], list[Front]]:
    """Return fronts of early and of late pivots, in order.

    A pivot joins fronts before it that it is the first to be changed by, and those that change the
    same pivot first as it does. Either goes to the end of the order, for no other front since has
    had pivots in its border.
    """
    turn = _number_positions([*neighbours])
    found: list[dict[int, list[Front]]] = [{}, {}]  # by the pivot that is changed first
    for k, (rows, columns) in neighbours.items():
        by_next = found[k in late_rows]
        front = Front([], [k], rows, columns) if k in late_rows else Front([k], [], rows, columns)
        children, siblings = by_next.pop(k, []), by_next.pop(_find_next(front, turn), [])
        apart = []
        for other in [*children, *siblings]:
            joined = _join_if_faster(other, front, neighbours)
            if joined:
                front = joined
            else:
                apart.append(other)
        for x in [*apart, front]:
            by_next.setdefault(_find_next(x, turn), []).append(x)
    early, late = (
        sorted((x for fronts in some.values() for x in fronts), key=lambda x: turn[x.pivots[-1]])
        for some in found
    )
    return early, late


def _find_next(front: Front, turn: dict[int, int]) -> int:
    """Return the pivot that is the first to be changed by a front, -1 for none."""
    return min(front.rows | front.columns, key=turn.__getitem__, default=-1)


def _join_late(
    early: list[Front], late: list[Front], neighbours: dict[int, Neighbours]
) -> list[Front]:
    """Return all fronts, early ones joined with late ones that have all of their borders as pivots.

    What others get of early pivots would come too late.
    """
    front_of = {k: f for f, front in enumerate(late) for k in front.late}
    late, alone = [*late], []
    for front in early:
        where = {front_of.get(k, -1) for k in front.rows | front.columns}
        f = where.pop() if len(where) == 1 else -1
        joined = _join_if_faster(front, late[f], neighbours) if f >= 0 else None
        if joined:
            late[f] = joined
        else:
            alone.append(front)
    return [*alone, *late]


def _join_if_faster(first: Front, second: Front, neighbours: dict[int, Neighbours]) -> Front | None:
    def estimate_cycles(front: Front) -> float:
        count, cycles = front.row_entries, FRONT
        cycles += len(front.rows) * (BORDER + ENTRY * (len(front.columns) + 1))
        return cycles + sum(
            PIVOT + len(neighbours[k].rows) * (ROW + VECTOR * -(-(count - nth - 1) // LANES))
            for nth, k in enumerate(front.pivots)
        )

    joined = first.join(second)
    is_faster = estimate_cycles(joined) < estimate_cycles(first) + estimate_cycles(second)
    return joined if is_faster else None


def _place_fronts(
    fronts: list[Front], neighbours: dict[int, Neighbours], empty: set[int]
) -> tuple[Elimination, MatrixPlaces, int]:
    """Return the elimination, its entries, and the first late front."""
    parts = [(f, x.early, not x.late) for f, x in enumerate(fronts) if x.early]
    first_late = len(parts)
    parts += [(f, x.late, True) for f, x in enumerate(fronts) if x.late]
    turns = [k for _, pivots, _ in parts for k in pivots]
    places = MatrixPlaces(fronts, turns)
    turn = _number_positions(turns)
    rows = [sorted(neighbours[k].rows) for k in turns]
    # What substitution finds last comes last.
    columns = [sorted(neighbours[k].columns, key=lambda j: -turn[j]) for k in turns]
    targets = [
        [
            place
            for i in sorted(fronts[f].rows)
            for place in (
                *(places.of_border(i, j) for j in sorted(fronts[f].columns)),
                places.right(i),
            )
        ]
        if ends
        else []
        for f, _, ends in parts
    ]
    front_of = {k: x for x in fronts for k in x.pivots}
    found = Elimination(
        pivot=turns,
        diagonal=[places.of(k, k) for k in turns],
        rest=[front_of[k].row_entries - front_of[k].pivots.index(k) - 1 for k in turns],
        empty=[k in empty for k in turns],
        right=[places.right(i) for i in range(len(turns))],
        row_start=list_starts(rows),
        row_place=[places.of(i, k) for k, group in zip(turns, rows, strict=True) for i in group],
        row_right=[places.right(i) for group in rows for i in group],
        column_start=list_starts(columns),
        column=[j for group in columns for j in group],
        column_place=[
            places.of(k, j) for k, group in zip(turns, columns, strict=True) for j in group
        ],
        first=list_starts([pivots for _, pivots, _ in parts]),
        pivots=[len(fronts[f].pivots) for f, _, _ in parts],
        border=[places.border(f) for f, _, _ in parts],
        columns=[len(fronts[f].columns) + 1 for f, _, _ in parts],
        width=[fronts[f].width for f, _, _ in parts],
        target_start=list_starts(targets),
        target=[place for group in targets for place in group],
    )
    return Elimination._make(np.array(x, dtype=np.int64) for x in found), places, first_late


def _number_positions(indices: list[int]) -> dict[int, int]:
    return {index: k for k, index in enumerate(indices)}


def list_starts(groups: Sequence[Any]) -> Indices:
    """Return where each of some sequences begins if they follow one another, and the end."""
    return np.cumsum([0, *(len(group) for group in groups)], dtype=np.int64)
