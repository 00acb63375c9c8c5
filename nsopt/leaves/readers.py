"""What is computed from each value: one that a single value reads is computed in the same loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nsopt.leaves.instructions import BRANCH, CONSTANT, INPUT, RESULT, Instructions
from nsopt.leaves.routines import operands_of

FEWEST = 3
"""Instances of a loop at least."""

_APART = (INPUT, CONSTANT, BRANCH, RESULT)
"""Operations whose values are not computed in the loop of their reader: they are given, or several
at once."""


class Readers(NamedTuple):
    """What is computed from each value.

    Attributes
    ----------
    counts : list of int
        How many values are.
    sole : list of int
        The value, where there is one and the value that it reads is no output; else -1.
    """

    counts: list[int]
    sole: list[int]


def find_readers(instructions: Instructions) -> Readers:
    """Return what is computed from each value."""
    counts, last = [0] * len(instructions.operation), [-1] * len(instructions.operation)
    left, right, branches = instructions.left, instructions.right, instructions.branches
    for value, needed in enumerate(instructions.needed):
        if not needed or instructions.operation[value] in (INPUT, CONSTANT):
            continue
        a, b = left[value], right[value]
        for operand in {*branches[value].operands} if value in branches else {a, b}:
            counts[operand] += 1
            last[operand] = value
    sole = [reader if count == 1 else -1 for reader, count in zip(last, counts, strict=True)]
    for value in instructions.outputs:
        sole[value] = -1
    return Readers(counts, sole)


def part_by_readers(
    instructions: Instructions, kinds: Sequence[int], readers: Readers
) -> list[int]:
    """Return kinds in which values that one value reads are parted by the place where it does.

    All products of two inputs are alike, say. Those that stand at one place in the sums of all
    bodies become a kind of their own, which is computed in the loop of these sums and does not go
    through memory; that takes longer than to multiply.

    Parameters
    ----------
    instructions : Instructions
    kinds : sequence of int
        Of all values: what has the same number is alike.
    readers : Readers
    """
    parted, members = [*kinds], Counter(kinds)
    new = max(members, default=0) + 1
    for values in _divide_by_distance(instructions, readers.sole):  # readers come first
        parts: dict[tuple[int, int, int], list[int]] = {}
        for value in values:
            reader = readers.sole[value]
            place = operands_of(instructions, reader).index(value)
            parts.setdefault((kinds[value], parted[reader], place), []).append(value)
        for (kind, reading, _), part in parts.items():
            # All readers of that kind must take part: what values of one kind read is of one kind.
            if len(part) == members[reading] >= FEWEST:
                for value in part:
                    parted[value] = new
                members[new], members[kind] = len(part), members[kind] - len(part)
                new += 1
    return parted


def _divide_by_distance(instructions: Instructions, sole: Sequence[int]) -> list[list[int]]:
    """Return values with a sole reader: those whose reader has none, then those it reads, ..."""
    groups: list[list[int]] = []
    distance = [0] * len(sole)  # from the next value without a sole reader
    for value in range(len(sole) - 1, -1, -1):
        if sole[value] >= 0 and instructions.operation[value] not in _APART:
            distance[value] = distance[sole[value]] + 1
            if distance[value] > len(groups):
                groups.append([])
            groups[distance[value] - 1].append(value)
    return groups
