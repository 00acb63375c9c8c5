"""Small costs beside the stated ones: against bends within steps, and to break ties.

A step bends where its accelerations do, which quadrature by three points does not see. Measured in
docs/theory/trajectory.md, "Joints that are light".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mpcc import StructuredNlp
from nsopt.result import Result
from nsopt.trajectory.costs import Cost, Smoothness
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.transcription.base import Transcription

M = TypeVar("M", bound=Transcription)  # so that what becomes of a `Collocation` is one

POINTS = 101  # number of points of the guess at which its accelerations weigh the tie-breaker

SHARE = 1e-4
"""Cost of a tie-breaker over all others, of the guess; and of bends, if accelerations bend within
each step by as much as they are in the guess."""

BENDS_BESIDE_TIE = 1e-2
"""Cost of such bends, where there is a tie-breaker: nothing else counts accelerations there.

With less, least times swing within steps, and on finer grids by more, wherefore limits cost them
several percent between nodes. A drive that goes straight from one limit to the other has no bend.
"""

TOO_LARGE = 1e-3
"""Cost of the tie-breaker over all others, at an optimum, above which it is made smaller."""

LESSENED = 1e-4  # cost of the tie-breaker over all others that it is then scaled to


@dataclass(frozen=True, kw_only=True)
class StepBend(Cost):
    """Squared second differences of the accelerations within each step, times its length.

    They fall with h^4 where accelerations are smooth. Light joints cost little to accelerate, so
    quadrature by three points hardly bounds them: an optimum may swing between the points, which
    costs do not see.
    """

    def over_step(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        return h * ca.sumsqr(a[0] - 2 * a[1] + a[2])


def _weigh(
    x: Transcription, nlp: StructuredNlp, guess: Guess, p: Array, points: int, columns: Any
) -> float:
    """Return the weight by which the squares of a guess's accelerations cost `SHARE` of the others.

    They are taken at so many ``points``; ``columns`` are those of the accelerations that count.
    """
    size = _find_size(x, nlp, guess, p)
    motion = guess.trajectory(np.linspace(0, 1, points), x.horizon.bounds, x.inputs)
    squares = float(np.mean(np.sum(motion.a[:, columns] ** 2, axis=1))) * motion.duration
    least = motion.duration**-3  # of a guess at rest, as if it moved by about 1 rad or m
    return SHARE * size / max(squares, least)


def _find_size(x: Transcription, nlp: StructuredNlp, guess: Guess, p: Array) -> float:
    """Return the cost of a guess; 1 where it has none."""
    unknowns = x.start_from(guess)
    cost = abs(float(np.asarray(nlp.terms(unknowns, x.parameters(p))).sum()))
    return cost if np.isfinite(cost) and cost > 0 else 1.0


def make_step_bend(x: Transcription, nlp: StructuredNlp, guess: Guess, p: Array) -> StepBend:
    """Return the cost of bends of a motion by polynomials, weighted by its guess."""
    return StepBend(weight=_weigh(x, nlp, guess, p, 2 * x.horizon.steps + 1, slice(None)))


def _find_earlier_weight(guess: Guess, names: Sequence[str]) -> float | None:
    """Return the weight of an earlier tie-breaker of these, over the objective, times the steps."""
    if not isinstance(guess, Earlier) or not guess.result.completed:
        return None
    attrs = guess.result.data.attrs
    tie = json.loads(attrs.get("tie_breaker", "null"))
    if tie is None or tie["names"] != list(names) or not attrs["objective"]:
        return None
    return float(tie["weight"] / abs(attrs["objective"]) * attrs["steps"])


def make_bend_beside(tie: Smoothness) -> StepBend:
    """Return the cost of bends that goes with a tie-breaker of a motion by polynomials."""
    return StepBend(weight=tie.weight * BENDS_BESIDE_TIE / SHARE)


def with_bend(x: M, nlp: StructuredNlp, guess: Guess, p: Array, tie: Cost | None) -> M | None:
    """Return a motion with a `StepBend` before its tie-breaker; None if it has one already."""
    if any(isinstance(cost, StepBend) for cost in x.costs):
        return None
    bend, k = make_step_bend(x, nlp, guess, p), len(x.costs) - (tie is not None)
    return replace(x, costs=(*x.costs[:k], bend, *x.costs[k:]))


def record_bend(x: Transcription) -> dict[str, Any]:
    """Return the attribute ``step_bend``, the weight; none where there is no such cost."""
    weights = [cost.weight for cost in x.costs if isinstance(cost, StepBend)]
    return {"step_bend": sum(weights)} if weights else {}


def restore_small_costs(x: Transcription, result: Result) -> Transcription:
    """Return a motion with the small costs of its optimum, by `record_tie` and `record_bend`."""
    tie, weight = (result.data.attrs.get(name) for name in ("tie_breaker", "step_bend"))
    x = with_cost(x, Smoothness(**json.loads(tie)) if tie else None)
    return with_cost(x, None if weight is None else StepBend(weight=float(weight)))


def make_tie_breaker(
    x: Transcription, nlp: StructuredNlp, depends: NDArray[np.bool_], guess: Guess, p: Array
) -> Smoothness | None:
    """Return a cost of the driven coordinates that no cost depends on; None if there are none.

    ``depends``, (number of costs, n), is which costs depend on which unknowns. From an `Earlier`
    optimum it has the weight that it had there, over the cost and times h: so what it makes of an
    optimum is of first order in h, and told by other grids.
    """
    undetermined = x.find_undetermined(np.any(depends, axis=0))
    if not undetermined:
        return None
    if (of_step := _find_earlier_weight(guess, undetermined)) is not None:
        weight = of_step * _find_size(x, nlp, guess, p) / x.horizon.steps
        return Smoothness(names=tuple(undetermined), weight=weight)
    columns = [x.dynamics.v_names.index(name) for name in undetermined]
    weight = _weigh(x, nlp, guess, p, POINTS, columns)
    return Smoothness(names=tuple(undetermined), weight=weight)


def with_less_tie(x: M, tie: Smoothness | None, terms: Array) -> tuple[M, Smoothness] | None:
    """Return a motion with a smaller tie-breaker, and that; None if it is small enough.

    A tie-breaker weighted by the guess is large for a motion that is much faster, and so is the
    cost of bends beside it. ``terms`` (k,) are the costs of the optimum, the tie-breaker's last.
    """
    if tie is None:
        return None
    others = abs(terms[[not _is_small(cost, tie) for cost in x.costs]].sum())
    if not 0 < TOO_LARGE * others < terms[-1] < np.inf:
        return None
    part = LESSENED * others / terms[-1]
    costs = tuple(
        replace(cost, weight=part * cost.weight) if _is_small(cost, tie) else cost
        for cost in x.costs
    )
    return replace(x, costs=costs), replace(tie, weight=part * tie.weight)


def _is_small(cost: Cost, tie: Smoothness) -> bool:
    """Return whether a cost is a tie-breaker or one of bends, and not stated by the user."""
    return cost is tie or isinstance(cost, StepBend)


def with_cost(x: M, cost: Cost | None) -> M:
    """Return a motion with one more cost, the last; the same if that is None."""
    return x if cost is None else replace(x, costs=(*x.costs, cost))


def record_tie(cost: Smoothness | None) -> dict[str, str]:
    """Return the attribute ``tie_breaker`` (JSON); none where there is none."""
    if cost is None:
        return {}
    return {"tie_breaker": json.dumps({"names": cost.names, "weight": cost.weight})}
