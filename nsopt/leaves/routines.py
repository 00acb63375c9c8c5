"""What of a leaf is computed once for p and what at every x, and how long routines are divided.

LLVM takes more than twice the time for a routine of twice the length. A long one is therefore a row
of pieces, and what one computes for another goes through a scratch array, which each call has on
its stack: so the code may run in many threads at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsopt.leaves.instructions import CONSTANT, INPUT, RESULT, Instructions, X
from nsopt.leaves.places import Place, Single
from nsopt.leaves.turns import InTurn

PIECE = 2000
"""Values in a piece at most; half or twice as many take LLVM about the same time."""

COPIES = 300
"""Numbers that a piece copies at most: level 2 takes 1.4 s for two thousand, for fourteen thousand
half a minute."""


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
    guards : dict of int to int
        The condition of each value that is computed only where one holds, see `find_guards`.
    """

    name: str
    arrays: tuple[str, ...]
    values: list[int]
    given: Mapping[int, Place]
    wanted: Mapping[int, Sequence[Place]]
    instances: int = 0
    of_group: bool = False
    guards: Mapping[int, int] = {}


class Share(NamedTuple):
    """What a routine computes.

    Attributes
    ----------
    name, arrays
        See `Routine`.
    values : list of int
        In order.
    given : dict of int to Single
        Where inputs are.
    outputs : list of int
        The values of entries of y.
    first : int
        The first of these entries.
    keeps : bool
        Whether the routines after it read its values; else they compute them anew.
    kept : list of int
        Of its values and of inputs, those that it writes for the routines after it.
    """

    name: str
    arrays: tuple[str, ...]
    values: list[int]
    given: dict[int, Single]
    outputs: list[int]
    first: int
    keeps: bool
    kept: list[int]

    @property
    def targets(self) -> dict[int, list[Single]]:
        """Where in y values go."""
        y: dict[int, list[Single]] = {}
        for entry, value in enumerate(self.outputs, self.first):
            y.setdefault(value, []).append(Single("y", entry))
        return y


def divide_values(instructions: Instructions, turns: InTurn) -> list[Share]:
    """Return what is computed once for all inputs before x, at every x, for some x; at the end.

    What does not depend on the x at hand is computed by the first of them that needs it alone. What
    is computed at every x is kept from the last one: the x that is known to those after it.
    """
    done = bytearray(operation in (CONSTANT, INPUT) for operation in instructions.operation)
    copied, names = set[int](), turns.routines
    shares: list[Share] = []
    given = _find_inputs(instructions, "p", dict(enumerate(turns.first)))
    for k, outputs in enumerate(turns.outputs, X):
        needed = _find_values(instructions, outputs, done)
        once = [value for value in needed if instructions.stage[value] < k]
        at_x = [value for value in needed if instructions.stage[value] >= k]
        own = _find_inputs(instructions, "x", {k: 0})
        read = _find_operands(instructions, at_x).union(outputs)
        copies = sorted(read.intersection(given).difference(own, copied))
        for value in once:
            done[value] = True
        head = turns.heads[k - X]
        always = _find_values(instructions, outputs[:head], done)
        for value in always:
            done[value] = True
        others = [value for value in at_x if not done[value]]
        prepare, evaluate, complete = names[3 * (k - X) : 3 * (k - X) + 3]
        arrays = ("x", "kept", "y")
        shares += [
            Share(prepare, ("p", "kept"), once, given, [], 0, True, copies),
            Share(evaluate, arrays, always, own, outputs[:head], 0, True, []),
            Share(complete, arrays, others, own, outputs[head:], head, False, []),
        ]
        copied.update(copies)
    for name, outputs in zip(names[3 * len(turns.outputs) :], turns.last, strict=True):
        needed = _find_values(instructions, outputs, done)
        shares.append(Share(name, ("p", "kept", "y"), needed, given, outputs, 0, False, []))
    later = set[int]()
    for share in reversed(shares):
        if share.keeps:
            share.kept.extend(sorted(later.intersection(share.values)))
        later.update(share.outputs, _find_operands(instructions, share.values))
    return shares


