"""A square program as numbers: its terms, and of which of them each row is made.

The machine code of a program gives the values and derivatives of its *terms*: its scaled equations,
and what the min map chooses from. A row is one term or a combination of a few, with weights that
depend on which alternative holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.kernels.plan import Elimination, list_starts, plan_elimination

Indices = NDArray[np.int64]
EQUATIONS, PAIRS, BOXES, DISCS, FIRST_EVENTS, EVENTS, TERMS, ROWS, ENTRIES, LATE = range(10)
"""Places in `Square.sizes`."""

SQUARES = 64
"""How many programs are kept in a process, whose order of elimination takes long to find."""


class Sizes(NamedTuple):
    """How many of each a program has.

    Rows come in the order of these fields, two for each disc, and terms likewise: one of each
    equation; G of all pairs, then H; z - lower, z - upper, F and z of all boxes; z, F, radius of
    all discs; the events of each first event.
    """

    equations: int
    pairs: int
    boxes: int
    discs: int
    first_events: int
    events: int

    @property
    def rows(self) -> int:
        """Number of rows, and of unknowns."""
        return self.equations + self.pairs + self.boxes + 2 * self.discs + self.first_events

    @property
    def terms(self) -> int:
        """Number of terms."""
        return self.equations + 2 * self.pairs + 4 * self.boxes + 5 * self.discs + self.events


class Square(NamedTuple):
    """A square program of n unknowns as index arrays.

    Attributes
    ----------
    sizes : (10,)
        The fields of `Sizes`; numbers of terms, of rows, of entries of all fronts, and the front at
        which the elimination of late rows begins; in the order of the names above.
    match : (n,)
        The unknown that each row is solved for.
    event_start : (first events + 1,)
        The events of each, counted from the first.
    term_start, term_column : (terms + 1,), (nz,)
        Derivatives of the terms: where those of each begin, by which unknown each is.
    part_row, part_term, part_start, part_place : (parts,), (parts,), (parts + 1,), (k,)
        The parts of rows: the term of each, and the places in the matrix of its derivatives.
    redundant_start, redundant_row, redundant_place : (sets + 1,), (rows,), (rows,)
        Sets of rows some of which follow from the others: the rows, the places of their pivots.
    plan : Elimination
    """

    sizes: Indices
    match: Indices
    event_start: Indices
    term_start: Indices
    term_column: Indices
    part_row: Indices
    part_term: Indices
    part_start: Indices
    part_place: Indices
    redundant_start: Indices
    redundant_row: Indices
    redundant_place: Indices
    plan: Elimination

    @property
    def arrays(self) -> list[Indices]:
        """All arrays, those of the plan last."""
        *own, plan = self
        return [*own, *plan]

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return len(self.match)

    @property
    def head(self) -> int:
        """How many values the machine code gives beside derivatives: terms, which are active."""
        return int(self.sizes[TERMS] + self.sizes[PAIRS] + self.sizes[EVENTS])

    @property
    def values(self) -> int:
        """How many values the machine code gives: terms, which are active, derivatives."""
        return self.head + int(self.term_start[-1])


Numbers = tuple[int, ...]


@lru_cache(maxsize=SQUARES)
def make_square(
    sizes: Sizes,
    events: Numbers,
    match: Numbers,
    columns: tuple[Numbers, ...],
    redundant: tuple[Numbers, ...],
) -> Square:
    """Return a square program, the same one for mechanisms that differ in numbers alone.

    Parameters
    ----------
    sizes : Sizes
    events : tuple of int
        Number of events of each first event.
    match : tuple of int
        The unknown that each row is solved for.
    columns : tuple of tuples
        By which unknowns each term has a derivative.
    redundant : tuple of tuples
        Sets of equations some of which follow from the others; they are solved for multipliers.
    """
    terms = terms_of_rows(sizes, events)
    row_of = {unknown: i for i, unknown in enumerate(match)}
    in_rows = [[row_of[j] for j in term] for term in columns]
    pattern = [{j for t in parts for j in in_rows[t]} for parts in terms]
    # Eliminated last, for whether they have a pivot is known in the solve alone: rows of the min
    # map, by which alternative holds, and equations without the unknown that they are matched with.
    late = [i for i, row in enumerate(pattern) if i >= sizes.equations or i not in row]
    plan, places, first_late = plan_elimination(pattern, late)
    parts = [(i, t) for i, found in enumerate(terms) for t in found]
    of_parts = [[places.of(i, j) for j in in_rows[t]] for i, t in parts]
    return Square(
        sizes=_array([*sizes, sizes.terms, sizes.rows, places.size, first_late]),
        match=_array(match),
        event_start=_array([0, *accumulate(events)]),
        term_start=list_starts(columns),
        term_column=_array([j for term in columns for j in term]),
        part_row=_array([i for i, _ in parts]),
        part_term=_array([t for _, t in parts]),
        part_start=list_starts(of_parts),
        part_place=_array([place for part in of_parts for place in part]),
        redundant_start=list_starts(redundant),
        redundant_row=_array([i for rows in redundant for i in rows]),
        redundant_place=_array([places.of(i, i) for rows in redundant for i in rows]),
        plan=plan,
    )


def terms_of_rows(sizes: Sizes, events: Sequence[int]) -> list[list[int]]:
    """Return the terms that each row may be made of; ``events`` as for `make_square`."""
    e, p, b, d, *_ = sizes
    G = e
    low = G + 2 * p
    z = low + 4 * b
    first = z + 5 * d
    rows = [[i] for i in range(e)]
    rows += [[G + k, G + p + k] for k in range(p)]
    rows += [[low + k, low + b + k, low + 2 * b + k, low + 3 * b + k] for k in range(b)]
    for k in range(d):
        of_disc = [*(z + 2 * k + i for i in (0, 1, 2 * d, 2 * d + 1)), z + 4 * d + k]
        rows += [of_disc, of_disc]
    for count in events:
        rows.append(list(range(first, first + count)))
        first += count
    return rows


def own_terms(sizes: Sizes, events: Sequence[int]) -> list[int]:
    """Return the term of each row in which the unknown that the row is for stands by itself.

    That is H of a pair, z - lower of a box, z of a disc, the first of some events.
    """
    e, p, b, d, *_ = sizes
    H = e + p
    low = H + p
    z = low + 4 * b
    first = accumulate(events[:-1], initial=z + 5 * d) if events else ()
    return [*range(e), *range(H, low), *range(low, low + b), *range(z, z + 2 * d), *first]


def _array(numbers: Sequence[int]) -> Indices:
    return np.array(numbers, dtype=np.int64)


class Workspace(NamedTuple):
    """The numbers of a program while it is solved.

    Attributes
    ----------
    kept : (kept,)
        What the machine code keeps of the parameters.
    x, r, dx : (n,)
        Scaled unknowns, rows, and Newton's direction by rows.
    known : (np,)
        Parameters.
    y : (values,)
        Values of the machine code.
    at : (terms,)
        Terms at the last proximal point.
    share, slopes : (pairs + boxes + 2 discs,)
        Factors of G and F in the rows at hand, 1 in those of the program itself, and in those of
        all proximal points (`weigh_slopes`).
    weight : (parts,)
        Of each term in each row.
    A : (entries,)
        The matrix, then what elimination leaves of it.
    shift : (n,)
        What is added to the pivots of late rows.
    redundant : (1,)
        Whether some rows follow from others, 0 or 1, as told or, with discs, found in this solve.
    start, last, trial, best : (n,)
        Unknowns that a search begins from, of its last point, and at hand.
    """

    kept: Array
    x: Array
    r: Array
    dx: Array
    known: Array
    y: Array
    at: Array
    share: Array
    slopes: Array
    weight: Array
    A: Array
    shift: Array
    redundant: Array
    start: Array
    last: Array
    trial: Array
    best: Array


def workspace_sizes(s: Square, known: int, kept: int) -> list[int]:
    """Return the sizes of a workspace's arrays."""
    projections = int(s.sizes[PAIRS] + s.sizes[BOXES] + 2 * s.sizes[DISCS])
    n, terms, entries = s.n, int(s.sizes[TERMS]), int(s.sizes[ENTRIES])
    of_unknowns = dict.fromkeys(("x", "r", "dx", "start", "last", "trial", "best"), n)
    of_projections = dict.fromkeys(("share", "slopes"), projections)
    given = {"known": known, "kept": kept, "y": s.values, "at": terms}
    sizes = of_unknowns | of_projections | given | {"weight": len(s.part_row)}
    sizes |= {"A": entries, "shift": n, "redundant": 1}
    return [sizes[name] for name in Workspace._fields]


def pack(s: Square, workspace: list[int]) -> Indices:
    """Return a program as one array: where each of its arrays and of its workspace begins, then it.

    Parameters
    ----------
    s : Square
    workspace : list of int
        Sizes of the workspace's arrays.
    """
    header = len(s.arrays) + 1 + len(workspace) + 1
    return np.concatenate(
        [header + list_starts(s.arrays), np.cumsum([0, *workspace]), *s.arrays], dtype=np.int64
    )
