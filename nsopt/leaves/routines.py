"""What of a leaf is computed once for p and what at every x, and how long routines are divided.

LLVM takes more than twice the time for a routine of twice the length. A long one is therefore a row
of pieces, and what one computes for another goes through a scratch array, which each call has on
its stack: so the code may run in many threads at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from nsopt.leaves.instructions import CONSTANT, INPUT, RESULT, Instructions

PIECE = 2000
"""Values in a piece at most; half or twice as many take LLVM about the same time."""


class Place(NamedTuple):
    """An entry of one of the arrays."""

    array: str
    entry: int


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
    """

    name: str
    arrays: tuple[str, ...]
    values: list[int]
    given: Mapping[int, Place]
    wanted: Mapping[int, list[Place]]


def divide(instructions: Instructions) -> tuple[Routine, Routine, int]:
    """Return ``prepare``, ``evaluate``, and how many numbers the one keeps for the other."""
    varies, operands = instructions.varies, (instructions.left, instructions.right)
    x: dict[int, Place] = {}
    p: dict[int, Place] = {}
    once: list[int] = []
    always: list[int] = []
    for value, operation in enumerate(instructions.operation):
        if not instructions.needed[value] or operation == CONSTANT:
            continue
        if operation != INPUT:
            (always if varies[value] else once).append(value)
        elif varies[value]:
            x[value] = Place("x", instructions.right[value])
        else:
            p[value] = Place("p", instructions.right[value])
    y: dict[int, list[Place]] = {}
    for entry, value in enumerate(instructions.outputs):
        y.setdefault(value, []).append(Place("y", entry))
    read = y.keys() | {side[value] for side in operands for value in always}
    for value in instructions.branches.keys() & set(always):
        read.update(instructions.branches[value].operands)
    to_keep = sorted(v for v in read if not varies[v] and v not in instructions.constants)
    kept = {value: Place("kept", entry) for entry, value in enumerate(to_keep)}
    stored = {value: [place] for value, place in kept.items()}
    prepare = Routine("prepare", ("p", "kept"), once, p, stored)
    evaluate = Routine("evaluate", ("x", "kept", "y"), always, x | kept, y)
    return prepare, evaluate, len(kept)


def routine_of_side(side: Instructions, name: str) -> Routine:
    """Return a side of a branch, from its operands to its results."""
    _, evaluate, _ = divide(side)
    return evaluate._replace(name=name, arrays=("x", "y"))


def divide_long(instructions: Instructions, routine: Routine) -> tuple[list[Routine], int]:
    """Divide a routine; return its pieces and the length of their scratch array."""
    left, right, branches = instructions.left, instructions.right, instructions.branches
    parts = _parts(instructions, routine.values)
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
        pieces.append(Routine(f"{routine.name}_{k}", arrays, part, given, here))
    return pieces, length


def _parts(instructions: Instructions, values: list[int]) -> list[list[int]]:
    """Divide values, but no branch from its results."""
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
                places[value] = Place("scratch", index)
                freed[last[value]].append(index)
        free.extend(freed[k])
    return places, length