def _find_values(instructions: Instructions, outputs: Sequence[int], done: bytearray) -> list[int]:
    """Return the values that outputs are computed from, in order.

    ``done`` tells which need not be computed: entry of a value 1.
    """
    left, right, branches = instructions.left, instructions.right, instructions.branches
    seen, found, ahead = done[:], list[int](), [*outputs]
    while ahead:
        value = ahead.pop()
        if seen[value]:
            continue
        seen[value] = True
        found.append(value)
        if value in branches:
            ahead += branches[value].operands
            results = range(value + 1, value + 1 + branches[value].results)  # they come with it
            ahead += (x for x in results if instructions.needed[x])
        else:
            ahead.append(left[value])
            ahead.append(right[value])
    return sorted(found)


def _find_inputs(
    instructions: Instructions, array: str, first: Mapping[int, int]
) -> dict[int, Single]:
    """Return where in an array inputs are, some of which begin there at ``first``."""
    number, entry = instructions.left, instructions.right
    return {
        value: Single(array, first[number[value]] + entry[value])
        for value, operation in enumerate(instructions.operation)
        if operation == INPUT and number[value] in first
    }


def operands_of(instructions: Instructions, value: int) -> tuple[int, ...]:
    """Return the values that one is computed from."""
    if value in instructions.branches:
        return instructions.branches[value].operands
    return (instructions.left[value], instructions.right[value])


def _find_operands(instructions: Instructions, values: Sequence[int]) -> set[int]:
    """Return all values that some are computed from."""
    left, right, branches = instructions.left, instructions.right, instructions.branches
    read = {*map(left.__getitem__, values), *map(right.__getitem__, values)}
    return read.union(*(branches[value].operands for value in values if value in branches))


def place_values(shares: Sequence[Share]) -> tuple[list[Routine], int]:
    """Return the routines, in turn, and how many numbers they keep for each other."""
    routines, kept = [], dict[int, Place]()
    for share in shares:
        wanted: dict[int, list[Place]] = {x: [*places] for x, places in share.targets.items()}
        new = {value: Single("kept", entry) for entry, value in enumerate(share.kept, len(kept))}
        for value, place in new.items():
            wanted.setdefault(value, []).append(place)
        given = {**kept, **share.given}
        routines.append(Routine(share.name, share.arrays, share.values, given, wanted))
        kept |= new
    return routines, len(kept)


def routine_of_side(side: Instructions, name: str) -> Routine:
    """Return a side of a branch, from its operands to its results."""
    (_, evaluate, _), _ = place_values(divide_values(side, InTurn.of(side)))
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
    stored = [{value: wanted[value] for value in part if value in wanted} for part in parts]
    copies = _list_copies(routine)
    for begin in range(0, len(copies), COPIES):
        parts.append([])
        stored.append({})
        for value, place in copies[begin : begin + COPIES]:
            stored[-1].setdefault(value, []).append(place)
    arrays, of_group = (*routine.arrays, "scratch"), routine.instances > 0
    pieces = [
        Routine(f"{routine.name}_{k}", arrays, part, given, here, 0, of_group, routine.guards)
        for k, (part, here) in enumerate(zip(parts, stored, strict=True))
    ]
    return pieces, length


def is_long(routine: Routine) -> bool:
    """Tell whether a routine is to be divided."""
    return len(routine.values) > PIECE or len(_list_copies(routine)) > COPIES


def _list_copies(routine: Routine) -> list[tuple[int, Place]]:
    """Return where values go that a routine does not compute."""
    elsewhere = routine.wanted.keys() - set(routine.values)
    return [(value, place) for value in sorted(elsewhere) for place in routine.wanted[value]]


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
