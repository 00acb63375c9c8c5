"""The operations of a function: those of several lanes together, and those that are alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nsopt.mpcc.lane_graph import LaneGraph


class LaneRange(NamedTuple):
    """Lanes one after another."""

    first: int
    size: int


@dataclass(eq=False)
class LanePiece:
    """Numbers that are computed together.

    Attributes
    ----------
    nodes : list of int
        In the order of lanes.
    lanes : LaneRange or None
        None of a number alone.
    phase : int
        Pieces of the same phase and lanes are in one loop, phases one after another.
    """

    nodes: list[int]
    lanes: LaneRange | None
    phase: int = 0


def divided(graph: LaneGraph, least: int) -> list[LanePiece]:
    """Return the pieces, each behind those it needs: of ``least`` lanes or more, or one number."""
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
    return pieces


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
