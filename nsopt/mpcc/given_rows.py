"""Inequalities that given unknowns decide alone, such as the gap of a posture that is given.

A gap that is closed there is zero and no less, so nothing is strictly inside its limit. An
interior-point method that keeps limits as they are, as it must with complementarity, then has
multipliers without end. The row is a constant: its limit may lie further out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.structured import ConstraintBlock, Index, StructuredNlp

NARROW = 1e-2
"""Width of a range that counts as a value."""

ROOM = 1.0
"""By how much such limits lie further out, in scaled units."""


def given_unknowns(nlp: StructuredNlp) -> NDArray[np.bool_]:
    """Return which unknowns (n,) rows of their own leave one value, or as good as one."""
    given = np.zeros(nlp.x.numel(), dtype=bool)
    for block in nlp.blocks:
        rows, columns = _entries(block)
        alone = np.bincount(rows, minlength=block.rows)[rows] == 1
        equal = block.upper[:, rows] - block.lower[:, rows] <= NARROW
        given[block.columns[:, columns][equal & alone]] = True
    return given


def with_room(nlp: StructuredNlp, given: NDArray[np.bool_]) -> StructuredNlp:
    """Return a program for a solver, with room about inequalities of given unknowns alone.

    Whether they hold is for the program itself to judge.
    """
    return nlp.restated([_with_room(block, given) for block in nlp.blocks])


def _entries(block: ConstraintBlock) -> tuple[Index, Index]:
    """Return rows and unknowns of the entries in the Jacobian of an instance."""
    rows, columns = block.function.jac_sparsity(0, 0).get_triplet()
    return np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)


def _with_room(block: ConstraintBlock, given: NDArray[np.bool_]) -> ConstraintBlock:
    rows, columns = _entries(block)
    free = np.zeros((block.count, block.rows))
    for row, column in zip(rows, columns, strict=True):
        free[:, row] += ~given[block.columns[:, column]]
    depends = np.isin(np.arange(block.rows), rows)
    decided = (free == 0) & depends & (block.upper - block.lower > NARROW)
    lower, upper = block.lower - ROOM * decided, block.upper + ROOM * decided
    return replace(block, lower=lower, upper=upper)
