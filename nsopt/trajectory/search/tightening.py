"""Limits that a motion exceeds between nodes, tightened by as much until it keeps them.

Measured in docs/measured/trajectory.md, "Limits at all times".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mpcc import ConstraintBlock, HorizonPlace, Solution, StructuredNlp
from nsopt.trajectory.diagnosis import find_row
from nsopt.trajectory.verification.between_nodes import KEPT, BeyondLimits, LimitsBetweenNodes

MARGIN = 1.1  # times what a limit is exceeded by: by so much it is tightened
MOST = 4.0  # times an excess by which a limit is tightened at most, see `_extrapolate`, ...
MOST_OF_SMALL = 10.0  # ... and of an excess that is small, as too much of that costs little
SMALL = 1e-3  # excess over the size of its limit that is small
NO_GAIN = 0.05  # part of an excess that a round took away, below which the next adds twice as much
STALLING = 0.75  # share of an excess that is much, when left ...
PATIENCE = 3  # ... by so many rounds, after which others are tightened at ends


class LimitedPart(NamedTuple):
    """A part of a program: a motion by polynomials with its limits."""

    limits: LimitsBetweenNodes
    unknowns: slice = slice(None)  # of the program, which are those of the part
    blocks: slice = slice(None)  # likewise


class LimitExcess(NamedTuple):
    """How far a motion exceeds its limits between nodes, and how often they were tightened."""

    excesses: tuple[BeyondLimits, ...]  # of each part
    rounds: int  # of tightening and solving again
    interrupted: bool = False  # whether Ctrl-C or SIGTERM ended the last round
    cost: float = 0.0  # what the objective grew by, as limits were tightened

    @property
    def largest(self) -> float:
        """The largest excess of all parts, divided by the size of its limit."""
        return max(x.largest for x in self.excesses)

    def of_part(self, k: int) -> LimitExcess:
        """Return the same with the excess of one part alone; its share of the cost is not known."""
        return self._replace(excesses=(self.excesses[k],), cost=0.0)

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes of the result."""
        found = {"limits_exceeded": self.largest, "limits_tightened": self.rounds}
        found["limits_cost"] = self.cost
        return found | ({"interrupted": 1} if self.interrupted and self.fault else {})

    @property
    def fault(self) -> str:
        """Which limit is exceeded, in words; empty if none is."""
        if self.largest <= KEPT:
            return ""
        worst = max(self.excesses, key=lambda x: x.largest).worst()
        if self.interrupted:
            return f"interrupted while limits were tightened: {worst}"
        tried = f" after limits were tightened {self.rounds} times" if self.rounds else ""
        return f"{worst}{tried}: give it more steps"


End = tuple[Solution, LimitExcess]
"""A solution, and how far it exceeds its limits."""


