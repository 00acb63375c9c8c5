"""Which values of a program are alike: what a mechanism repeats, as each of its hinges.

A value is alike another if it is the same function of as many inputs in the same order. Inputs and
numbers of a mechanism are all alike; so bodies and joints of one kind need not be told apart by
anybody: their values are those that many inputs repeat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from typing import Any, NamedTuple

from nsopt.leaves.instructions import BRANCH, CONSTANT, INPUT, RESULT, Instructions
from nsopt.leaves.operations import COMMUTATIVE

PLAIN = frozenset({0.0, 0.5, 1.0, 2.0})
"""Sizes of constants that formulas have; others are numbers of a mechanism, and no part of texts:
mechanisms that differ in numbers alone have the same code."""

MOST = 100
"""Inputs of a value of an element at most. One of more is a sum over a mechanism, say; it is alike
no other, and what it is a part of depends on the other operand alone."""


class Kinds(NamedTuple):
    """Values, and which are alike.

    Attributes
    ----------
    instructions : Instructions
        Those given, operands that may be exchanged in the same order for values that are alike.
    numbers : list of int
        Values with the same one are alike; -1 for those that are not needed.
    """

    instructions: Instructions
    numbers: list[int]


def find_kinds(instructions: Instructions) -> Kinds:
    """Return which values are alike."""
    find = _Finder(instructions)
    for value, needed in enumerate(instructions.needed):
        if needed:
            find.add(value)
    return Kinds(replace(instructions, left=find.left, right=find.right), find.kinds)


class _Finder:
    def __init__(self, instructions: Instructions) -> None:
        self._of = instructions
        n = len(instructions.operation)
        self.kinds = [-1] * n
        self.left, self.right = [*instructions.left], [*instructions.right]
        self._inputs = [0] * n  # that a value depends on, as bits
        self._count = 0  # of inputs
        self._numbers: dict[Hashable, int] = {}
        self._seen: Counter[tuple[int, int]] = Counter()
        self._places: dict[tuple[int, int], int] = {}

    def add(self, value: int) -> None:
        """Find the kind of a value whose operands have theirs."""
        of, what = self._of, self._of.operation[value]
        if what == CONSTANT:
            number = of.constants[value]
            key: Any = (what, number if abs(number) in PLAIN else None)
            self.kinds[value] = self._number(key)
            return
        if what == INPUT:
            self._inputs[value] = 1 << self._count
            self._count += 1
            self.kinds[value] = self._number((what, of.varies[value]))
            return
        operands = self._operands(value, what)
        inputs = 0
        for operand in operands:
            inputs |= self._inputs[operand]
        if inputs.bit_count() > MOST:
            self.kinds[value] = self._number((value,))
            return
        read = [(self.kinds[x], self._place(self._inputs[x], inputs)) for x in operands]
        if what in COMMUTATIVE and read[1] < read[0]:
            read.reverse()
            self.left[value], self.right[value] = self.right[value], self.left[value]
        extra = self._extra(value, what)
        number = self._number((what, extra, of.varies[value], *read))
        nth = self._seen[number, inputs]  # the same function of the same inputs, in other numbers
        self._seen[number, inputs] += 1
        self.kinds[value] = self._number((number, nth)) if nth else number
        self._inputs[value] = inputs

    def _operands(self, value: int, what: int) -> tuple[int, ...]:
        if what == BRANCH:
            return self._of.branches[value].operands
        if what == RESULT:
            return (self._of.left[value],)
        return (self._of.left[value], self._of.right[value])

    def _extra(self, value: int, what: int) -> Hashable:
        """Return what a value is made by beside its operation and operands."""
        if what == BRANCH:
            branch = self._of.branches[value]
            return (branch.sides, branch.results)
        return value - self._of.left[value] if what == RESULT else None

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _place(self, some: int, of: int) -> int:
        """Return which of the inputs some are, as bits: bit k is the k-th of them."""
        place = self._places.get((some, of))
        if place is None:
            place, k, rest = 0, 0, of
            while rest:
                lowest = rest & -rest
                if some & lowest:
                    place |= 1 << k
                k += 1
                rest ^= lowest
            self._places[some, of] = place
        return place
