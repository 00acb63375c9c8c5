"""Coordinates that no cost depends on: of all their best motions the smooth one is taken."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import StructuredNlp
from nsopt.result import Result
from nsopt.trajectory.costs import Cost, Smoothness
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.transcription.base import Array, Transcription

M = TypeVar("M", bound=Transcription)

SHARE = 1e-4
"""Cost of the tie-breaker over that of the guess, so that it decides between equals alone."""

LARGE = 1e-2
"""Cost of the tie-breaker over that of the optimum from which it is made smaller."""

SETTLED = 1e-3
"""The same after that."""


def tie_breaker(
    transcription: Transcription,
    nlp: StructuredNlp,
    depends: NDArray[np.bool_],
    guess: Guess,
    p: Array,
) -> Smoothness | None:
    """Return a cost of the coordinates that no cost depends on; None if there are none.

    Parameters
    ----------
    transcription : Transcription
    nlp : StructuredNlp
        Its program.
    depends : (number of costs, n)
        Which costs depend on which unknowns.
    guess : Guess
    p : (np,)
        Parameters of the mechanism.
    """
    free = transcription.find_undetermined(np.any(depends, axis=0))
    if not free:
        return None
    x = transcription.start_from(guess)
    cost = abs(float(np.asarray(nlp.terms(x, transcription.parameters(p))).sum()))
    size = cost if np.isfinite(cost) and cost > 0 else 1.0
    motion = guess.trajectory(
        np.linspace(0, 1, 101), transcription.horizon.bounds, transcription.inputs
    )
    columns = [transcription.dynamics.v_names.index(name) for name in free]
    squares = float(np.mean(np.sum(motion.a[:, columns] ** 2, axis=1))) * motion.duration
    least = motion.duration**-3  # a guess at rest: as if it moved by about one
    return Smoothness(names=tuple(free), weight=SHARE * size / max(squares, least))


def with_less_tie(
    transcription: M, tie: Smoothness | None, terms: Array
) -> tuple[M, Smoothness] | None:
    """Return a motion whose tie-breaker decides between equals alone, and that; None if it does.

    A motion much faster than its guess makes one large that was sized by the guess.

    Parameters
    ----------
    transcription : Transcription
    tie : Smoothness, optional
        Its tie-breaker, the last one of its costs.
    terms : (k,)
        Costs of the optimum.
    """
    if tie is None or not 0 < LARGE * abs(terms[:-1].sum()) < terms[-1] < np.inf:
        return None
    tie = replace(tie, weight=tie.weight * SETTLED * abs(terms[:-1].sum()) / terms[-1])
    return replace(transcription, costs=(*transcription.costs[:-1], tie)), tie


def with_cost(transcription: M, cost: Cost | None) -> M:
    """Return a motion with one cost more, the last, or the same if there is none."""
    if cost is None:
        return transcription
    return replace(transcription, costs=(*transcription.costs, cost))


def record_tie(cost: Smoothness | None) -> dict[str, str]:
    """Return the attribute of a result that tells of a tie-breaker; none where there is none."""
    if cost is None:
        return {}
    return {"tie_breaker": json.dumps({"names": cost.names, "weight": cost.weight})}


def of_result(result: Result) -> Smoothness | None:
    """Return the tie-breaker of a result."""
    stated = result.data.attrs.get("tie_breaker")
    return Smoothness(**json.loads(stated)) if stated else None
