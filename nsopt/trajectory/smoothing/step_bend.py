"""A small cost of how accelerations bend within steps of polynomials, unseen by quadrature.

Measured in docs/trajectory.md, "Joints that are light".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from nsopt.mpcc import StructuredNlp
from nsopt.result import Result
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.transcription.base import Array, Transcription

M = TypeVar("M", bound=Transcription)

SHARE = 1e-4
"""`StepBend` of a step that bends as much as the guess accelerates, over the cost of the guess."""


@dataclass(frozen=True, kw_only=True)
class StepBend(Cost):
    """Squared second differences of the accelerations within each step, times its length.

    They fall with h^4 where accelerations are smooth. Light joints cost little to accelerate, so
    quadrature by three points hardly bounds them: an optimum may swing between the points, which
    costs do not see.
    """

    def over_step(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        return h * ca.sumsqr(a[0] - 2 * a[1] + a[2])


def make_step_bend(
    transcription: Transcription, nlp: StructuredNlp, guess: Guess, p: Array
) -> StepBend:
    """Return the cost, weighted by the guess of a motion by polynomials.

    Arguments as of `make_tie_breaker`.
    """
    x = transcription.start_from(guess)
    cost = abs(float(np.asarray(nlp.terms(x, transcription.parameters(p))).sum()))
    share = np.linspace(0, 1, 2 * transcription.horizon.steps + 1)
    motion = guess.trajectory(share, transcription.horizon.bounds, transcription.inputs)
    squares = float(np.mean(np.sum(motion.a**2, axis=1))) * motion.duration
    size = cost if np.isfinite(cost) and cost > 0 else 1.0
    return StepBend(weight=SHARE * size / max(squares, motion.duration**-3))


def with_bend(x: M, nlp: StructuredNlp, guess: Guess, p: Array, tie: Cost | None) -> M | None:
    """Return a motion with a `StepBend`, before its tie-breaker if any; None if it has one already.

    Arguments as of `make_tie_breaker`.
    """
    if any(isinstance(cost, StepBend) for cost in x.costs):
        return None
    bend, k = make_step_bend(x, nlp, guess, p), len(x.costs) - (tie is not None)
    return replace(x, costs=(*x.costs[:k], bend, *x.costs[k:]))


def record_bend(transcription: Transcription) -> dict[str, Any]:
    """Return the attribute ``step_bend``, the weight; none where there is no such cost."""
    weights = [x.weight for x in transcription.costs if isinstance(x, StepBend)]
    return {"step_bend": sum(weights)} if weights else {}


def restore_bend(transcription: Transcription, result: Result) -> Transcription:
    """Return a motion with the `StepBend` of its optimum, by `record_bend`."""
    weight = result.data.attrs.get("step_bend")
    if weight is None:
        return transcription
    return replace(transcription, costs=(*transcription.costs, StepBend(weight=float(weight))))
