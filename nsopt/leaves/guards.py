"""What of a leaf is needed only where a condition holds: elsewhere it is not computed.

CasADi computes both alternatives of an `if_else`, and takes zero times what does not hold. What an
impact alone asks for, as velocities before it, may be most of a step, and few steps have one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import casadi as ca

from nsopt.leaves.instructions import BRANCH, CONSTANT, INPUT, RESULT, Instructions

LEAST = 60
"""Values of one condition from which on it is looked at: a jump that is not foreseen takes as long
as some fifty operations."""

_NOWHERE: frozenset[int] = frozenset()


def find_guards(instructions: Instructions, outputs: Iterable[int]) -> dict[int, int]:
    """Return the condition of each value that is needed only where one holds.

    Parameters
    ----------
    instructions : Instructions
    outputs : iterable of int
        The values that are always needed.
    """
    operation, left, right = instructions.operation, instructions.left, instructions.right
    needed_where: dict[int, frozenset[int]] = dict.fromkeys(outputs, _NOWHERE)
    found: dict[int, frozenset[int]] = {}

    def need(value: int, where: frozenset[int]) -> None:
        known = needed_where.get(value)
        needed_where[value] = where if known is None else known & where

    for value in range(len(operation) - 1, -1, -1):
        where, what = needed_where.get(value), operation[value]
        if where is None or what in (INPUT, CONSTANT):
            continue
        if what in (BRANCH, RESULT, ca.OP_PRINTME):  # they do more than compute
            where = _NOWHERE
        if what == BRANCH:
            for operand in instructions.branches[value].operands:
                need(operand, _NOWHERE)
            continue
        found[value] = where
        holds = what == ca.OP_IF_ELSE_ZERO
        need(left[value], where)
        need(right[value], where | {left[value]} if holds else where)
    counts = Counter(condition for where in found.values() for condition in where)
    often = {condition for condition, count in counts.items() if count >= LEAST}
    chosen = {}
    for value, where in found.items():
        if here := where & often:
            chosen[value] = max(here, key=lambda condition: (counts[condition], condition))
    return chosen


def order_by_guards(
    instructions: Instructions, values: Sequence[int], guards: Mapping[int, int]
) -> list[int]:
    """Return values in an order in which those of a condition stand together.

    What depends on none of them comes before them, all else behind.
    """
    left, right, branches = instructions.left, instructions.right, instructions.branches
    level: dict[int, int] = {}
    for value in values:
        guard = guards.get(value)
        operands = [left[value], right[value], *([] if guard is None else [guard])]
        if value in branches:
            operands.extend(branches[value].operands)
        level[value] = max(
            level[x] + (x in guards and guards[x] != guard) if x in level else 0 for x in operands
        )
    return sorted(values, key=lambda value: (level[value], guards.get(value, -1), value))
