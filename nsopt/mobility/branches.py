"""Branches: pieces of cones, in rates of joints, with what tracing found along them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from nsopt.mobility.cones import ConePiece
from nsopt.mobility.reduction import Reduction
from nsopt.mobility.tracing import Finding, Trace, trace

Array = NDArray[np.float64]

SHOWN = 1e-6
"""Part of the largest rate below which a rate is zero."""

SMALL = 0.01
"""The same, below which one is small: others are stated over one that is not."""


@dataclass(frozen=True, eq=False)
class MotionBranch:
    """A line, a subspace or a curved part of the cones.

    Attributes
    ----------
    piece : ConePiece
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
    equations : tuple of str
        Of a curved one, to lowest order in some of the rates, on which the others depend.
    motion : (number, n)
        Coordinates u of a point of each motion that was found.
    """

    piece: ConePiece
    first: int
    last: int
    finding: Finding
    both_ways: bool
    smooth: bool
    freedom: int
    rates: Mapping[str, Array]
    equations: tuple[str, ...]
    motion: Array

    @property
    def dimension(self) -> int:
        """Its dimension."""
        return self.piece.dimension

    def __str__(self) -> str:
        """Return in words what it is, and what was found along it."""
        kind = {1: "a line"}.get(self.dimension, f"of dimension {self.dimension}")
        if not self.piece.linear:
            kind += ", curved"
        orders = f"order {self.first}" + (f" to {self.last}" if self.last > self.first else "")
        found = {
            Finding.CONFIRMED: "finite motions lead along it",
            Finding.REFUTED: "no finite motion leads along it",
            Finding.UNDECIDED: "whether finite motions lead along it is undecided",
        }[self.finding]
        if self.finding is Finding.CONFIRMED and not self.both_ways:
            found += ", one way only"
        elif self.finding is Finding.CONFIRMED and not self.smooth:
            found += ", several in one direction"
        return f"{kind}, {orders}: {found}"


def branches_of(reduction: Reduction, cones: list[list[ConePiece]]) -> tuple[MotionBranch, ...]:
    """Return the pieces of all cones as branches, each traced."""
    pieces = {id(piece): piece for cone in cones for piece in cone}
    branches = []
    for key, piece in pieces.items():
        held = [k for k, cone in enumerate(cones, 1) if any(id(p) == key for p in cone)]
        others = [x for x in pieces.values() if x is not piece and not x.contains(piece)]
        branches.append(_branch(reduction, piece, others, held, len(cones)))
    return tuple(branches)


def _branch(
    reduction: Reduction, piece: ConePiece, others: list[ConePiece], held: list[int], orders: int
) -> MotionBranch:
    """Return a piece as a branch, given the orders of the cones it is a piece of, of so many."""
    first, last = held[0], held[-1]
    # With one free direction, a Taylor coefficient of g that is not zero leaves no other zero.
    alone = reduction.freedom == 1 and last < orders
    pairs = [] if alone else _trace(reduction, piece, others)
    found = [x for pair in pairs for x in pair if x.finding is Finding.CONFIRMED]
    finding = Finding.REFUTED if alone else _finding(pairs)
    confirmed = finding is Finding.CONFIRMED
    both = confirmed and len(found) == 2 * len(pairs)
    return MotionBranch(
        piece,
        first,
        last,
        finding,
        both,
        both and all(x.sheets == 1 for x in found),
        min((x.freedom for x in found), default=0),
        reduction.rates(piece.basis),
        _equations(reduction, piece),
        np.array([x.u for x in found]).reshape(-1, len(reduction.columns)) * reduction.columns,
    )


def _trace(
    reduction: Reduction, piece: ConePiece, others: list[ConePiece]
) -> list[tuple[Trace, Trace]]:
    """Return the traces of directions of a piece and their opposites, up to one without motion."""
    pairs: list[tuple[Trace, Trace]] = []
    for ray in piece.rays.T:
        pairs.append((trace(reduction, piece, ray, others), trace(reduction, piece, -ray, others)))
        if all(x.finding is Finding.REFUTED for x in pairs[-1]):
            break
    return pairs


def _equations(reduction: Reduction, piece: ConePiece) -> tuple[str, ...]:
    """Return the lowest forms of the constraints in the rates of some joints of the tree."""
    if piece.rows is None:
        return ()
    N = reduction.columns[:, None] * reduction.bases[0]
    chosen = np.sort(scipy.linalg.qr(N.T, pivoting=True, mode="r")[1][: N.shape[1]])
    names = [reduction.constraints.names[k] for k in chosen]
    inverse = np.asarray(np.linalg.inv(N[chosen]), dtype=float)
    return piece.rows.g.lowest().along(inverse).texts(names)


def _finding(pairs: list[tuple[Trace, Trace]]) -> Finding:
    either = [{x.finding for x in pair} for pair in pairs]
    if all(Finding.CONFIRMED in x for x in either):
        return Finding.CONFIRMED
    return Finding.REFUTED if any(x == {Finding.REFUTED} for x in either) else Finding.UNDECIDED


def rates_of(b: MotionBranch) -> tuple[str, ...]:
    """Return in words the rates along a basis of a line or a subspace."""
    names, basis = list(b.rates), _echelon(np.array(list(b.rates.values())))
    return tuple(
        ", ".join(
            f"{name} {_short(v)}"
            for name, v in zip(names, x, strict=True)
            if abs(v) > SHOWN * np.max(np.abs(x))
        )
        for x in basis.T
    )


def _echelon(basis: Array) -> Array:
    """Return vectors (n, k) of the same span, each 1 at a place where the others are 0."""
    R, done = basis.copy(), 0
    for row in range(len(R)):
        left = np.abs(R[:, done:])
        if not left.size:
            break
        k = done + int(np.argmax(left[row]))
        if left[row, k - done] > SMALL * np.max(left):
            R[:, [done, k]] = R[:, [k, done]]
            R[:, done] /= R[row, done]
            others = np.arange(R.shape[1]) != done
            R[:, others] -= np.outer(R[:, done], R[row, others])
            done += 1
    return R


def _short(v: float) -> str:
    return f"{np.round(v, 4) + 0.0:g}"
