"""Complementarity as the min map: a row for each pair, box or first event, two for each disc.

Each row is one of some alternatives, expressions of which one is zero at a solution:

===========  ====================================================
pair         min(G, H); H where the pair is not active
box          mid(z - upper, z - lower, F)
disc         rho F inside, z - radius y / |y| on the edge, for y = z - rho F
first event  the smallest of the active rows
===========  ====================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from nsopt.mpcc.statement.blocks import Boxes, FirstEvent, Pairs
from nsopt.mpcc.statement.disc import make_disc_rows
from nsopt.mpcc.statement.min_row import Alternative, Holding, MinRow
from nsopt.mpcc.statement.problem import Mpcc


@dataclass(frozen=True, eq=False)
class PairRow(MinRow):
    """0 <= G _|_ H >= 0, scaled."""

    G: ca.SX
    H: ca.SX
    active: ca.SX
    label: str

    @property
    def value(self) -> ca.SX:
        return ca.if_else(self.active, ca.fmin(self.G, self.H), self.H)

    @property
    def holding(self) -> Holding:
        first = ca.logic_and(self.active, self.G < self.H)
        other = ca.if_else(first, self.H, self.G)
        margin = ca.if_else(self.active, ca.fabs(self.G - self.H), ca.inf)
        row = ca.if_else(first, self.G, self.H)
        return Holding(row, (Alternative(other, margin, self.label),))


@dataclass(frozen=True, eq=False)
class BoxRow(MinRow):
    """lower <= z <= upper with F >= 0 at lower, <= 0 at upper, else 0."""

    z: ca.SX  # as lower and upper in physical units
    lower: ca.SX
    upper: ca.SX
    size: ca.SX  # scale of z
    F: ca.SX  # scaled
    meet: ca.SX  # 1 where lower = upper: F is then free
    label: str

    @cached_property
    def low(self) -> ca.SX:
        """How far z is above its lower bound, scaled."""
        return (self.z - self.lower) / self.size

    @cached_property
    def up(self) -> ca.SX:
        """How far z is above its upper bound, scaled; zero or less within."""
        return (self.z - self.upper) / self.size

    @property
    def value(self) -> ca.SX:
        return ca.fmax(self.up, ca.fmin(self.low, self.F))

    @property
    def holding(self) -> Holding:
        low, up, F = self.low, self.up, self.F
        at_low, at_up = low <= F, up >= F
        at_low = ca.logic_and(at_low, ca.logic_not(at_up))
        row = ca.if_else(at_up, up, ca.if_else(at_low, low, F))
        second = ca.if_else(ca.logic_or(at_up, at_low), F, low)
        third = ca.if_else(at_up, low, up)
        # Where bounds meet, z is there whatever F is: the row never switches.
        margins = (ca.if_else(self.meet, ca.inf, ca.fabs(x - row)) for x in (second, third))
        others = zip((second, third), margins, strict=True)
        return Holding(row, tuple(Alternative(x, margin, self.label) for x, margin in others))


@dataclass(frozen=True, eq=False)
class FirstEventRow(MinRow):
    """The smallest of the active rows (m,), scaled; the first row is always active."""

    rows: ca.SX
    active: ca.SX
    labels: tuple[str, ...]

    @property
    def value(self) -> ca.SX:
        return self._smallest()[0]

    @property
    def holding(self) -> Holding:
        least, which = self._smallest()
        others = []
        for k, label in enumerate(self.labels):
            counts = ca.logic_and(self.active[k], which != k)
            margin = ca.if_else(counts, self.rows[k] - least, ca.inf)
            others.append(Alternative(self.rows[k], margin, label))
        return Holding(least, tuple(others))

    def _smallest(self) -> tuple[ca.SX, ca.SX]:
        """Return the smallest active row and its index."""
        least, which = self.rows[0], ca.SX(0)
        for k in range(1, self.rows.numel()):
            smaller = ca.logic_and(self.active[k], self.rows[k] < least)
            least = ca.if_else(smaller, self.rows[k], least)
            which = ca.if_else(smaller, k, which)
        return least, which


def min_rows(mpcc: Mpcc) -> list[MinRow]:
    """Return the rows of a program's pairs, boxes, discs and first events, in this order."""
    rows: list[MinRow] = []
    for pairs in mpcc.pairs:
        rows += _make_pair_rows(pairs)
    for boxes in mpcc.boxes:
        rows += _make_box_rows(boxes)
    for discs in mpcc.discs:
        rows += make_disc_rows(discs)
    return rows + [
        FirstEventRow(event.expr / ca.SX(event.scale), event.active, event.labels)
        for event in mpcc.first_events
    ]


def _make_pair_rows(block: Pairs) -> Iterator[MinRow]:
    G, H = block.G / ca.SX(block.scales[0]), block.H / ca.SX(block.scales[1])
    for k, label in enumerate(block.labels):
        yield PairRow(G[k], H[k], block.active[k], label)


def _make_box_rows(block: Boxes) -> Iterator[MinRow]:
    size, F = ca.SX(block.scales[0]), block.F / ca.SX(block.scales[1])
    meet = block.lower >= block.upper
    for k, label in enumerate(block.labels):
        z, lower, upper = (x[k] for x in (block.z, block.lower, block.upper))
        yield BoxRow(z, lower, upper, size[k], F[k], meet[k], label)


def split_into_pairs(mpcc: Mpcc) -> Mpcc:
    """Return the program with equations and pairs in place of boxes and first events.

    A box is two pairs, 0 <= z - lower _|_ F+ >= 0 and so on; the smallest of several rows is a
    chain of 0 <= smallest so far - new _|_ row - new >= 0. Their unknowns come after all others.
    """
    if not mpcc.boxes and not mpcc.first_events:
        return mpcc
    other = copy(mpcc)  # statements make new tuples of blocks: ``mpcc`` stays as it is
    other.boxes, other.first_events = (), ()
    for block in mpcc.boxes:
        _split_boxes(other, block)
    for event in mpcc.first_events:
        _split_first_event(other, event)
    return other


def _split_boxes(other: Mpcc, block: Boxes) -> None:
    m, name, scale = block.z.shape[0], block.name, block.scales[1]
    more = other.variable(f"{name}_plus", m, lower=0, scale=scale)
    less = other.variable(f"{name}_minus", m, lower=0, scale=scale)
    other.equal(f"{name}_split", block.F - more + less, scale=scale)
    other.complement(f"{name}_low", block.z - block.lower, more, scale=block.scales)
    other.complement(f"{name}_up", block.upper - block.z, less, scale=block.scales)


def _split_first_event(other: Mpcc, block: FirstEvent) -> None:
    # At a solution the smallest row is zero, so rows of 1, those that are not active, never are.
    rows = ca.if_else(block.active, block.expr / ca.SX(block.scale), 1)
    m = rows.shape[0]
    least = other.variable(f"{block.name}_least", m)
    for k in range(1, m):
        other.complement(f"{block.name}_{k}", least[k - 1] - least[k], rows[k] - least[k])
    other.equal(f"{block.name}_chain", ca.vertcat(least[0] - rows[0], least[m - 1]))
