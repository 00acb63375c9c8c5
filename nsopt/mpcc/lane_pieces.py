"""The operations of a function: those in a loop together, and those that are alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.mpcc.lane_graph import LaneGraph
from nsopt.mpcc.repeats import FAR, Repeat, repeats


class LaneRange(NamedTuple):
    """Lanes one after another."""

    first: int
    size: int


@dataclass(eq=False)
class LanePiece:
    """Numbers that the same statement of a loop computes, or a number alone.

    Attributes
    ----------
    nodes : list of int
        In the order of lanes, or one after the other.
    lanes : LaneRange or None
        Of numbers that are computed side by side.
    phase : int
        Pieces of the same phase and lanes are in one loop, phases one after another.
    repeat : Repeat or None
        Of numbers that are computed one after the other, the loop.
    """

    nodes: list[int]
    lanes: LaneRange | None
    phase: int = 0
    repeat: Repeat | None = None

    @property
    def alone(self) -> bool:
        """Whether it is a number that no loop computes."""
        return self.lanes is None and self.repeat is None

    def beside(self, other: LanePiece) -> bool:
        """Return whether both are in one loop."""
        loop = self.phase, self.lanes, self.repeat
        return not self.alone and loop == (other.phase, other.lanes, other.repeat)


def divided(graph: LaneGraph, least: int) -> list[LanePiece]:
    """Return the pieces, in each phase behind those they need; of ``least`` lanes or more."""
    alike: dict[int, dict[int | None, int]] = defaultdict(dict)
    for i, node in enumerate(graph.nodes):
        if node.of:
            alike[node.like.form][node.like.first] = i
    pieces = [
        piece
        for form in sorted(alike)  # forms grow from operands to results
        for run in _runs(alike[form])
        for piece in _pieces([alike[form][lane] for lane in run], run, least)
    ]
    _order(graph, pieces)
    apart: dict[int, list[LanePiece]] = defaultdict(list)
    for piece in pieces:
        if piece.lanes is None:
            apart[piece.phase].append(piece)
    rolled = [piece for alone in apart.values() for piece in _rolled(graph, alone)]
    return [*(piece for piece in pieces if piece.lanes), *rolled]


def _runs(lanes: Iterable[int | None]) -> list[list[int | None]]:
    """Return lanes without a gap between them; what has no lane is alone."""
    runs: list[list[int | None]] = []
    for lane in sorted(lanes, key=lambda x: -1 if x is None else x):
        if lane and runs and runs[-1][-1] == lane - 1:
            runs[-1].append(lane)
        else:
            runs.append([lane])
    return runs


def _pieces(nodes: list[int], run: list[int | None], least: int) -> list[LanePiece]:
    first = run[0]
    if first is not None and len(run) >= least:
        return [LanePiece(nodes, LaneRange(first, len(run)))]
    return [LanePiece([i], None) for i in nodes]


def _order(graph: LaneGraph, pieces: list[LanePiece]) -> None:
    """Set phases: a number of other lanes is needed from before."""
    found = {i: (piece, k) for piece in pieces for k, i in enumerate(piece.nodes)}
    for piece in pieces:
        for k, node in enumerate(piece.nodes):
            for of, place in (found[i] for i in graph.nodes[node].of if i in found):
                here = of.lanes == piece.lanes and (piece.lanes is None or place == k)
                piece.phase = max(piece.phase, of.phase + (not here))


def _rolled(graph: LaneGraph, alone: list[LanePiece]) -> list[LanePiece]:
    """Return numbers alone, those together that come again and again; all of one phase."""
    place = {piece.nodes[0]: k for k, piece in enumerate(alone)}
    kinds: dict[tuple[str, object], int] = {("computed", None): 0}  # which is `FAR` too
    codes, back, other = [], [], []
    for i, k in place.items():
        operands = graph.nodes[i].of
        codes.append(graph.nodes[i].code)
        found = [place.get(of, k) for of in operands]
        back.append([k - of for of in found] + [0] * (2 - len(found)))
        what = [_kind(graph, of) for of in operands] + [("none", None)] * (2 - len(found))
        other.append([FAR - kinds.setdefault(x, len(kinds)) for x in what])
    sequence = repeats(*(np.array(x, dtype=np.int64) for x in (codes, back, other)))
    rolled, last = [], 0
    for repeat in sequence:
        rolled += alone[last : repeat.first]
        for k in range(repeat.first, repeat.first + repeat.period):
            nodes = [piece.nodes[0] for piece in alone[k : repeat.end : repeat.period]]
            rolled.append(LanePiece(nodes, None, alone[k].phase, repeat))
        last = repeat.end
    return rolled + alone[last:]


def _kind(graph: LaneGraph, i: int) -> tuple[str, object]:
    node = graph.nodes[i]
    if node.of:
        return "computed", None
    if node.code == ca.OP_CONST:
        return "constant", repr(node.constant)
    return "input", node.place[0]
