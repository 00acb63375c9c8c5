"""How limits are tightened, by what a motion exceeds them between nodes, and solved again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import ConstraintBlock, Solution, StructuredNlp
from nsopt.trajectory.diagnosis import find_row
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.verification.between_nodes import KEPT, BeyondLimits, LimitsBetweenNodes

MORE = 1.1
"""Times what is exceeded, by which a limit is tightened."""

SLOWEST = 0.75
"""The largest part of it that is taken to be left by the next round."""


class LimitedPart(NamedTuple):
    """A part of a program: a motion by polynomials with its limits.

    Attributes
    ----------
    limits : LimitsBetweenNodes
        One or more.
    unknowns, blocks : slice
        Of the program.
    """

    limits: LimitsBetweenNodes
    unknowns: slice = slice(None)
    blocks: slice = slice(None)

    def excess(self, solution: Solution) -> BeyondLimits:
        """Return how far a solution goes beyond its limits."""
        fine = self.limits.transcription.trajectory(solution.x[self.unknowns])[1]
        return self.limits.excess(fine)


class KeptMotion(NamedTuple):
    """What is left of the excess of a motion between nodes.

    Attributes
    ----------
    excesses : tuple of BeyondLimits
        Of each part.
    rounds : int
        How often limits were tightened.
    interrupted : bool
        Whether the last round was, by Ctrl-C or SIGTERM.
    """

    excesses: tuple[BeyondLimits, ...]
    rounds: int
    interrupted: bool = False

    @property
    def largest(self) -> float:
        """The largest excess of all parts, over the size of its limit."""
        return max(x.largest for x in self.excesses)

    def of_part(self, k: int) -> KeptMotion:
        """Return the same with the excess of one part alone."""
        return self._replace(excesses=(self.excesses[k],))

    @property
    def attrs(self) -> dict[str, Any]:
        """The same on record."""
        return {"limits_exceeded": self.largest, "limits_tightened": self.rounds}

    @property
    def fault(self) -> str:
        """Which limit is not kept; empty if all are."""
        if self.largest <= KEPT:
            return ""
        worst = max(self.excesses, key=lambda x: x.largest).worst()
        if self.interrupted:
            return f"interrupted while limits were tightened: {worst}"
        tried = f" after limits were tightened {self.rounds} times" if self.rounds else ""
        return f"{worst}{tried}: give it more steps"


End = tuple[Solution, KeptMotion]
"""A solution and what is left of its excess."""


@dataclass(frozen=True, eq=False)
class Tightening:
    """The search for a motion that keeps its limits at all times.

    Where a motion exceeds a limit within a step, the limit is tightened by as much at the nodes and
    the midpoint of the step, and the program solved again; by more where part of the last excess is
    left, as if each round left that part. At the first and the last node a limit is tightened only
    where accelerations or inputs count; where that does not end, as where phases meet, wherever a
    posture that is given there does not decide it.

    Parameters
    ----------
    nlp : StructuredNlp
        Of one motion by polynomials, or of several.
    parts : sequence of LimitedPart
    rounds : int
        How often limits are tightened at most.
    solve : callable
        Of a program with other limits, from a solution.
    """

    nlp: StructuredNlp
    parts: Sequence[LimitedPart]
    rounds: int
    solve: Callable[[StructuredNlp, Solution], Solution]

    def tighten(self, solution: Solution) -> End:
        """Return the motion of least cost found that keeps its limits, from one that may not."""
        end, found = self._tighten(solution, [x.limits.rates_at_ends for x in self.parts])
        ends = [x.limits.free_at_ends for x in self.parts]
        alike = all(
            np.array_equal(x.limits.rates_at_ends, y) for x, y in zip(self.parts, ends, strict=True)
        )
        if found.largest <= KEPT or found.interrupted or alike:
            return end, found
        other, again = self._tighten(solution, ends)
        if again.largest >= found.largest:
            return end, found
        return other, again._replace(rounds=found.rounds + again.rounds)

    def _tighten(self, solution: Solution, ends: Sequence[NDArray[np.bool_]]) -> End:
        """Return the same, limits at first and last nodes tightened in the rows of ``ends``."""
        best = last = solution, KeptMotion(self._excesses(solution), 0)
        shifts = [np.zeros_like(x.beyond) for x in last[1].excesses]
        before = [np.zeros_like(x) for x in shifts]
        for k in range(1, self.rounds + 1):
            beyond = [x.beyond for x in last[1].excesses]
            if last[1].largest <= KEPT:
                break
            shifts = [x + _more(*y) for x, *y in zip(shifts, beyond, before, strict=True)]
            before = beyond
            found = self.solve(self._with_limits(shifts, ends), last[0])
            if not found.ok:
                best = best[0], best[1]._replace(interrupted=found.interrupted)
                break
            last = found, KeptMotion(self._excesses(found), k)
            best = min(best, last, key=lambda x: x[1].largest)
        return last if last[1].largest <= KEPT else best

    def _excesses(self, solution: Solution) -> tuple[BeyondLimits, ...]:
        return tuple(part.excess(solution) for part in self.parts)

    def _with_limits(
        self, shifts: Sequence[Array], ends: Sequence[NDArray[np.bool_]]
    ) -> StructuredNlp:
        """Return the program with limits moved inward, (2, steps, rows) of each part."""
        blocks = list(self.nlp.blocks)
        for part, shift, at_ends in zip(self.parts, shifts, ends, strict=True):
            own = blocks[part.blocks]
            blocks[part.blocks] = [_tight(x, part.limits, at_ends, *shift) for x in own]
        return self.nlp.restate(blocks)


def _more(beyond: Array, before: Array) -> Array:
    """Return by how much more limits are tightened, from what is exceeded now and was before."""
    left = np.clip(beyond / np.where(before > 0, before, np.inf), 0, SLOWEST)
    more: Array = MORE * beyond / (1 - left)
    return more


def _tight(
    block: ConstraintBlock,
    limits: LimitsBetweenNodes,
    at_ends: NDArray[np.bool_],
    below: Array,
    above: Array,
) -> ConstraintBlock:
    """Return a block with limits moved inward, (steps, rows) each, where it has their rows."""
    steps = limits.transcription.horizon.steps
    if block.name == "moment":
        first, of_nodes = 0, block.count == steps + 1
    elif block.name.startswith("during"):  # its data are the numbers of nodes, or half more
        first = int(block.data[0, 0])
        of_nodes = first == block.data[0, 0]
    else:
        return block
    if of_nodes:
        below, above = (_at_nodes(x, at_ends) for x in (below, above))
    below, above = (x[first : first + block.count] for x in (below, above))
    lower, upper = block.lower.copy(), block.upper.copy()
    numbers = {id(row): k for k, row in enumerate(limits.rows)}
    for i in range(block.rows):
        k = numbers.get(id(find_row(block, i, limits.statement, steps)))
        if k is not None:
            lower[:, i] += below[:, k]
            upper[:, i] -= above[:, k]
    return replace(block, lower=np.minimum(lower, upper), upper=np.maximum(lower, upper))


def _at_nodes(shifts: Array, at_ends: NDArray[np.bool_]) -> Array:
    """Return the larger one of both steps at each node, (steps + 1, rows); some not at the ends."""
    first, last = (shifts[[k]] * free for k, free in zip((0, -1), at_ends, strict=True))
    return np.concatenate([first, np.maximum(shifts[1:], shifts[:-1]), last])
