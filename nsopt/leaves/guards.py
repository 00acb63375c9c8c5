"""What of a leaf is needed only where a condition holds, its guard: elsewhere it is not computed.

CasADi computes both alternatives of an `if_else`, and takes zero times what does not hold. What an
impact alone asks for, as velocities before it, may be most of a step, and few steps have one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import casadi as ca

from nsopt.leaves.instructions import BRANCH, CONSTANT, INPUT, RESULT, Instructions

LEAST = 60
"""Values of one condition from which on it is a guard: a jump that the processor does not foresee
takes as long as some fifty operations."""

_ALWAYS: frozenset[int] = frozenset()
"""No condition."""


def find_guards(instructions: Instructions, outputs: Iterable[int]) -> dict[int, int]:
    """Return the guard of each value that has one; ``outputs``: values that are always needed."""
    operation, left, right = instructions.operation, instructions.left, instructions.right
    needed: dict[int, frozenset[int]] = dict.fromkeys(outputs, _ALWAYS)  # where all of these hold
    computed: dict[int, frozenset[int]] = {}

    def need(value: int, where: frozenset[int]) -> None:
        known = needed.get(value)
        needed[value] = where if known is None else known & where

    for value in range(len(operation) - 1, -1, -1):
        where, what = needed.get(value), operation[value]
        if where is None or what in (INPUT, CONSTANT):
            continue
        if what in (BRANCH, RESULT, ca.OP_PRINTME):  # they do more than compute
            where = _ALWAYS
        if what == BRANCH:
            for operand in instructions.branches[value].operands:
                need(operand, _ALWAYS)
            continue
        computed[value] = where
        need(left[value], where)
        need(right[value], where | {left[value]} if what == ca.OP_IF_ELSE_ZERO else where)
    counts = Counter(condition for where in computed.values() for condition in where)
    frequent = {condition for condition, count in counts.items() if count >= LEAST}
    guards = {}
    for value, where in computed.items():
        if here := where & frequent:
            guards[value] = max(here, key=lambda condition: (counts[condition], condition))
    return guards


def order_by_guards(
    instructions: Instructions, values: Sequence[int], guards: Mapping[int, int]
) -> list[int]:
    """Return values in an order in which those of a guard stand together.

    What depends on none of them comes before them, all else behind.
    """
    level: dict[int, int] = {}  # how often the guard changes on the way to a value, at most
    for value in values:
        guard = guards.get(value)
        operands = [*instructions.operands_of(value), *([] if guard is None else [guard])]
        level[value] = max(
            level[x] + (x in guards and guards[x] != guard) if x in level else 0 for x in operands
        )
    return sorted(values, key=lambda value: (level[value], guards.get(value, -1), value))
