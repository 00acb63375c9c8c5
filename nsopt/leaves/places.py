"""Where routines find numbers and put them: what reads and writes them, in LLVM's language.

Results have no names in the text but numbers, ``%0``, ``%1`` and so on, as LLVM wants them without
gaps: ``n`` is that of the first result of what is written. ``lanes`` is how many numbers side by
side a value is: those of a group of instances of a loop, of which ``%k`` is the first. Alignment is
that of one double, 8 bytes, as a group may begin at any number of an array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from nsopt.leaves.operations import name_type

NUMBERS, INDICES = "numbers", "indices"
"""Names of the arrays that code reads beside its arguments: of doubles, and of ints of 32 bits."""

SHARED, KEPT = "shared", "kept"
"""Names of the arrays through which pieces give each other numbers, and one routine another."""

NARROW = 4  # lanes of a loop of this many instances or fewer, however wide registers are


class Text(NamedTuple):
    """Instructions, and how many results they have; of a reading the last is the value."""

    lines: str
    results: int


class Place(Protocol):
    """Where a value is."""

    def read(self, n: int, lanes: int) -> Text:
        """Return what reads the value."""

    def write(self, name: str, n: int, lanes: int) -> Text:
        """Return what writes the value of that name."""


class Single(NamedTuple):
    """An entry of an array, as wide as a value: one number, or one for each lane side by side."""

    array: str  # its name in the text
    entry: int

    def read(self, n: int, lanes: int) -> Text:
        """Return what reads the value."""
        kind = name_type(lanes)
        at = f"%{n} = getelementptr {kind}, ptr {_pointer(self.array)}, i64 {self.entry}\n"
        return Text(f"{at}%{n + 1} = load {kind}, ptr %{n}, align 8\n", 2)

    def write(self, name: str, n: int, lanes: int) -> Text:
        """Return what writes the value of that name."""
        kind = name_type(lanes)
        at = f"%{n} = getelementptr {kind}, ptr {_pointer(self.array)}, i64 {self.entry}\n"
        return Text(f"{at}store {kind} {name}, ptr %{n}, align 8\n", 1)


class Same(NamedTuple):
    """A number that all lanes read."""

    array: str
    entry: int

    def read(self, n: int, lanes: int) -> Text:
        """Return what reads the value."""
        number, kind = Single(self.array, self.entry).read(n, 1), name_type(lanes)
        one = f"insertelement {kind} poison, double %{n + 1}, i64 0"
        zeros = f"<{lanes} x i32> zeroinitializer"
        all_lanes = f"shufflevector {kind} %{n + 2}, {kind} poison, {zeros}"
        return Text(f"{number.lines}%{n + 2} = {one}\n%{n + 3} = {all_lanes}\n", 4)

    def write(self, name: str, n: int, lanes: int) -> Text:
        """Refuse: lanes differ."""
        raise NotImplementedError(f"{name} of {lanes} lanes in one number")


class InOrder(NamedTuple):
    """Numbers of instances side by side; lanes are those of a group, from the k-th on."""

    array: str
    first: int

    def read(self, n: int, lanes: int) -> Text:
        """Return what reads the value."""
        at, kind = self._at(n), name_type(lanes)
        return Text(f"{at}%{n + 2} = load {kind}, ptr %{n + 1}, align 8\n", 3)

    def write(self, name: str, n: int, lanes: int) -> Text:
        """Return what writes the value of that name."""
        return Text(f"{self._at(n)}store {name_type(lanes)} {name}, ptr %{n + 1}, align 8\n", 2)

    def _at(self, n: int) -> str:
        first = f"%{n} = getelementptr double, ptr {_pointer(self.array)}, i64 {self.first}\n"
        return f"{first}%{n + 1} = getelementptr double, ptr %{n}, i64 %k\n"


class Scattered(NamedTuple):
    """Numbers of instances anywhere in an array: `INDICES` tells where, from ``first`` on.

    They are moved one by one: instructions that gather and scatter take longer on many processors.
    """

    array: str
    first: int

    def read(self, n: int, lanes: int) -> Text:
        """Return what reads the value."""
        kind, lines, whole, first = name_type(lanes), [self._at(n)], "poison", n
        n += 2
        for lane in range(lanes):
            lines.append(
                f"{self._of_lane(lane, first + 1, n)}"
                f"%{n + 3} = load double, ptr %{n + 2}, align 8\n"
                f"%{n + 4} = insertelement {kind} {whole}, double %{n + 3}, i64 {lane}\n"
            )
            n += 5
            whole = f"%{n - 1}"
        return Text("".join(lines), n - first)

    def write(self, name: str, n: int, lanes: int) -> Text:
        """Return what writes the value of that name."""
        kind, lines, first = name_type(lanes), [self._at(n)], n
        n += 2
        for lane in range(lanes):
            lines.append(
                f"{self._of_lane(lane, first + 1, n)}"
                f"%{n + 3} = extractelement {kind} {name}, i64 {lane}\n"
                f"store double %{n + 3}, ptr %{n + 2}, align 8\n"
            )
            n += 4
        return Text("".join(lines), n - first)

    def _at(self, n: int) -> str:
        return (
            f"%{n} = getelementptr i32, ptr @{INDICES}, i64 {self.first}\n"
            f"%{n + 1} = getelementptr i32, ptr %{n}, i64 %k\n"
        )

    def _of_lane(self, lane: int, indices: int, n: int) -> str:
        return (
            f"%{n} = getelementptr i32, ptr %{indices}, i64 {lane}\n"
            f"%{n + 1} = load i32, ptr %{n}, align 4\n"
            f"%{n + 2} = getelementptr double, ptr {_pointer(self.array)}, i32 %{n + 1}\n"
        )


def declare_arrays() -> str:
    """Declare the arrays beside arguments."""
    return f"@{NUMBERS} = external global double\n@{INDICES} = external global i32\n"


def _pointer(array: str) -> str:
    """Return the name of an array of values: `NUMBERS` is global, all others are arguments."""
    return f"@{array}" if array == NUMBERS else f"%{array}"


@dataclass
class Memory:
    """Where the values are that the pieces of a routine read and write."""

    lanes: int  # numbers side by side in the widest registers
    entries: dict[int, Single]  # where values are: at first those that no piece computes
    sizes: dict[str, int] = field(default_factory=dict)  # numbers in each array that pieces write
    indices: list[int] = field(default_factory=list)  # what `INDICES` holds
    _padded: set[tuple[Single, int]] = field(default_factory=set)
    """Of values side by side, fewer than lanes but with room for all: the first entry, how many."""

    def go_on(self, entries: dict[int, Single]) -> Memory:
        """Return the memory of the next routine, with the same indices and what is in `KEPT`.

        ``entries`` are where the values are that the next routine does not compute.
        """
        padded = {(entry, size) for entry, size in self._padded if entry.array == KEPT}
        sizes = {KEPT: self.sizes.get(KEPT, 0)}
        return Memory(self.lanes, entries, sizes, self.indices, padded)

    def add(self, array: str) -> Single:
        """Return a new entry of an array."""
        entry = self.sizes.get(array, 0)
        self.sizes[array] = entry + 1
        return Single(array, entry)

    def count_lanes(self, instances: int) -> int:
        """Return how many instances of a loop are side by side."""
        return self.lanes if instances > NARROW else NARROW

    def place(self, array: str, values: Sequence[int], room: int) -> None:
        """Give values places side by side, with room for as many as ``room``."""
        first = self.sizes.get(array, 0)
        self.sizes[array] = first + max(len(values), room)
        self.entries.update((value, Single(array, k)) for k, value in enumerate(values, first))
        if len(values) < room:
            self._padded.add((Single(array, first), len(values)))

    def find(self, values: Sequence[int]) -> Place:
        """Return where instances find one number each, maybe the same."""
        entries = [self.entries[value] for value in values]
        return Same(*entries[0]) if len({*values}) == 1 else self.find_each(entries)

    def find_each(self, entries: Sequence[Single]) -> Place:
        """Return where instances find, or put, numbers of their own, which are in one array.

        The last group of a loop is the last ``lanes`` instances, some of which are done twice: only
        a loop of fewer instances than lanes has lanes of no instance, for which there must be room.
        """
        (array, first), count = entries[0], len(entries)
        lanes = self.count_lanes(count)
        if any(entry.array != array for entry in entries):
            raise AssertionError(f"a loop reads {array} and other arrays by one address")
        in_order = all(entry == (array, k) for k, entry in enumerate(entries, first))
        if in_order and (count >= lanes or (entries[0], count) in self._padded):
            return InOrder(array, first)
        begin = len(self.indices)
        self.indices += [entry for _, entry in entries]
        # Lanes of no instance do what the last one does.
        self.indices += [entries[-1].entry] * (lanes - count)
        return Scattered(array, begin)
