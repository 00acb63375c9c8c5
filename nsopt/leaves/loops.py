"""A long routine as a row of pieces: loops over what it repeats, and the rest.

Values that are alike, see `find_kinds`, are computed side by side, in lanes. A loop has those of as
many instances each: of all hinges, say. One value follows another within a loop where each instance
reads its own; what is read across instances, as by a hinge from its bodies, goes through memory,
and the loop that reads it comes later.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nsopt.leaves.instructions import BRANCH, CONSTANT, INPUT, RESULT, Instructions
from nsopt.leaves.kinds import PLAIN, Kinds
from nsopt.leaves.places import Memory, Place, Single
from nsopt.leaves.routines import Routine, divide_row

FEWEST = 3  # instances of a loop at least

_APART = (INPUT, CONSTANT, BRANCH, RESULT)
"""Operations whose values are not computed in the loop of their reader: they are given, or several
at once."""


def part_by_readers(kinds: Kinds) -> list[int]:
    """Return kinds in which values that one value reads are parted by the place where it does.

    All products of two inputs are alike, say. Those that stand at one place in the sums of all
    bodies become a kind of their own, which is computed in the loop of these sums and does not go
    through memory; that takes longer than to multiply.
    """
    instructions, numbers, sole = kinds.instructions, kinds.numbers, kinds.sole_readers
    parted, counts = [*numbers], Counter(numbers)
    new = max(counts, default=0) + 1
    for values in _divide_by_distance(instructions, sole):  # readers come first
        parts: dict[tuple[int, int, int], list[int]] = {}
        for value in values:
            reader = sole[value]
            place = instructions.operands_of(reader).index(value)
            parts.setdefault((numbers[value], parted[reader], place), []).append(value)
        for (kind, reading, _), part in parts.items():
            # All readers of that kind must take part: what values of one kind read is of one kind.
            if len(part) == counts[reading] >= FEWEST:
                for value in part:
                    parted[value] = new
                counts[new], counts[kind] = len(part), counts[kind] - len(part)
                new += 1
    return parted


def _divide_by_distance(instructions: Instructions, sole: Sequence[int]) -> list[list[int]]:
    """Return values with a sole reader: those whose reader has none, then those it reads, ..."""
    groups: list[list[int]] = []
    distance = [0] * len(sole)  # from the next value without a sole reader
    for value in range(len(sole) - 1, -1, -1):
        if sole[value] >= 0 and instructions.operation[value] not in _APART:
            distance[value] = distance[sole[value]] + 1
            if distance[value] > len(groups):
                groups.append([])
            groups[distance[value] - 1].append(value)
    return groups


class SchedulePiece(NamedTuple):
    """Values that one function computes, in order: of a loop those of the first instance.

    There are no ``instances`` of what is computed once.
    """

    values: list[int]
    instances: int = 0


class Schedule:
    """The order in which the values of a routine are computed.

    Parameters
    ----------
    instructions : Instructions
    kinds : list of int
        Of all values, by `part_by_readers`.
    values : list of int
        What the routine computes.

    Attributes
    ----------
    instructions : Instructions
    pieces : list of SchedulePiece
    looped_count : int
        How many values are computed by loops.
    """

    def __init__(
        self, instructions: Instructions, kinds: Sequence[int], values: Sequence[int]
    ) -> None:
        self.instructions, self._kinds = instructions, kinds
        members: defaultdict[int, list[int]] = defaultdict(list)
        for value in values:
            members[kinds[value]].append(value)
        self._members = dict(members)
        self._looped = self._find_looped()
        self.looped_count = sum(len(self._members[kind]) for kind in self._looped)
        self._phase: dict[int, int] = {}  # of kinds: how many loops come before
        for kind, alike in self._members.items():  # in the order of their first values, so
            columns = self.list_columns(alike[0])  # after their operands
            if kind in self._looped and self._sort_members(alike, columns):
                columns = self.list_columns(alike[0])
            self._phase[kind] = self._find_phase(kind, columns)
        self.pieces = self._make_pieces(values)

    def list_members(self, value: int) -> list[int]:
        """Return the values that are alike one of a loop, or that value, by instance."""
        kind = self._kinds[value]
        return self._members[kind] if kind in self._looped else [value]

    def list_columns(self, value: int) -> list[tuple[int, ...]]:
        """Return the operands of all values that are alike: the first ones, the second ones."""
        program, alike = self.instructions, self.list_members(value)
        if value in program.branches:
            return list(zip(*(program.branches[x].operands for x in alike), strict=True))
        return [tuple(map(side.__getitem__, alike)) for side in (program.left, program.right)]

    def is_local(self, value: int, column: Sequence[int]) -> bool:
        """Tell whether operands of a value in a loop come from the same instances of that loop."""
        kind, source = self._kinds[value], self._kinds[column[0]]
        together = source in self._looped and self._phase[source] == self._phase[kind]
        return together and self._members[source] == [*column]

    def find_shared_values(self) -> Iterator[int]:
        """Find what pieces read that they do not compute."""
        for values, instances in self.pieces:
            own = set(values)
            for value in values:
                for column in self.list_columns(value):
                    if not (self.is_local(value, column) if instances else column[0] in own):
                        yield from column

    def _find_looped(self) -> set[int]:
        """Return the kinds that loops compute: of enough values, a branch with all its results."""
        looped = {kind for kind, values in self._members.items() if len(values) >= FEWEST}
        for kind in [*looped]:
            values = self._members[kind]
            if self.instructions.operation[values[0]] == BRANCH:
                results = range(1, 1 + self.instructions.branches[values[0]].results)
                found = [{self._kinds[value + i] for value in values} for i in results]
                if any(len(kinds) > 1 for kinds in found):
                    looped -= {kind}.union(*found)
        return looped

    def _sort_members(self, values: list[int], columns: Sequence[tuple[int, ...]]) -> bool:
        """Sort the values of a kind as those that they read, if each reads one of its own.

        Return whether their order has changed.
        """
        for column in columns:
            source = self._kinds[column[0]]
            if source in self._looped and len(self._members[source]) == len(values):
                members = self._members[source]
                if members == [*column]:
                    return False
                if {*members} == {*column}:
                    nth = {value: k for k, value in enumerate(members)}
                    read = dict(zip(values, column, strict=True))
                    values.sort(key=lambda value: nth[read[value]])
                    return True
        return False

    def _find_phase(self, kind: int, columns: Sequence[tuple[int, ...]]) -> int:
        phase, looped, phases = 0, self._looped, self._phase
        for column in columns:
            source = self._kinds[column[0]]
            if source in looped and self._members[source] == [*column]:
                phase = max(phase, phases[source])
                continue
            for source in {*map(self._kinds.__getitem__, column)}:
                if source in phases:
                    phase = max(phase, phases[source] + (kind in looped or source in looped))
        return phase

    def _make_pieces(self, values: Sequence[int]) -> list[SchedulePiece]:
        loops: defaultdict[tuple[int, int], list[int]] = defaultdict(list)  # by phase, instances
        rows: defaultdict[int, list[int]] = defaultdict(list)  # what is computed once, by phase
        for kind, alike in self._members.items():
            if kind in self._looped:
                loops[self._phase[kind], len(alike)].append(alike[0])
        for value in values:
            kind = self._kinds[value]
            if kind not in self._looped:
                rows[self._phase[kind]].append(value)
        pieces = []
        for phase in sorted({phase for phase, _ in loops} | rows.keys()):
            pieces += [SchedulePiece(loops[at], at[1]) for at in sorted(loops) if at[0] == phase]
            pieces += map(SchedulePiece, divide_row(self.instructions, rows.get(phase, [])))
        return pieces


def make_loop(
    name: str,
    arguments: tuple[str, ...],
    schedule: Schedule,
    piece: SchedulePiece,
    memory: Memory,
    targets: Mapping[int, Sequence[Single]],
) -> tuple[Instructions, Routine]:
    """Return a piece of a schedule as a loop: the instructions of one instance, and its routine.

    ``targets``: where values go beside memory.
    """
    body = _Body(schedule, memory)
    numbers = [body.add(value) for value in piece.values]
    of_body = {}
    for value, number in zip(piece.values, numbers, strict=True):
        alike = schedule.list_members(value)
        entries = [[memory.entries[x] for x in alike]] if value in memory.entries else []
        if not (targets.keys().isdisjoint(alike) or is_uneven(schedule, value, targets)):
            entries += map(list, zip(*(targets.get(x, ()) for x in alike), strict=True))
        if entries:
            of_body[number] = [memory.find_each(found) for found in entries]
    routine = Routine(name, arguments, numbers, body.sources, of_body, piece.instances)
    return body.instructions, routine


def is_uneven(schedule: Schedule, value: int, targets: Mapping[int, Sequence[Single]]) -> bool:
    """Tell whether some instances go to more places than others."""
    alike = schedule.list_members(value)
    if targets.keys().isdisjoint(alike):
        return False
    return len({len(targets.get(x, ())) for x in alike}) > 1


class _Body:
    """Instructions of one instance: its own values, and as inputs what it reads."""

    def __init__(self, schedule: Schedule, memory: Memory) -> None:
        self._schedule, self._memory = schedule, memory
        sides = schedule.instructions.sides
        self.instructions = Instructions([], [], [], {}, [], [], [], {}, sides)
        self.sources: dict[int, Place] = {}
        self._numbers: dict[int, int] = {}  # of values of the first instance
        self._inputs: dict[tuple[int, ...], int] = {}  # and constants, by column

    def add(self, value: int) -> int:
        """Add a value and what it reads; return its number in the body."""
        program = self._schedule.instructions
        if program.operation[value] == RESULT:
            return self._numbers[program.left[value]] + value - program.left[value]
        columns = self._schedule.list_columns(value)
        operands = tuple(self._find(value, column) for column in columns)
        number = self._append(program.operation[value], operands[0], operands[-1])
        self._numbers[value] = number
        if program.operation[value] == BRANCH:
            branch = program.branches[value]
            self.instructions.branches[number] = branch._replace(operands=operands)
            for _ in range(branch.results):
                self._append(RESULT, number, number)
        return number

    def _find(self, value: int, column: tuple[int, ...]) -> int:
        """Return what an operand is in the body."""
        program = self._schedule.instructions
        if self._schedule.is_local(value, column):
            is_result = program.operation[column[0]] == RESULT
            return self.add(column[0]) if is_result else self._numbers[column[0]]
        if column not in self._inputs:
            constant = program.constants.get(column[0])
            if constant is not None and abs(constant) in PLAIN:
                number = self._append(CONSTANT, -1, -1)
                self.instructions.constants[number] = constant
            else:
                number = self._append(INPUT, 0, len(self.sources))
                self.sources[number] = self._memory.find(column)
            self._inputs[column] = number
        return self._inputs[column]

    def _append(self, operation: int, left: int, right: int) -> int:
        body = self.instructions
        body.operation.append(operation)
        body.left.append(left)
        body.right.append(right)
        return len(body.operation) - 1
