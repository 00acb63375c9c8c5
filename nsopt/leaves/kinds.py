"""Which values of a program are alike: what a mechanism repeats, as each of its hinges.

A value is alike another if it is the same function of as many inputs in the same order. Inputs and
numbers of a mechanism are all alike; so bodies and joints of one kind need not be told apart by
anybody: their values are those that many inputs repeat.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import NamedTuple

from nsopt.leaves.instructions import BRANCH, CONSTANT, INPUT, RESULT, Instructions
from nsopt.leaves.operations import COMMUTATIVE

PLAIN = frozenset({0.0, 0.5, 1.0, 2.0})
"""Sizes of constants that formulas have; others are numbers of a mechanism, and no part of texts:
mechanisms that differ in numbers alone have the same code."""

MOST = 300
"""Most inputs of a value of one body or joint. A value of more belongs to the whole mechanism, as a
sum of all energies: no other is alike, and its inputs do not count as those of what reads it."""

WIDE = 1500
"""Most inputs of such a value times the number of its readers: a force by which all bodies are
judged has few inputs where bodies are few, but each of them reads it."""

BASE, SQUARE = 1 << 32, 1 << 64
"""Beyond all numbers of kinds and sets, and beyond all pairs of these. Keys are integers: of tuples
Python would collect garbage for long."""

SMALL = 1 << 16  # beyond numbers of operations, and of a branch's results


class Kinds(NamedTuple):
    """Values, and which are alike."""

    # Those given, operands that may be exchanged in the same order for values that are alike.
    instructions: Instructions
    # The kind of each value, by a number: values of one kind are alike; -1 if it is not needed.
    numbers: list[int]
    # Of each value the one that is computed from it, -1 for none, several, and of outputs.
    sole_readers: list[int]


def find_kinds(instructions: Instructions, routines: Sequence[Sequence[int]]) -> Kinds:
    """Return which values are alike: only those that the same ``routines`` compute."""
    operation, branches = instructions.operation, instructions.branches
    computing = [0] * len(operation)  # which routines compute a value, as bits
    for k, values in enumerate(routines):
        bit = SMALL << k
        for value in values:
            computing[value] |= bit
    left, right = [*instructions.left], [*instructions.right]
    sets, numbers, places = _InputSets(), _KindNumbers(), _place_inputs(instructions)
    counts, sole_readers = _find_readers(instructions)
    united, sizes = sets.united, sets.sizes
    none, too_large = sets.none, sets.too_large
    # Of each value: its kind, and the set of inputs that it is a function of.
    kinds, inputs = [-1] * len(operation), [none] * len(operation)
    for value, needed in enumerate(instructions.needed):
        if not needed:
            continue
        what = operation[value]
        if what == INPUT:
            inputs[value] = sets.find_single(places[value])
            kinds[value] = numbers.find((what, instructions.left[value]))
            continue
        if what == CONSTANT:
            constant = instructions.constants[value]
            kinds[value] = numbers.find((what, constant if abs(constant) in PLAIN else None))
            continue
        if what == BRANCH:
            branch = branches[value]
            inputs[value], *parts = sets.unite(*(inputs[x] for x in branch.operands))
            read = tuple(
                kinds[x] * BASE + part for x, part in zip(branch.operands, parts, strict=True)
            )
            key: Hashable = (what, branch.sides, branch.results, computing[value], read)
        else:
            a, b = left[value], right[value]
            found = united.get(inputs[a] * BASE + inputs[b]) or sets.unite(inputs[a], inputs[b])
            inputs[value], part_a, part_b = found
            first, second = kinds[a] * BASE + part_a, kinds[b] * BASE + part_b
            if second < first and what in COMMUTATIVE:
                left[value], right[value], first, second = b, a, second, first
            which = computing[value] + (a - value if what == RESULT else what + 1)
            key = (which * SQUARE + first) * SQUARE + second
        union = inputs[value]
        if union == too_large or counts[value] * sizes[union] > WIDE:
            inputs[value], kinds[value] = none, numbers.find(("alone", value))
        else:
            kinds[value] = numbers.find_nth(key, union)
    ordered = replace(instructions, left=left, right=right)
    return Kinds(ordered, kinds, sole_readers)


def _find_readers(instructions: Instructions) -> tuple[list[int], list[int]]:
    """Return how many values are computed from each, and the sole one, see `Kinds`."""
    counts, last = [0] * len(instructions.operation), [-1] * len(instructions.operation)
    for value, needed in enumerate(instructions.needed):
        if needed and instructions.operation[value] not in (INPUT, CONSTANT):
            for operand in {*instructions.operands_of(value)}:
                counts[operand] += 1
                last[operand] = value
    sole = [reader if count == 1 else -1 for reader, count in zip(last, counts, strict=True)]
    for value in instructions.outputs:
        sole[value] = -1
    return counts, sole


def _place_inputs(instructions: Instructions) -> dict[int, int]:
    """Return the places of inputs among all of them, by their entries.

    Not by where the program first reads them, which is not the same for all bodies.
    """
    number, entry = instructions.left, instructions.right
    needed = enumerate(instructions.needed)
    inputs = [k for k, is_needed in needed if is_needed and instructions.operation[k] == INPUT]
    inputs.sort(key=lambda value: (number[value], entry[value]))
    return {value: k for k, value in enumerate(inputs)}


class _KindNumbers:
    """Numbers of kinds, by what values of a kind have in common."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._counts: dict[int, int] = {}  # of values of a kind of the same inputs

    def find(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def find_nth(self, key: Hashable, inputs: int) -> int:
        """Return the number of a kind, another one for each value of the same set of inputs.

        These differ in numbers of the mechanism alone.
        """
        kind = self._numbers.setdefault(key, len(self._numbers))
        at = kind * BASE + inputs
        nth = self._counts.get(at, 0)
        self._counts[at] = nth + 1
        return self.find(("nth", kind, nth)) if nth else kind


class _InputSets:
    """Sets of inputs, by numbers.

    Attributes
    ----------
    sizes : list of int
        How many inputs are in each.
    united : dict
        What `unite` returned, by the numbers of sets: of two ``a * BASE + b``.
    """

    none, too_large = 0, -1

    def __init__(self) -> None:
        self._members = [0]  # of each set, as bits
        self.sizes = [0]
        self._numbers = {0: 0}  # by members
        self.united: dict[int | tuple[int, ...], tuple[int, ...]] = {}
        self._parts: dict[int, int] = {}  # numbers of parts, by which inputs of a set they are

    def find_single(self, place: int) -> int:
        """Return the set of one input, by its place among all of them."""
        return self._find(1 << place)

    def unite(self, *sets: int) -> tuple[int, ...]:
        """Return the union of sets, and for each which part of it that is, by a number."""
        key = sets[0] * BASE + sets[1] if len(sets) == 2 else sets
        found = self.united.get(key)
        if found is None:
            members = [self._members[x] for x in sets]
            union = reduce(or_, members)
            if union.bit_count() > MOST:
                found = (self.too_large, *sets)
            else:
                found = (self._find(union), *[self._find_part(some, union) for some in members])
            self.united[key] = found
        return found

    def _find(self, members: int) -> int:
        number = self._numbers.setdefault(members, len(self._members))
        if number == len(self._members):
            self._members.append(members)
            self.sizes.append(members.bit_count())
        return number

    def _find_part(self, some: int, union: int) -> int:
        """Return a number for which of the inputs some are: bit k is the k-th of the union."""
        if some == union:
            return 0
        part = 0
        while some:  # a row of ones at once
            lowest = some & -some
            rest = some & (some + lowest)
            ones = (1 << (some ^ rest).bit_count()) - 1
            part |= ones << (union & (lowest - 1)).bit_count()
            some = rest
        return self._parts.setdefault(part, 1 + len(self._parts))
