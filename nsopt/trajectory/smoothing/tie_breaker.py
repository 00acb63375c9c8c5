"""A small cost of coordinates that no cost depends on, so that their motion is smooth."""

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
"""Cost of the tie-breaker over all others, for the guess: it only decides between equal motions."""

TOO_LARGE = 1e-2
"""Cost of the tie-breaker over all others, at an optimum, from which it is made smaller."""

LESSENED = 1e-3
"""What that ratio is made."""


def make_tie_breaker(
    transcription: Transcription,
    nlp: StructuredNlp,
    depends: NDArray[np.bool_],
    guess: Guess,
    p: Array,
) -> Smoothness | None:
    """Return a cost of the driven coordinates that no cost depends on; None if there are none.

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
    undetermined = transcription.find_undetermined(np.any(depends, axis=0))
    if not undetermined:
        return None
    x = transcription.start_from(guess)
    cost = abs(float(np.asarray(nlp.terms(x, transcription.parameters(p))).sum()))
    size = cost if np.isfinite(cost) and cost > 0 else 1.0
    motion = guess.trajectory(
        np.linspace(0, 1, 101), transcription.horizon.bounds, transcription.inputs
    )
    columns = [transcription.dynamics.v_names.index(name) for name in undetermined]
    squares = float(np.mean(np.sum(motion.a[:, columns] ** 2, axis=1))) * motion.duration
    least = motion.duration**-3  # of a guess at rest, as if it moved by about 1 rad or m
    return Smoothness(names=tuple(undetermined), weight=SHARE * size / max(squares, least))


def with_less_tie(
    transcription: M, tie: Smoothness | None, terms: Array
) -> tuple[M, Smoothness] | None:
    """Return a motion with a smaller tie-breaker, and that; None if it is small enough.

    A tie-breaker weighted by the guess is large for a motion that is much faster.

    Parameters
    ----------
    transcription : Transcription
    tie : Smoothness, optional
        Its tie-breaker, the last one of its costs.
    terms : (k,)
        Costs of the optimum.
    """
    if tie is None or not 0 < TOO_LARGE * abs(terms[:-1].sum()) < terms[-1] < np.inf:
        return None
    tie = replace(tie, weight=tie.weight * LESSENED * abs(terms[:-1].sum()) / terms[-1])
    return replace(transcription, costs=(*transcription.costs[:-1], tie)), tie


def with_cost(transcription: M, cost: Cost | None) -> M:
    """Return a motion with one more cost, the last; the same if that is None."""
    if cost is None:
        return transcription
    return replace(transcription, costs=(*transcription.costs, cost))


def record_tie(cost: Smoothness | None) -> dict[str, str]:
    """Return the attribute ``tie_breaker`` (JSON); none where there is none."""
    if cost is None:
        return {}
    return {"tie_breaker": json.dumps({"names": cost.names, "weight": cost.weight})}


def restore_tie(result: Result) -> Smoothness | None:
    """Return the tie-breaker of an optimum, by `record_tie`."""
    stated = result.data.attrs.get("tie_breaker")
    return Smoothness(**json.loads(stated)) if stated else None
