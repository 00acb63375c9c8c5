"""Limits kept between nodes too: tightened by what a motion exceeds them, and solved again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import ConstraintBlock, Solution, StructuredNlp
from nsopt.trajectory.diagnosis import stated_row
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.verification.between_nodes import KEPT, BeyondLimits, LimitsBetweenNodes

ROUNDS = 16
"""How often limits are tightened at most."""

MORE = 1.1
"""Times what is exceeded, by which a limit is tightened."""

SLOWEST = 0.75
"""The largest part of it that is taken to be left by the next round."""


class KeptMotion(NamedTuple):
    """A solution and what is left of its excess between nodes.

    Attributes
    ----------
    solution : Solution
        With the iterations and the time of all rounds.
    excess : BeyondLimits
    rounds : int
        How often limits were tightened.
    interrupted : bool
        Whether the last round was, by Ctrl-C or SIGTERM.
    """

    solution: Solution
    excess: BeyondLimits
    rounds: int
    interrupted: bool = False

    @property
    def attrs(self) -> dict[str, Any]:
        """The same on record."""
        return {"limits_exceeded": self.excess.largest, "limits_tightened": self.rounds}

    @property
    def fault(self) -> str:
        """Which limit is not kept; empty if all are."""
        if self.excess.largest <= KEPT:
            return ""
        if self.interrupted:
            return f"interrupted while limits were tightened: {self.excess.worst()}"
        tried = f" after limits were tightened {self.rounds} times" if self.rounds else ""
        return f"{self.excess.worst()}{tried}: give it more steps"


@dataclass(frozen=True, eq=False)
class Tightening:
    """The search for a motion that keeps its limits at all times.

    Where a motion exceeds a limit within a step, the limit is tightened by as much at the nodes and
    the midpoint of the step, and the program solved again; by more where part of the last excess is
    left, as if each round left that part. At the first and the last node a limit is tightened only
    where accelerations or inputs count, as coordinates and velocities may be given there.

    Parameters
    ----------
    nlp : StructuredNlp
        Of a motion by polynomials.
    limits : LimitsBetweenNodes
    solve : callable
        Of a program with other limits, from a solution.
    """

    nlp: StructuredNlp
    limits: LimitsBetweenNodes
    solve: Callable[[StructuredNlp, Solution], Solution]

    def kept(self, solution: Solution) -> KeptMotion:
        """Return the motion of least cost found that keeps its limits, from one that may not."""
        best = last = KeptMotion(solution, self._excess(solution), 0)
        shifts, before = np.zeros_like(last.excess.beyond), np.zeros_like(last.excess.beyond)
        for k in range(1, ROUNDS + 1):
            beyond = last.excess.beyond
            if last.excess.largest <= KEPT:
                break
            left = np.clip(beyond / np.where(before > 0, before, np.inf), 0, SLOWEST)
            shifts, before = shifts + MORE * beyond / (1 - left), beyond
            blocks = [self._tightened(block, *shifts) for block in self.nlp.blocks]
            found = self.solve(self.nlp.restated(blocks), last.solution)
            if not found.ok:
                best = best._replace(interrupted=found.interrupted)
                break
            spent = replace(
                found,
                stages=(*last.solution.stages, *found.stages),
                time=found.time + last.solution.time,
            )
            last = KeptMotion(spent, self._excess(found), k)
            best = min(best, last, key=lambda x: x.excess.largest)
        return last if last.excess.largest <= KEPT else best

    def _excess(self, solution: Solution) -> BeyondLimits:
        return self.limits.excess(self._motion.trajectory(solution.x)[1])

    @property
    def _motion(self) -> Collocation:
        return self.limits.transcription

    def _tightened(self, block: ConstraintBlock, below: Array, above: Array) -> ConstraintBlock:
        """Return a block with limits moved inward, (steps, rows) each, where it has their rows."""
        steps = self._motion.horizon.steps
        if block.name != "moment":
            return block
        if block.count == steps + 1:
            below, above = (_at_nodes(x, self.limits.free_at_ends) for x in (below, above))
        lower, upper = block.lower.copy(), block.upper.copy()
        numbers = {id(row): k for k, row in enumerate(self.limits.rows)}
        for i in range(block.rows):
            k = numbers.get(id(stated_row(block, i, self.limits.statement, steps)))
            if k is not None:
                lower[:, i] += below[:, k]
                upper[:, i] -= above[:, k]
        return replace(block, lower=np.minimum(lower, upper), upper=np.maximum(lower, upper))


def _at_nodes(shifts: Array, at_ends: NDArray[np.bool_]) -> Array:
    """Return the larger one of both steps at each node, (steps + 1, rows); some not at the ends."""
    first, last = (shifts[[k]] * at_ends for k in (0, -1))
    return np.concatenate([first, np.maximum(shifts[1:], shifts[:-1]), last])
