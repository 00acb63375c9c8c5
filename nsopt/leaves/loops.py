"""What a loop computes for one instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsopt.leaves.instructions import BRANCH, CONSTANT, INPUT, RESULT, Instructions
from nsopt.leaves.kinds import PLAIN
from nsopt.leaves.memory import Memory
from nsopt.leaves.places import Place, Single
from nsopt.leaves.routines import Routine
from nsopt.leaves.schedule import Schedule, SchedulePiece


class Loop(NamedTuple):
    """A piece that computes instances side by side.

    Attributes
    ----------
    body : Instructions
        Of one instance.
    routine : Routine
        The values of the body.
    lanes : int
    """

    body: Instructions
    routine: Routine
    lanes: int


def make_loop(
    name: str,
    arrays: tuple[str, ...],
    schedule: Schedule,
    piece: SchedulePiece,
    memory: Memory,
    wanted: Mapping[int, Sequence[Single]],
) -> Loop:
    """Return a piece of a schedule as a loop.

    Parameters
    ----------
    name, arrays
        See `Routine`.
    schedule : Schedule
    piece : SchedulePiece
    memory : Memory
    wanted : mapping of values to entries
        Where values go beside memory.
    """
    body = _Body(schedule, memory)
    numbers = [body.add(value) for value in piece.values]
    stored = {}
    for value, number in zip(piece.values, numbers, strict=True):
        alike = schedule.members(value)
        entries = [[memory.entries[x] for x in alike]] if value in memory.entries else []
        if not (wanted.keys().isdisjoint(alike) or is_uneven(schedule, value, wanted)):
            entries += map(list, zip(*(wanted.get(x, ()) for x in alike), strict=True))
        if entries:
            stored[number] = [memory.find_each(found) for found in entries]
    routine = Routine(name, arrays, numbers, body.given, stored, piece.instances)
    return Loop(body.instructions, routine, memory.width(piece.instances))


def is_uneven(schedule: Schedule, value: int, wanted: Mapping[int, Sequence[Single]]) -> bool:
    """Tell whether some instances go to more places than others."""
    alike = schedule.members(value)
    if wanted.keys().isdisjoint(alike):
        return False
    return len({len(wanted.get(x, ())) for x in alike}) > 1


class _Body:
    """Instructions of one instance: its own values, and as inputs what it reads."""

    def __init__(self, schedule: Schedule, memory: Memory) -> None:
        self._schedule, self._memory = schedule, memory
        sides = schedule.instructions.sides
        self.instructions = Instructions([], [], [], {}, [], [], [], {}, sides)
        self.given: dict[int, Place] = {}
        self._numbers: dict[int, int] = {}  # of values of the first instance
        self._read: dict[tuple[int, ...], int] = {}

    def add(self, value: int) -> int:
        """Add a value and what it reads; return its number in the body."""
        of = self._schedule.instructions
        if of.operation[value] == RESULT:
            return self._numbers[of.left[value]] + value - of.left[value]
        operands = tuple(self._find(value, x) for x in self._schedule.columns(value))
        number = self._append(of.operation[value], operands[0], operands[-1])
        self._numbers[value] = number
        if of.operation[value] == BRANCH:
            branch = of.branches[value]
            self.instructions.branches[number] = branch._replace(operands=operands)
            for _ in range(branch.results):
                self._append(RESULT, number, number)
        return number

    def _find(self, value: int, column: tuple[int, ...]) -> int:
        """Return what an operand is in the body."""
        if self._schedule.follows(value, column):
            of = self._schedule.instructions
            if of.operation[column[0]] == RESULT:
                return self.add(column[0])
            return self._numbers[column[0]]
        if column not in self._read:
            constant = self._schedule.instructions.constants.get(column[0])
            if constant is not None and abs(constant) in PLAIN:
                number = self._append(CONSTANT, -1, -1)
                self.instructions.constants[number] = constant
            else:
                number = self._append(INPUT, 0, len(self.given))
                self.given[number] = self._memory.find(column)
            self._read[column] = number
        return self._read[column]

    def _append(self, operation: int, left: int, right: int) -> int:
        of = self.instructions
        for entries, entry in ((of.operation, operation), (of.left, left), (of.right, right)):
            entries.append(entry)
        return len(of.operation) - 1
