"""Where the pieces of a routine find numbers that others computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nsopt.leaves.places import InOrder, Place, Same, Scattered, Single
from nsopt.leaves.schedule import Schedule

NARROW = 4
"""Lanes of a loop of few instances."""

SHARED, KEPT = "shared", "kept"
"""Names of the arrays through which pieces give each other numbers, and one routine another."""


@dataclass
class Memory:
    """Where numbers are that pieces read and write.

    Parameters
    ----------
    lanes : int
        Numbers side by side in the widest registers.
    entries : mapping of int to Single
        Where values are that no piece computes.

    Attributes
    ----------
    sizes : dict of str to int
        Numbers in each array that pieces write.
    indices : list of int
        What `INDICES` holds.
    """

    lanes: int
    entries: dict[int, Single]
    sizes: dict[str, int] = field(default_factory=dict)
    indices: list[int] = field(default_factory=list)
    _roomy: set[tuple[Single, int]] = field(default_factory=set)

    def go_on(self, entries: dict[int, Single]) -> Memory:
        """Return the memory of another routine, which goes on with the indices and what is kept."""
        roomy = {(entry, size) for entry, size in self._roomy if entry.array == KEPT}
        sizes = {KEPT: self.sizes.get(KEPT, 0)}
        return Memory(self.lanes, entries, sizes, self.indices, roomy)

    def add(self, array: str) -> Single:
        """Return a new entry of an array."""
        entry = self.sizes.get(array, 0)
        self.sizes[array] = entry + 1
        return Single(array, entry)

    def width(self, instances: int) -> int:
        """Return how many instances of a loop are side by side."""
        return self.lanes if instances > NARROW else NARROW

    def share(self, schedule: Schedule, array: str, others: Iterable[int]) -> None:
        """Give places to what is read elsewhere: by other pieces, later, or by others.

        They are in one array, since a loop reads values of all its instances by one address.

        Parameters
        ----------
        schedule : Schedule
        array : str
        others : values
            That are read when all pieces are done.
        """
        read = {*others, *schedule.read_elsewhere()}
        for piece in schedule.pieces:
            for value in piece.values:
                alike = schedule.members(value)
                if not read.isdisjoint(alike):
                    self.place(array, alike, self.width(len(alike)) if piece.instances else 1)

    def place(self, array: str, values: Sequence[int], width: int = 1) -> None:
        """Give values places side by side, with room for as many as ``width``."""
        first = self.sizes.get(array, 0)
        self.sizes[array] = first + max(len(values), width)
        self.entries.update((value, Single(array, k)) for k, value in enumerate(values, first))
        if len(values) < width:
            self._roomy.add((Single(array, first), len(values)))

    def find(self, values: Sequence[int]) -> Place:
        """Return where instances find one number each, maybe the same."""
        entries = [self.entries[value] for value in values]
        return Same(*entries[0]) if len({*values}) == 1 else self.find_each(entries)

    def find_each(self, entries: Sequence[Single]) -> Place:
        """Return where instances find numbers of their own, which are in one array."""
        (array, first), width = entries[0], self.width(len(entries))
        if any(entry.array != array for entry in entries):
            raise AssertionError(f"a loop reads {array} and other arrays by one address")
        in_order = all(entry == (array, k) for k, entry in enumerate(entries, first))
        if in_order and (len(entries) >= width or (entries[0], len(entries)) in self._roomy):
            return InOrder(array, first)
        begin = len(self.indices)
        self.indices += [entry for _, entry in entries]
        # Lanes of no instance do what the last one does.
        self.indices += [entries[-1].entry] * (width - len(entries))
        return Scattered(array, begin)
