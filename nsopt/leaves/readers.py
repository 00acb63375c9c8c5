"""Which values are computed from others: those of one reader alone stand in its loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nsopt.leaves.instructions import BRANCH, CONSTANT, INPUT, RESULT, Instructions
from nsopt.leaves.routines import operands_of

FEWEST = 3
"""Instances of a loop at least."""

_APART = (INPUT, CONSTANT, BRANCH, RESULT)
"""Operations whose values no loop of another has."""


def count_readers(instructions: Instructions) -> list[int]:
    """Return of how many values each is an operand."""
    readers = [0] * len(instructions.operation)
    for value, needed in enumerate(instructions.needed):
        if needed and instructions.operation[value] not in (INPUT, CONSTANT):
            for operand in {*operands_of(instructions, value)}:
                readers[operand] += 1
    return readers


def part_by_readers(instructions: Instructions, kinds: Sequence[int]) -> list[int]:
    """Return kinds of which values with one reader are parted by what that is.

    All products of two inputs are alike. Those of one place in the sums of all bodies are then a
    kind of their own and need not go through memory, which takes longer than to multiply them.

    Parameters
    ----------
    instructions : Instructions
    kinds : sequence of int
        Of all values.
    """
    parted, members = [*kinds], Counter(kinds)
    reader = _find_readers(instructions)
    new = max(members, default=0) + 1
    for values in _divide_by_distance(instructions, reader):  # readers come first
        parts: dict[tuple[int, int, int], list[int]] = {}
        for value in values:
            of = reader[value]
            place = operands_of(instructions, of).index(value)
            parts.setdefault((kinds[value], parted[of], place), []).append(value)
        for (kind, of, _), part in parts.items():
            # All readers have theirs from it: what alike values read is alike.
            if len(part) == members[of] >= FEWEST:
                for value in part:
                    parted[value] = new
                members[new], members[kind] = len(part), members[kind] - len(part)
                new += 1
    return parted


def _find_readers(instructions: Instructions) -> list[int]:
    """Return the value that alone is computed from each; -1 where there are several, or none."""
    reader = [-1] * len(instructions.operation)
    many = {*instructions.outputs}
    for value, needed in enumerate(instructions.needed):
        if needed and instructions.operation[value] not in (INPUT, CONSTANT):
            for operand in {*operands_of(instructions, value)}:
                if reader[operand] >= 0:
                    many.add(operand)
                reader[operand] = value
    for value in many:
        reader[value] = -1
    return reader


def _divide_by_distance(instructions: Instructions, reader: Sequence[int]) -> list[list[int]]:
    """Return the values with one reader: those whose reader has several, those they read, ..."""
    groups: list[list[int]] = []
    distance = [0] * len(reader)  # from a value that has not one reader
    for value in range(len(reader) - 1, -1, -1):
        if reader[value] >= 0 and instructions.operation[value] not in _APART:
            distance[value] = distance[reader[value]] + 1
            if distance[value] > len(groups):
                groups.append([])
            groups[distance[value] - 1].append(value)
    return groups
