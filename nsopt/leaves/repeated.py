"""A leaf that repeats itself, as a mechanism does its bodies and joints: loops, and the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from nsopt.leaves import routines
from nsopt.leaves.instructions import INPUT, Instructions
from nsopt.leaves.kinds import find_kinds
from nsopt.leaves.lane_by_lane import write_lane_by_lane
from nsopt.leaves.loops import is_uneven, make_loop
from nsopt.leaves.memory import KEPT, SHARED, Memory
from nsopt.leaves.places import Single
from nsopt.leaves.readers import FEWEST, part_by_readers
from nsopt.leaves.routines import Routine, Share, operands_of
from nsopt.leaves.schedule import Schedule
from nsopt.leaves.text import Part, call_all, declare_all, define, write_functions

ON_STACK = 16_384
"""Numbers that pieces share on the stack at most: threads may have half a megabyte of it."""


class RepeatedText(NamedTuple):
    """Modules of all routines, what they keep for each other, and the entries of `INDICES`."""

    modules: tuple[str, ...]
    kept: int
    indices: tuple[int, ...]


class Repeated:
    """A leaf searched for what it repeats.

    Parameters
    ----------
    instructions : Instructions
    shares : sequence of Share
        What each routine computes.
    lanes : int
        Numbers side by side in the widest registers.
    """

    def __init__(self, instructions: Instructions, shares: Sequence[Share], lanes: int) -> None:
        self._lanes, self._shares = lanes, shares
        computed = [share.values for share in self._shares]
        self._of, self._kinds, self._readers = find_kinds(instructions, computed)

    def has(self, share: float) -> bool:
        """Tell whether loops compute a share of the values."""
        computed = [of.values for of in self._shares]
        least = share * sum(map(len, computed))
        # Kinds are parted before loops are made of them: these compute no more than all of as many.
        alike = 0
        for values in computed:
            counts = Counter(map(self._kinds.__getitem__, values)).values()
            alike += sum(count for count in counts if count >= FEWEST)
        return alike >= least and sum(of.looped for of in self._schedules) >= least

    @cached_property
    def _schedules(self) -> list[Schedule]:
        parted = part_by_readers(self._of, self._kinds, self._readers)
        return [Schedule(self._of, parted, share.values) for share in self._shares]

    def write(self, numbers: Mapping[int, Single]) -> RepeatedText:
        """Write the leaf; ``numbers``: where constants are that are no part of the text."""
        kept: dict[int, Single] = {}
        memory, modules = Memory(self._lanes, {}), _Modules()
        for share, schedule in zip(self._shares, self._schedules, strict=True):
            memory = memory.go_on({**numbers, **kept, **share.given})
            wanted = share.targets
            copied = [x for x in share.kept if self._of.operation[x] == INPUT]
            computed = [x for x in share.kept if self._of.operation[x] != INPUT]
            others = [*computed, *find_uneven(schedule, wanted)]
            memory.share(schedule, KEPT if share.keeps else SHARED, others)
            kept |= {value: memory.entries[value] for value in computed}
            for value in copied:
                wanted[value] = [memory.add(KEPT)]
                kept[value] = wanted[value][0]
            _Caller(share.name, share.arrays, schedule, memory, wanted).write(modules)
        return RepeatedText(tuple(modules.close()), memory.sizes[KEPT], tuple(memory.indices))


def find_uneven(schedule: Schedule, wanted: Mapping[int, Sequence[Single]]) -> Iterator[int]:
    """Find the values of loops of which some go to more places than others: they are copied."""
    for piece in schedule.pieces:
        for value in piece.values:
            if piece.instances and is_uneven(schedule, value, wanted):
                yield from schedule.members(value)


class _Modules:
    """Modules of functions: small ones together, by their lanes."""

    def __init__(self) -> None:
        self._closed: list[str] = []
        self._open: dict[int, list[Part]] = {}
        self._values: dict[int, int] = {}
        self._called: dict[int, list[Part]] = {}

    def add_alone(self, parts: list[Part], lanes: int = 1) -> None:
        """Add functions that call each other, each as a module of its own."""
        self._called.setdefault(lanes, []).extend(parts)
        self._closed += [part.module(lanes) for part in parts]

    def add(self, parts: list[Part], values: int, lanes: int = 1) -> None:
        """Add a function, or the pieces of one."""
        if len(parts) > 1:
            self.add_alone(parts, lanes)
            return
        self._called.setdefault(lanes, []).extend(parts)
        self._open.setdefault(lanes, []).extend(parts)
        self._values[lanes] = self._values.get(lanes, 0) + values
        if self._values[lanes] >= routines.PIECE:
            self._close(lanes)

    def close(self) -> list[str]:
        """Return all modules, with what they call lane by lane."""
        for lanes in [*self._open]:
            self._close(lanes)
        for lanes, parts in self._called.items():
            branches = {branch for part in parts for branch in part.branches}
            alone = {what for part in parts for what in part.alone}
            if lanes > 1 and (branches or alone):
                self._closed.append(write_lane_by_lane(branches, alone, lanes))
        return self._closed

    def _close(self, lanes: int) -> None:
        parts, self._values[lanes] = self._open.pop(lanes, []), 0
        if parts:
            branches = frozenset(branch for part in parts for branch in part.branches)
            alone = frozenset(what for part in parts for what in part.alone)
            text = "".join(part.text for part in parts)
            self._closed.append(Part(text, branches, alone).module(lanes))


class _Caller(NamedTuple):
    """A function that calls the pieces of a schedule."""

    name: str
    arrays: tuple[str, ...]
    schedule: Schedule
    memory: Memory
    wanted: Mapping[int, Sequence[Single]]

    def write(self, modules: _Modules) -> None:
        """Write the pieces, and what calls them."""
        called: list[Routine] = []
        arrays = (*self.arrays, SHARED)
        for piece in self.schedule.pieces:
            name = f"{self.name}_{len(called)}"
            if piece.instances:
                loop = make_loop(name, arrays, self.schedule, piece, self.memory, self.wanted)
                of = loop.routine
                parts = write_functions(loop.body, of, loop.lanes)
                modules.add(parts, len(of.values), loop.lanes)
            else:
                of = self._add_row(modules, name, arrays, piece.values)
            called.append(of)
        for values in self._divide_copies():
            called.append(self._add_row(modules, f"{self.name}_{len(called)}", arrays, [], values))
        whole = Routine(self.name, self.arrays, [], {}, {})
        modules.add_alone([Part(declare_all(called) + self._call_all(whole, called))])

    def _call_all(self, whole: Routine, called: list[Routine]) -> str:
        """Write what calls the pieces, with the array that they share."""
        size, calls = self.memory.sizes.get(SHARED, 0), call_all(called)
        if size <= ON_STACK:
            return define(whole, calls, f"%{SHARED} = alloca [{size} x double], align 64\n")
        begin = f"%{SHARED} = call ptr @malloc(i64 {8 * size})\n"
        text = define(whole, f"{calls}call void @free(ptr %{SHARED})\n", begin)
        return f"declare ptr @malloc(i64)\ndeclare void @free(ptr)\n{text}"

    def _add_row(
        self,
        modules: _Modules,
        name: str,
        arrays: tuple[str, ...],
        values: list[int],
        copied: Sequence[int] = (),
    ) -> Routine:
        """Add a function that computes values once, and copies others."""
        of, entries = self.schedule.instructions, self.memory.entries
        read = {x for value in values for x in operands_of(of, value)}.union(copied)
        given = {x: entries[x] for x in read.difference(values) if x in entries}
        wanted = {x: [*self.wanted.get(x, ())] for x in (*values, *copied)}
        for value in values:
            if value in entries:
                wanted[value].append(entries[value])
        routine = Routine(name, arrays, values, given, wanted)
        modules.add(write_functions(of, routine), len(values) + len(copied))
        return routine

    def _divide_copies(self) -> list[list[int]]:
        """Return the values that are wanted and that no piece puts there, in parts."""
        done = set()
        for piece in self.schedule.pieces:
            for value in piece.values:
                if not (piece.instances and is_uneven(self.schedule, value, self.wanted)):
                    done.update(self.schedule.members(value))
        left = sorted(self.wanted.keys() - done)
        return [left[k : k + routines.PIECE] for k in range(0, len(left), routines.PIECE)]
