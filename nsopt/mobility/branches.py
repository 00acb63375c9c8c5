"""Branches: pieces of cones, in rates of joints, with what tracing found along them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nsopt.mobility.cones import Piece
from nsopt.mobility.reduction import Reduction
from nsopt.mobility.tracing import Finding, Trace, traced

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Branch:
    """A line, a subspace or a curved part of the cones.

    Attributes
    ----------
    piece : Piece
        In the kernel of J.
    first, last : int
        The orders of the cones it is a piece of.
    finding : Finding
        Whether finite motions lead along it: `CONFIRMED` if along all directions that were tried,
        `REFUTED` if not along one of them.
    both_ways : bool
        Whether they lead along each direction and its opposite.
    smooth : bool
        Whether they do, and one only along each.
    freedom : int
        Differential freedom along the motions.
    rates : mapping of rate to (k,)
        Rates of all joints, cut ones too, along a basis of its span.
    motion : (number, n)
        Coordinates u of some points of the motions, the farthest first.
    """

    piece: Piece
    first: int
    last: int
    finding: Finding
    both_ways: bool
    smooth: bool
    freedom: int
    rates: Mapping[str, Array]
    motion: Array

    @property
    def dimension(self) -> int:
        """Its dimension."""
        return self.piece.dimension


def branches_of(reduction: Reduction, cones: list[list[Piece]]) -> tuple[Branch, ...]:
    """Return the pieces of all cones as branches, each traced."""
    pieces = {id(piece): piece for cone in cones for piece in cone}
    branches = []
    for key, piece in pieces.items():
        orders = [k for k, cone in enumerate(cones, 1) if any(id(p) == key for p in cone)]
        branches.append(_branch(reduction, piece, orders[0], orders[-1]))
    return tuple(branches)


def _branch(reduction: Reduction, piece: Piece, first: int, last: int) -> Branch:
    pairs: list[tuple[Trace, Trace]] = []
    for ray in piece.rays.T:
        pairs.append((traced(reduction, piece, ray), traced(reduction, piece, -ray)))
        if all(x.finding is Finding.REFUTED for x in pairs[-1]):
            break
    found = [x for pair in pairs for x in pair if x.finding is Finding.CONFIRMED]
    finding = _finding(pairs)
    confirmed = finding is Finding.CONFIRMED
    both = confirmed and len(found) == 2 * len(pairs)
    return Branch(
        piece,
        first,
        last,
        finding,
        both,
        both and all(x.sheets == 1 for x in found),
        min((x.freedom for x in found), default=0),
        reduction.rates(piece.basis),
        np.concatenate([np.zeros((0, len(reduction.columns))), *(x.u for x in found)])
        * reduction.columns,
    )


def _finding(pairs: list[tuple[Trace, Trace]]) -> Finding:
    either = [{x.finding for x in pair} for pair in pairs]
    if all(Finding.CONFIRMED in x for x in either):
        return Finding.CONFIRMED
    return Finding.REFUTED if any(x == {Finding.REFUTED} for x in either) else Finding.UNDECIDED