@dataclass(frozen=True, eq=False)
class Tightening:
    """The search for a motion that keeps its limits at all times.

    Where a motion exceeds a limit within a step, the limit is tightened by as much at the nodes and
    the midpoint of the step, and the program solved again. If a part of the excess is left then,
    the limit is tightened by what takes that away too, if it goes on as in that round. At the first
    and the last node a limit is tightened only if it depends on accelerations or inputs; where that
    does not suffice, as where phases meet, also if given states leave it free.
    """

    nlp: StructuredNlp  # of one motion by polynomials, or of several
    parts: Sequence[LimitedPart]
    rounds: int  # greatest number of solves
    # (program with tighter limits, solution to start from) -> solution
    solve: Callable[[StructuredNlp, Solution], Solution]

    def tighten(self, solution: Solution) -> End:
        """Return a motion that keeps its limits, or exceeds them least, from one that may not."""
        end, excess = self._choose_ends(solution)
        return end, excess._replace(cost=end.objective - solution.objective)

    def _choose_ends(self, solution: Solution) -> End:
        """Return that motion, with limits at the ends tightened as little as suffices."""
        few = [x.limits.rates_at_ends for x in self.parts]
        more = [x.limits.free_at_ends for x in self.parts]
        alike = all(np.array_equal(x, y) for x, y in zip(few, more, strict=True))
        first = self._tighten(solution, few, has_next=not alike)
        if alike or first[1].largest <= KEPT or first[1].interrupted:
            return first
        end, excess = self._tighten(solution, more)
        if excess.largest >= first[1].largest:
            return first
        return end, excess._replace(rounds=first[1].rounds + excess.rounds)

    def _tighten(
        self, solution: Solution, at_ends: Sequence[NDArray[np.bool_]], *, has_next: bool = False
    ) -> End:
        """Return the same where rows ``at_ends`` may be tightened at the first and last node.

        These are (2, rows) for each part: which rows at the first node, which at the last. If
        it ``has_next`` ones it ends when `PATIENCE` rounds leave much of the excess.
        """
        best = last = solution, LimitExcess(self._measure_excesses(solution), 0)
        shifts = [np.zeros_like(x.beyond) for x in last[1].excesses]
        before, added = ([np.zeros_like(x) for x in shifts] for _ in range(2))
        sizes = [last[1].largest]
        for k in range(1, self.rounds + 1):
            beyond = [x.beyond for x in last[1].excesses]
            stalls = len(sizes) > PATIENCE and sizes[-1] > STALLING * sizes[-1 - PATIENCE]
            if sizes[-1] <= KEPT or (has_next and stalls):
                break
            scales = [x.scale for x in last[1].excesses]
            rounds = zip(beyond, before, added, scales, strict=True)
            added = [_extrapolate(*x) for x in rounds]
            shifts = [x + more for x, more in zip(shifts, added, strict=True)]
            before = beyond
            found = self.solve(self._with_limits(shifts, at_ends), last[0])
            if not found.ok:
                best = best[0], best[1]._replace(interrupted=found.interrupted)
                break
            last = found, LimitExcess(self._measure_excesses(found), k)
            best = min(best, last, key=lambda x: x[1].largest)
            sizes.append(last[1].largest)
        return last if last[1].largest <= KEPT else best

    def _measure_excesses(self, solution: Solution) -> tuple[BeyondLimits, ...]:
        pairs = [(x.limits, solution.x[x.unknowns]) for x in self.parts]
        return tuple(y.excess(y.transcription.trajectory(own)[1]) for y, own in pairs)

    def _with_limits(
        self, shifts: Sequence[Array], at_ends: Sequence[NDArray[np.bool_]]
    ) -> StructuredNlp:
        """Return the program with limits moved inward by shifts; ``at_ends`` as for `_tighten`.

        Shifts are (2, steps, rows) for each part, of lower limits, then of upper ones.
        """
        blocks = list(self.nlp.blocks)
        for part, shift, ends in zip(self.parts, shifts, at_ends, strict=True):
            own = blocks[part.blocks]
            blocks[part.blocks] = [_tighten_block(x, part.limits, ends, *shift) for x in own]
        return self.nlp.restate(blocks)


def _extrapolate(beyond: Array, before: Array, added: Array, scale: Array) -> Array:
    """Return by how much more to tighten limits, so that nothing of an excess is left.

    As the excess changed by the last round, which ``added`` so much: a secant. ``scale`` (rows,)
    are the sizes of limits. A limit that did not hold the motion at nodes may have to be moved far
    until it does, as where friction jumps beside a node.
    """
    most = np.where(beyond > SMALL * scale, MOST, MOST_OF_SMALL)
    gained = before - beyond
    by_secant = np.divide(added, gained, out=np.full_like(added, MOST), where=gained > 0)
    times = np.where(before > 0, np.clip(by_secant, 1, most), 1.0)
    more = MARGIN * beyond * times
    idle = (beyond > 0) & (gained < NO_GAIN * before)
    return np.asarray(np.where(idle, np.maximum(more, 2 * added), more))


def _tighten_block(
    block: ConstraintBlock,
    limits: LimitsBetweenNodes,
    at_ends: NDArray[np.bool_],
    below: Array,
    above: Array,
) -> ConstraintBlock:
    """Return a block with its lower and upper limits moved inward, by (steps, rows) each."""
    steps = limits.transcription.horizon.steps
    if block.place not in (HorizonPlace.NODES, HorizonPlace.MIDDLES):
        return block
    # Data of a span are numbers of nodes, and k + 1/2 of midpoints.
    first = 0 if block.span is None else int(block.data[0, 0])
    if block.place is HorizonPlace.NODES:
        below, above = (_take_larger(x, at_ends) for x in (below, above))
    below, above = (x[first : first + block.count] for x in (below, above))
    lower, upper = block.lower.copy(), block.upper.copy()
    columns = {id(row): k for k, row in enumerate(limits.rows)}
    for i in range(block.rows):
        k = columns.get(id(find_row(block, i, limits.statement, steps)))
        if k is not None:
            lower[:, i] += below[:, k]
            upper[:, i] -= above[:, k]
    return replace(block, lower=np.minimum(lower, upper), upper=np.maximum(lower, upper))


def _take_larger(shifts: Array, at_ends: NDArray[np.bool_]) -> Array:
    """Return shifts at nodes, (steps + 1, rows): the larger of both steps, (steps, rows).

    At the first and the last node only rows ``at_ends``, (2, rows), are shifted.
    """
    first, last = (shifts[[k]] * rows for k, rows in zip((0, -1), at_ends, strict=True))
    return np.concatenate([first, np.maximum(shifts[1:], shifts[:-1]), last])
