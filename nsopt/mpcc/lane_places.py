"""Where the numbers of a function are in the C code that computes them in loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import casadi as ca

from nsopt.mpcc.lane_graph import LaneGraph
from nsopt.mpcc.lane_pieces import LanePiece
from nsopt.mpcc.vector_operations import number


class KeptNumbers(NamedTuple):
    """Where the numbers of a piece are: in m from ``base``, and in entries of outputs."""

    base: int | None
    step: int  # 0 where of numbers one after the other only the last is needed
    stores: list[tuple[int, int, int]]  # output, first entry, stride


class Places:
    """Where the numbers of pieces are.

    Attributes
    ----------
    kept : dict of LanePiece to KeptNumbers
    stored : set of (int, LanePiece)
        Outputs and pieces whose loops write them.
    size : int
        Of the array m.
    """

    def __init__(self, graph: LaneGraph, pieces: Sequence[LanePiece]) -> None:
        self._nodes, self._outputs, self._pieces = *graph, pieces
        self._of = {i: (piece, k) for piece in pieces for k, i in enumerate(piece.nodes)}
        self.size = 0
        self.stored: set[tuple[int, LanePiece]] = set()
        self.kept = self._places()

    def written(self, i: int, node: int) -> bool:
        """Return whether a loop gives output i that number."""
        return node in self._of and (i, self._of[node][0]) in self.stored

    def operands(self, piece: LanePiece) -> list[list[int]]:
        """Return for each operand of a piece which numbers it is."""
        return [list(of) for of in zip(*(self._nodes[i].of for i in piece.nodes), strict=True)]

    def from_loop(
        self, piece: LanePiece, operands: Sequence[int]
    ) -> tuple[LanePiece, Literal[0, 1]] | None:
        """Return which statement of its own loop computes an operand, and how many times before."""
        found = [self._of.get(i, (None, 0)) for i in operands]
        of = found[-1][0]
        if of is None or not of.beside(piece):
            return None
        if all(x is of and at == k for k, (x, at) in enumerate(found)):
            return of, 0
        if piece.repeat and all(x is of and at == k for k, (x, at) in enumerate(found[1:])):
            return of, 1
        return None

    def value(self, i: int) -> str:
        """Return a number as C has it outside of loops."""
        if i in self._of and self._of[i][0].alone:
            return f"s{i}"
        at = self.at(i)
        return number(self._nodes[i].constant) if at is None else f"{at[0]}[{at[1]}]"

    def at(self, i: int) -> tuple[str, int] | None:
        """Return in which array a number is, and where, if it is in one."""
        node = self._nodes[i]
        if i in self._of:
            piece, k = self._of[i]
            kept = self.kept[piece]
            return None if kept.base is None else ("m", kept.base + kept.step * k)
        assert not node.of  # what is computed is in a piece
        return None if node.code == ca.OP_CONST else (f"x{node.place[0]}", node.place[1])

    def in_array(self, operands: Sequence[int]) -> tuple[str, list[int]]:
        """Return in which array numbers are, and where."""
        found = [at for at in map(self.at, operands) if at is not None]
        assert len(found) == len(operands)
        arrays, entries = zip(*found, strict=True)
        (array,) = set(arrays)
        return array, list(entries)

    def _places(self) -> dict[LanePiece, KeptNumbers]:
        """Decide where numbers are kept for others, and for outputs."""
        needed = self._needed()
        entries: dict[tuple[int, LanePiece], dict[int, list[int]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for i, j, node in self._outputs:
            if node in self._of and not self._of[node][0].alone:
                piece, k = self._of[node]
                entries[i, piece][k].append(j)
        stores: dict[LanePiece, list[tuple[int, int, int]]] = defaultdict(list)
        for (i, piece), places in entries.items():
            found = [places[k] for k in range(len(piece.nodes))]
            stride = stride_of([j for js in found for j in js])
            if stride is None or any(len(js) != 1 for js in found):
                needed[piece] |= {k for k, js in enumerate(found) if js}
            else:
                stores[piece].append((i, found[0][0], stride))
                self.stored.add((i, piece))
        kept = {}
        for piece in self._pieces:
            last = len(piece.nodes) - 1
            step = 0 if piece.repeat and needed[piece] == {last} else 1
            base = self.size if needed[piece] else None
            kept[piece] = KeptNumbers(base, step, stores[piece])
            self.size += (1 + step * last) * (base is not None)
        return kept

    def _needed(self) -> dict[LanePiece, set[int]]:
        """Return which numbers of pieces others need from m."""
        needed: dict[LanePiece, set[int]] = defaultdict(set)
        for piece in self._pieces:
            for operands in self.operands(piece):
                from_loop = self.from_loop(piece, operands)
                if from_loop is not None:
                    operands = operands[: from_loop[1]]  # before the loop
                same = len(set(operands)) == 1
                for of, k in (self._of[i] for i in operands if i in self._of):
                    if not (same and of.alone):
                        needed[of].add(k)
        return needed


def stride_of(entries: Sequence[int]) -> int | None:
    """Return the step from each entry to the next, if it is always the same."""
    steps = {b - a for a, b in pairwise(entries)} or {1}
    return steps.pop() if len(steps) == 1 else None
