"""What of a leaf is computed once for p and what at every x, and how long routines are divided.

LLVM takes more than twice the time for a routine of twice the length. A long one is therefore a row
of pieces, and what one computes for another goes through a scratch array, which each call has on
its stack: so the code may run in many threads at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsopt.leaves.instructions import CONSTANT, INPUT, RESULT, Instructions, P, X
from nsopt.leaves.places import Place, Single

PIECE = 2000
"""Values in a piece at most; half or twice as many take LLVM about the same time."""


class Routine(NamedTuple):
    """A function without a result, which reads and writes arrays.

    Attributes
    ----------
    name : str
    arrays : tuple of str
        Its arguments.
    values : list of int
        What it computes, in order.
    given : dict of int to Place
        Where values are that it reads.
    wanted : dict of int to list of Place
        Where values go.
    instances : int
        How many it computes, in groups side by side; 0 for what is computed once.
    of_group : bool
        Whether it is of one group alone, whose first instance, k, is an argument.
    """

    name: str
    arrays: tuple[str, ...]
    values: list[int]
    given: Mapping[int, Place]
    wanted: Mapping[int, Sequence[Place]]
    instances: int = 0
    of_group: bool = False


class Division(NamedTuple):
    """What is computed once for p, what at every x, and what of p and the one the other reads."""

    once: list[int]
    always: list[int]
    kept: list[int]


def divide_values(instructions: Instructions) -> Division:
    """Return the values that are computed, in order."""
    once: list[int] = []
    always: list[int] = []
    for value, operation in enumerate(instructions.operation):
        if instructions.needed[value] and operation not in (CONSTANT, INPUT):
            (always if instructions.varies[value] else once).append(value)
    read = {*instructions.outputs}
    left, right, branches = instructions.left, instructions.right, instructions.branches
    read.update(left[value] for value in always)
    read.update(right[value] for value in always)
    read.update(x for value in always if value in branches for x in branches[value].operands)
    varies, constants = instructions.varies, instructions.constants
    return Division(once, always, sorted(v for v in read if not varies[v] and v not in constants))


def operands_of(instructions: Instructions, value: int) -> tuple[int, ...]:
    """Return the values that one is computed from."""
    if value in instructions.branches:
        return instructions.branches[value].operands
    return (instructions.left[value], instructions.right[value])


def divide(instructions: Instructions) -> tuple[Routine, Routine, int]:
    """Return ``prepare``, ``evaluate``, and how many numbers the one keeps for the other."""
    once, always, to_keep = divide_values(instructions)
    kept: dict[int, Place] = {value: Single("kept", entry) for entry, value in enumerate(to_keep)}
    stored = {value: [place] for value, place in kept.items()}
    prepare = Routine("prepare", ("p", "kept"), once, find_inputs(instructions, "p"), stored)
    x = find_inputs(instructions, "x")
    given, y = x | kept, find_outputs(instructions)
    return prepare, Routine("evaluate", ("x", "kept", "y"), always, given, y), len(kept)


def find_inputs(instructions: Instructions, array: str) -> dict[int, Single]:
    """Return where the inputs in x, or those in p, are."""
    return {
        value: Single(array, instructions.right[value])
        for value, operation in enumerate(instructions.operation)
        if operation == INPUT and instructions.left[value] == (X if array == "x" else P)
    }


def find_outputs(instructions: Instructions) -> dict[int, list[Single]]:
    """Return where in y values go."""
    y: dict[int, list[Single]] = {}
    for entry, value in enumerate(instructions.outputs):
        y.setdefault(value, []).append(Single("y", entry))
    return y


def routine_of_side(side: Instructions, name: str) -> Routine:
    """Return a side of a branch, from its operands to its results."""
    _, evaluate, _ = divide(side)
    return evaluate._replace(name=name, arrays=("x", "y"))


def divide_long(instructions: Instructions, routine: Routine) -> tuple[list[Routine], int]:
    """Divide a routine; return its pieces and the length of their scratch array."""
    left, right, branches = instructions.left, instructions.right, instructions.branches
    parts = divide_row(instructions, routine.values)
    last = [0] * len(left)  # the last part that reads a value
    for k, part in enumerate(parts):
        for value in part:
            last[left[value]] = last[right[value]] = k
            if value in branches:
                for operand in branches[value].operands:
                    last[operand] = k
    scratch, length = _places(parts, last)
    given = {**routine.given, **scratch}
    wanted = {value: [*places] for value, places in routine.wanted.items()}
    for value, place in scratch.items():
        wanted.setdefault(value, []).append(place)
    elsewhere = wanted.keys() - set(routine.values)
    pieces = []
    for k, part in enumerate(parts):
        stored = [*sorted(elsewhere), *part] if k == 0 else part
        here = {value: wanted[value] for value in stored if value in wanted}
        arrays = (*routine.arrays, "scratch")
        name, of_group = f"{routine.name}_{k}", routine.instances > 0
        pieces.append(Routine(name, arrays, part, given, here, of_group=of_group))
    return pieces, length


def divide_row(instructions: Instructions, values: list[int]) -> list[list[int]]:
    """Divide values into pieces, but no branch from its results."""
    parts, begin = [], 0
    while begin < len(values):
        end = begin + PIECE
        while end < len(values) and instructions.operation[values[end]] == RESULT:
            end += 1
        parts.append(values[begin:end])
        begin = end
    return parts


def _places(parts: list[list[int]], last: list[int]) -> tuple[dict[int, Place], int]:
    """Give each value that a later part reads a place; after its last part it is free again."""
    places: dict[int, Place] = {}
    free: list[int] = []
    length = 0
    freed: list[list[int]] = [[] for _ in parts]
    for k, part in enumerate(parts):
        for value in part:
            if last[value] > k:
                if not free:
                    free.append(length)
                    length += 1
                index = free.pop()
                places[value] = Single("scratch", index)
                freed[last[value]].append(index)
        free.extend(freed[k])
    return places, length
