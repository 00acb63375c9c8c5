"""What of a leaf is computed once for p and what at every x, and how long routines are divided.

A leaf is a small CasADi function that becomes machine code; of functions in turn,
y_k = f_k(p, x_1, ..., x_k), each is solved for its x_k before the next. It has three routines:
``prepare`` for what does not depend on x_k, ``evaluate`` for the rows, at every x_k, and
``complete`` for the rest, such as derivatives.

LLVM takes more than twice the time for a routine of twice the length. A long one is therefore a row
of pieces. What one computes for another goes through a scratch array on the stack, so that the code
may run in many threads at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsopt.leaves.instructions import CONSTANT, INPUT, RESULT, Instructions, X
from nsopt.leaves.places import Place, Single
from nsopt.leaves.turns import Turns

PIECE = 2000  # values in a piece at most; half or twice as many take LLVM about the same time

COPIES = 300
"""Numbers that a piece copies at most: LLVM's level 2 takes 1.4 s for two thousand, for fourteen
thousand half a minute."""


class Routine(NamedTuple):
    """A function without a result, which reads and writes arrays."""

    name: str
    arguments: tuple[str, ...]  # the names of arrays
    values: list[int]  # what it computes, in order
    sources: Mapping[int, Place]  # where values are that it reads
    targets: Mapping[int, Sequence[Place]]  # where values go
    instances: int = 0  # how many it computes, in groups side by side; 0 for what is computed once
    # Whether it is of one group alone, whose first instance, k, is an argument.
    is_group: bool = False
    # The condition of each value that is computed only where one holds, see `find_guards`.
    guards: Mapping[int, int] = {}


class RoutinePlan(NamedTuple):
    """What a routine computes, before values have places in memory."""

    name: str  # this and ``arguments`` as of a `Routine`
    arguments: tuple[str, ...]
    values: list[int]  # in order
    sources: dict[int, Single]  # where inputs are
    outputs: list[int]  # the values of entries of y
    first_output: int  # the first of these entries
    is_read: bool  # whether the routines after it read its values; else they compute them anew
    kept: list[int]  # of its values and of inputs, those that it writes for the routines after it

    @property
    def targets(self) -> dict[int, list[Single]]:
        """Where in y values go."""
        y: dict[int, list[Single]] = {}
        for entry, value in enumerate(self.outputs, self.first_output):
            y.setdefault(value, []).append(Single("y", entry))
        return y


def divide_values(instructions: Instructions, turns: Turns) -> list[RoutinePlan]:
    """Return what each routine of `Turns.routines` computes, in this order.

    What does not depend on the function's own x is computed once, by the first ``prepare`` that
    needs it. What ``evaluate`` computes at every x is kept from the last one, for all after it.
    """
    done = bytearray(operation in (CONSTANT, INPUT) for operation in instructions.operation)
    copied, names = set[int](), turns.routines
    plans: list[RoutinePlan] = []
    # "p" is p, then x_1, x_2, ... as far as they are known.
    inputs = _find_inputs(instructions, "p", dict(enumerate(turns.input_starts)))
    of_each = turns.split(instructions)
    for k, outputs in enumerate(of_each[: turns.turn_count], X):  # k is the input of its own x
        needed = _find_values(instructions, outputs, done)
        # The stage of a value is the last input that it depends on.
        once = [value for value in needed if instructions.stage[value] < k]
        at_x = [value for value in needed if instructions.stage[value] >= k]
        own = _find_inputs(instructions, "x", {k: 0})
        read = _find_operands(instructions, at_x).union(outputs)
        copies = sorted(read.intersection(inputs).difference(own, copied))
        for value in once:
            done[value] = True
        head = turns.heads[k - X]  # entries asked for at every x; ``complete`` gives the others
        first = _find_values(instructions, outputs[:head], done)
        for value in first:
            done[value] = True
        others = [value for value in at_x if not done[value]]
        prepare, evaluate, complete = names[3 * (k - X) : 3 * (k - X) + 3]
        arguments = ("x", "kept", "y")
        plans += [
            RoutinePlan(prepare, ("p", "kept"), once, inputs, [], 0, True, copies),
            RoutinePlan(evaluate, arguments, first, own, outputs[:head], 0, True, []),
            RoutinePlan(complete, arguments, others, own, outputs[head:], head, False, []),
        ]
        copied.update(copies)
    arguments = ("p", "kept", "y")
    ends = names[3 * turns.turn_count :]
    for name, outputs in zip(ends, of_each[turns.turn_count :], strict=True):
        needed = _find_values(instructions, outputs, done)
        plans.append(RoutinePlan(name, arguments, needed, inputs, outputs, 0, False, []))
    later = set[int]()  # what the routines after one read
    for plan in reversed(plans):
        if plan.is_read:
            plan.kept.extend(sorted(later.intersection(plan.values)))
        later.update(plan.outputs, _find_operands(instructions, plan.values))
    # What nothing is kept of shares numbers with itself alone: its callers need give it no room.
    return [plan._replace(is_read=bool(plan.kept)) for plan in plans]


def _find_values(instructions: Instructions, outputs: Sequence[int], done: bytearray) -> list[int]:
    """Return the values that outputs are computed from, in order, but for those that are done.

    ``done``: 1 at each value that is.
    """
    left, right, branches = instructions.left, instructions.right, instructions.branches
    seen, found, ahead = done[:], list[int](), [*outputs]  # ahead: still to be looked at
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


def _find_operands(instructions: Instructions, values: Sequence[int]) -> set[int]:
    """Return all values that some are computed from."""
    left, right, branches = instructions.left, instructions.right, instructions.branches
    read = {*map(left.__getitem__, values), *map(right.__getitem__, values)}
    return read.union(*(branches[value].operands for value in values if value in branches))


def place_values(plans: Sequence[RoutinePlan]) -> tuple[list[Routine], int]:
    """Return the routines, in turn, and how many numbers they keep for each other."""
    routines, kept = [], dict[int, Place]()
    for plan in plans:
        targets: dict[int, list[Place]] = {x: [*places] for x, places in plan.targets.items()}
        new = {value: Single("kept", entry) for entry, value in enumerate(plan.kept, len(kept))}
        for value, place in new.items():
            targets.setdefault(value, []).append(place)
        sources = {**kept, **plan.sources}
        routines.append(Routine(plan.name, plan.arguments, plan.values, sources, targets))
        kept |= new
    return routines, len(kept)


def make_side_routine(side: Instructions, name: str) -> Routine:
    """Return the routine of a branch's side, from its operands x to its results y."""
    (_, evaluate, _), _ = place_values(divide_values(side, Turns.of_whole(side)))
    return evaluate._replace(name=name, arguments=("x", "y"))


