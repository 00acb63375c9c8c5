"""Limits that given unknowns are at, such as that of a gap in a posture that is given.

A gap that is closed there is zero and no less, so nothing is strictly inside its limit. An
interior-point method that keeps limits as they are, as it must with complementarity, then has
multipliers without end. The row is a constant: its limit may lie further out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsopt.mpcc.horizon.simple_bounds import find_unknown_of_rows
from nsopt.mpcc.horizon.structured import Array, StructuredNlp

NARROW = 1e-2  # width of limits that count as a value; how near to a limit a row counts as at it
ROOM = 1.0  # by how much such limits lie further out, in scaled units


def find_given_values(nlp: StructuredNlp) -> Array:
    """Return the values of unknowns that are rows by themselves and are given, (n,); others NaN."""
    values = np.full(nlp.x.numel(), np.nan)
    for block in nlp.blocks:
        narrow = block.upper - block.lower <= NARROW
        middle = (block.lower + block.upper) / 2
        for row, unknown in enumerate(find_unknown_of_rows(block)):
            if unknown >= 0:
                of = narrow[:, row]
                values[block.columns[of, unknown]] = middle[of, row]
    return values


def with_room(nlp: StructuredNlp, g: Array) -> StructuredNlp:
    """Return a program for a solver, with room about limits at which rows are by what is given.

    Whether they hold is for the program itself to judge. g (m,) are its rows at
    `find_given_values`; those that depend on others are not numbers.
    """
    at_limit = np.minimum(g - nlp.lower, nlp.upper - g) <= NARROW  # false of what is no number
    room = ROOM * (at_limit & (nlp.upper - nlp.lower > NARROW))
    blocks, first = [], 0
    for block in nlp.blocks:
        of = room[first : first + block.lower.size].reshape(block.lower.shape)
        blocks.append(replace(block, lower=block.lower - of, upper=block.upper + of))
        first += block.lower.size
    return nlp.restate(blocks)
