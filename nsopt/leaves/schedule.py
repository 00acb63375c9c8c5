"""A long routine as a row of pieces: loops over what it repeats, and the rest.

Values that are alike, see `find_kinds`, are computed side by side, in lanes. A loop has those of as
many instances each: of all hinges, say. One value follows another within a loop where each instance
reads its own; what is read across instances, as by a hinge from its bodies, goes through memory,
and the loop that reads it comes later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nsopt.leaves.instructions import BRANCH, Instructions
from nsopt.leaves.readers import FEWEST
from nsopt.leaves.routines import divide_row


class SchedulePiece(NamedTuple):
    """What is computed by one function.

    Attributes
    ----------
    values : list of int
        In order; of a loop those of the first instance.
    instances : int
        Of a loop; 0 for what is computed once.
    """

    values: list[int]
    instances: int = 0


class Schedule:
    """The order in which the values of a routine are computed.

    Parameters
    ----------
    instructions : Instructions
    kinds : list of int
        Of all values, by `find_kinds`.
    values : list of int
        What the routine computes.

    Attributes
    ----------
    instructions : Instructions
    pieces : list of SchedulePiece
    looped : int
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
        self.looped = sum(len(self._members[kind]) for kind in self._looped)
        self._phase: dict[int, int] = {}  # of kinds: how many loops come before
        for kind, alike in self._members.items():  # in the order of their first values, so
            columns = self.columns(alike[0])  # after their operands
            if kind in self._looped and self._order(alike, columns):
                columns = self.columns(alike[0])
            self._phase[kind] = self._find_phase(kind, columns)
        self.pieces = self._make_pieces(values)

    def members(self, value: int) -> list[int]:
        """Return the values that are alike one of a loop, or that value, by instance."""
        kind = self._kinds[value]
        return self._members[kind] if kind in self._looped else [value]

    def columns(self, value: int) -> list[tuple[int, ...]]:
        """Return the operands of all values that are alike: the first ones, the second ones."""
        of, alike = self.instructions, self.members(value)
        if value in of.branches:
            return list(zip(*(of.branches[x].operands for x in alike), strict=True))
        return [tuple(map(side.__getitem__, alike)) for side in (of.left, of.right)]

    def follows(self, value: int, column: Sequence[int]) -> bool:
        """Tell whether operands of a value in a loop come from the same instances of that loop."""
        kind, of = self._kinds[value], self._kinds[column[0]]
        together = of in self._looped and self._phase[of] == self._phase[kind]
        return together and self._members[of] == [*column]

    def read_elsewhere(self) -> Iterator[int]:
        """Find what pieces read that they do not compute."""
        for values, instances in self.pieces:
            own = set(values)
            for value in values:
                for column in self.columns(value):
                    if not (self.follows(value, column) if instances else column[0] in own):
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

    def _order(self, values: list[int], columns: Sequence[tuple[int, ...]]) -> bool:
        """Sort the values of a kind as those that they read, if each reads one of its own.

        Return whether their order has changed.
        """
        for column in columns:
            of = self._kinds[column[0]]
            if of in self._looped and len(self._members[of]) == len(values):
                members = self._members[of]
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
            of = self._kinds[column[0]]
            if of in looped and self._members[of] == [*column]:
                phase = max(phase, phases[of])
                continue
            for of in {*map(self._kinds.__getitem__, column)}:
                if of in phases:
                    phase = max(phase, phases[of] + (kind in looped or of in looped))
        return phase

    def _make_pieces(self, values: Sequence[int]) -> list[SchedulePiece]:
        loops: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        rows: defaultdict[int, list[int]] = defaultdict(list)
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
            pieces += [
                SchedulePiece(row) for row in divide_row(self.instructions, rows.get(phase, []))
            ]
        return pieces