def divide_long(instructions: Instructions, routine: Routine) -> tuple[list[Routine], int]:
    """Divide a routine; return its pieces and the length of their scratch array."""
    parts = divide_row(instructions, routine.values)
    last = [0] * len(instructions.operation)  # the last part that reads a value
    for k, part in enumerate(parts):
        for value in part:
            for operand in instructions.operands_of(value):
                last[operand] = k
    scratch, length = _place_scratch(parts, last)
    sources = {**routine.sources, **scratch}
    targets = {value: [*places] for value, places in routine.targets.items()}
    for value, place in scratch.items():
        targets.setdefault(value, []).append(place)
    of_parts = [{value: targets[value] for value in part if value in targets} for part in parts]
    copies = _list_copies(routine)
    for begin in range(0, len(copies), COPIES):
        parts.append([])
        of_parts.append({})
        for value, place in copies[begin : begin + COPIES]:
            of_parts[-1].setdefault(value, []).append(place)
    arguments, is_group = (*routine.arguments, "scratch"), routine.instances > 0
    pieces = [
        Routine(f"{routine.name}_{k}", arguments, part, sources, here, 0, is_group, routine.guards)
        for k, (part, here) in enumerate(zip(parts, of_parts, strict=True))
    ]
    return pieces, length


def is_long(routine: Routine) -> bool:
    """Tell whether a routine is to be divided."""
    return len(routine.values) > PIECE or len(_list_copies(routine)) > COPIES


def _list_copies(routine: Routine) -> list[tuple[int, Place]]:
    """Return where values go that a routine does not compute."""
    others = routine.targets.keys() - set(routine.values)
    return [(value, place) for value in sorted(others) for place in routine.targets[value]]


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


def _place_scratch(parts: list[list[int]], last: list[int]) -> tuple[dict[int, Place], int]:
    """Give each value that a later part reads a place; after its last part it is free again.

    Return the places, and how many there are.
    """
    places: dict[int, Place] = {}
    free: list[int] = []
    length = 0
    freed: list[list[int]] = [[] for _ in parts]  # what is free after each part
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
