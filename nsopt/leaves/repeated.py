"""A leaf that repeats itself, as a mechanism does its bodies and joints: loops, and the rest.

Each of its routines becomes a row of pieces, each a function, and one that calls them in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from nsopt.leaves import routines
from nsopt.leaves.instructions import INPUT, Instructions
from nsopt.leaves.kinds import find_kinds
from nsopt.leaves.lanes import write_lane_by_lane
from nsopt.leaves.loops import FEWEST, Schedule, is_uneven, make_loop, part_by_readers
from nsopt.leaves.places import KEPT, SHARED, Memory, Single
from nsopt.leaves.routines import Routine, RoutinePlan
from nsopt.leaves.text import Part, call_all, declare_all, define, write_functions

ON_STACK = 16_384
"""Numbers that pieces share on the stack at most: threads may have half a megabyte of it."""


class Repeated:
    """A leaf searched for what it repeats, for registers of at most so many lanes."""

    def __init__(
        self, instructions: Instructions, plans: Sequence[RoutinePlan], lanes: int
    ) -> None:
        self._lanes, self._plans = lanes, plans
        self._kinds = find_kinds(instructions, [plan.values for plan in plans])

    def has_share_in_loops(self, share: float) -> bool:
        """Tell whether loops compute this share of the values, from 0 to 1, or more."""
        computed = [plan.values for plan in self._plans]
        least = share * sum(map(len, computed))
        # A bound first, which is quick to find: loops are made of parts of kinds, so of no more
        # values than there are in kinds of `FEWEST` or more.
        alike = 0
        for values in computed:
            counts = Counter(map(self._kinds.numbers.__getitem__, values)).values()
            alike += sum(count for count in counts if count >= FEWEST)
        return alike >= least and sum(x.looped_count for x in self._schedules) >= least

    @cached_property
    def _schedules(self) -> list[Schedule]:
        parted = part_by_readers(self._kinds)
        return [Schedule(self._kinds.instructions, parted, plan.values) for plan in self._plans]

    def write(self, numbers: Mapping[int, Single]) -> tuple[list[str], int, list[int]]:
        """Write the leaf as LLVM's text; ``numbers``: where constants are that are not in the text.

        Return its modules, how many numbers routines keep for each other, entries of `INDICES`.
        """
        operation = self._kinds.instructions.operation
        kept: dict[int, Single] = {}
        memory, modules = Memory(self._lanes, {}), _Modules()
        for plan, schedule in zip(self._plans, self._schedules, strict=True):
            memory = memory.go_on({**numbers, **kept, **plan.sources})
            targets = plan.targets
            computed = [x for x in plan.kept if operation[x] != INPUT]
            # One array for all that is shared: a loop reads the values of all its instances by one
            # address.
            array = KEPT if plan.is_read else SHARED
            _place_shared(memory, schedule, array, {*computed, *_find_uneven(schedule, targets)})
            kept |= {value: memory.entries[value] for value in computed}
            for value in plan.kept:
                if operation[value] == INPUT:  # it is copied
                    kept[value] = memory.add(KEPT)
                    targets[value] = [kept[value]]
            _Caller(plan.name, plan.arguments, schedule, memory, targets).write(modules)
        return modules.close(), memory.sizes[KEPT], memory.indices


def _place_shared(memory: Memory, schedule: Schedule, array: str, others: set[int]) -> None:
    """Give places to what other pieces read, and to ``others``, read when all pieces are done."""
    read = others.union(schedule.find_shared_values())
    for piece in schedule.pieces:
        for value in piece.values:
            alike = schedule.list_members(value)
            if not read.isdisjoint(alike):
                room = memory.count_lanes(len(alike)) if piece.instances else 1
                memory.place(array, alike, room)


def _find_uneven(schedule: Schedule, targets: Mapping[int, Sequence[Single]]) -> set[int]:
    """Return the values of loops of which some instances go to more places of y than others.

    A loop writes all of its instances alike, so these are copied there after it.
    """
    looped = (value for piece in schedule.pieces if piece.instances for value in piece.values)
    uneven = (value for value in looped if is_uneven(schedule, value, targets))
    return {x for value in uneven for x in schedule.list_members(value)}


class _Modules:
    """Modules of functions: small ones together, by their lanes."""

    def __init__(self) -> None:
        self._closed: list[str] = []  # as text
        self._open: dict[int, list[Part]] = {}  # by lanes, as are the next: functions of one module
        self._sizes: dict[int, int] = {}  # how many values these compute
        self._all: dict[int, list[Part]] = {}  # functions of all modules

    def add_apart(self, parts: list[Part], lanes: int = 1) -> None:
        """Add functions that call each other, each as a module of its own."""
        self._all.setdefault(lanes, []).extend(parts)
        self._closed += [part.module(lanes) for part in parts]

    def add(self, parts: list[Part], size: int, lanes: int = 1) -> None:
        """Add a function of so many values, or the pieces of one."""
        if len(parts) > 1:
            self.add_apart(parts, lanes)
            return
        self._all.setdefault(lanes, []).extend(parts)
        self._open.setdefault(lanes, []).extend(parts)
        self._sizes[lanes] = self._sizes.get(lanes, 0) + size
        if self._sizes[lanes] >= routines.PIECE:
            self._close(lanes)

    def close(self) -> list[str]:
        """Return all modules, with what they call lane by lane."""
        for lanes in [*self._open]:
            self._close(lanes)
        for lanes, parts in self._all.items():
            whole = Part.merge(parts)
            if lanes > 1 and (whole.branches or whole.scalar):
                self._closed.append(write_lane_by_lane(whole, lanes))
        return self._closed

    def _close(self, lanes: int) -> None:
        self._closed.append(Part.merge(self._open.pop(lanes)).module(lanes))
        self._sizes[lanes] = 0


class _Caller(NamedTuple):
    """A function that calls the pieces of a schedule."""

    name: str
    arguments: tuple[str, ...]
    schedule: Schedule
    memory: Memory
    targets: Mapping[int, Sequence[Single]]

    def write(self, modules: _Modules) -> None:
        """Write the pieces, and what calls them."""
        called: list[Routine] = []
        arguments = (*self.arguments, SHARED)
        for piece in self.schedule.pieces:
            name = f"{self.name}_{len(called)}"
            if piece.instances:
                body, routine = make_loop(
                    name, arguments, self.schedule, piece, self.memory, self.targets
                )
                lanes = self.memory.count_lanes(piece.instances)
                modules.add(write_functions(body, routine, lanes), len(routine.values), lanes)
            else:
                routine = self._add_straight(modules, name, arguments, piece.values)
            called.append(routine)
        for values in self._divide_copies():
            name = f"{self.name}_{len(called)}"
            called.append(self._add_straight(modules, name, arguments, [], values))
        whole = Routine(self.name, self.arguments, [], {}, {})
        modules.add_apart([Part(declare_all(called) + self._call_all(whole, called))])

    def _call_all(self, whole: Routine, called: list[Routine]) -> str:
        """Write what calls the pieces, with the array that they share."""
        size, calls = self.memory.sizes.get(SHARED, 0), call_all(called)
        if size <= ON_STACK:
            return define(whole, calls, f"%{SHARED} = alloca [{size} x double], align 64\n")
        begin = f"%{SHARED} = call ptr @malloc(i64 {8 * size})\n"
        text = define(whole, f"{calls}call void @free(ptr %{SHARED})\n", begin)
        return f"declare ptr @malloc(i64)\ndeclare void @free(ptr)\n{text}"

    def _add_straight(
        self,
        modules: _Modules,
        name: str,
        arguments: tuple[str, ...],
        values: list[int],
        copied: Sequence[int] = (),
    ) -> Routine:
        """Add a function without a loop, that computes values and copies others."""
        program, entries = self.schedule.instructions, self.memory.entries
        read = {x for value in values for x in program.operands_of(value)}.union(copied)
        sources = {x: entries[x] for x in read.difference(values) if x in entries}
        targets = {x: [*self.targets.get(x, ())] for x in (*values, *copied)}
        for value in values:
            if value in entries:
                targets[value].append(entries[value])
        routine = Routine(name, arguments, values, sources, targets)
        modules.add(write_functions(program, routine), len(values) + len(copied))
        return routine

    def _divide_copies(self) -> list[list[int]]:
        """Return the values with targets that no piece puts there, in parts."""
        done = set()
        for piece in self.schedule.pieces:
            for value in piece.values:
                if not (piece.instances and is_uneven(self.schedule, value, self.targets)):
                    done.update(self.schedule.list_members(value))
        left = sorted(self.targets.keys() - done)
        return [left[k : k + routines.PIECE] for k in range(0, len(left), routines.PIECE)]
