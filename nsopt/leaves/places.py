"""Where routines find numbers and put them: what reads and writes them, in LLVM's language.

``n`` is the number of the first result of what is written; ``lanes`` how many numbers side by side
a value is: those of a group of instances of a loop, of which ``%k`` is the first.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from nsopt.leaves.operations import type_of

NUMBERS, INDICES = "numbers", "indices"
"""Names of the arrays that code reads beside its arguments: of doubles, and of ints of 32 bits."""


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
    """An entry of an array, whose entries have as many numbers side by side as values."""

    array: str
    entry: int

    def read(self, n: int, lanes: int) -> Text:
        """Return what reads the value."""
        kind = type_of(lanes)
        at = f"%{n} = getelementptr {kind}, ptr {_pointer(self.array)}, i64 {self.entry}\n"
        return Text(f"{at}%{n + 1} = load {kind}, ptr %{n}, align 8\n", 2)

    def write(self, name: str, n: int, lanes: int) -> Text:
        """Return what writes the value of that name."""
        kind = type_of(lanes)
        at = f"%{n} = getelementptr {kind}, ptr {_pointer(self.array)}, i64 {self.entry}\n"
        return Text(f"{at}store {kind} {name}, ptr %{n}, align 8\n", 1)


class Same(NamedTuple):
    """A number that all lanes read."""

    array: str
    entry: int

    def read(self, n: int, lanes: int) -> Text:
        """Return what reads the value."""
        number, kind = Single(self.array, self.entry).read(n, 1), type_of(lanes)
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
        at, kind = self._at(n), type_of(lanes)
        return Text(f"{at}%{n + 2} = load {kind}, ptr %{n + 1}, align 8\n", 3)

    def write(self, name: str, n: int, lanes: int) -> Text:
        """Return what writes the value of that name."""
        return Text(f"{self._at(n)}store {type_of(lanes)} {name}, ptr %{n + 1}, align 8\n", 2)

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
        kind, lines, whole, first = type_of(lanes), [self._at(n)], "poison", n
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
        kind, lines, first = type_of(lanes), [self._at(n)], n
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
    """Return the name of an array: of all but `NUMBERS`, which is global, it is an argument."""
    return f"@{array}" if array == NUMBERS else f"%{array}"
