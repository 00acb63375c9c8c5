"""The best of several optimizations of one motion, each from a different guess."""

from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Integral

import numpy as np

from nsopt.interrupt import uninterrupted
from nsopt.result import Result
from nsopt.trajectory.assessment import stopped
from nsopt.trajectory.dry_friction import cost_of
from nsopt.trajectory.guesses import Perturbed
from nsopt.trajectory.optimization import Optimization
from nsopt.trajectory.schedules import horizon_settings


def multi_start(
    stated: Optimization,
    starts: int = 5,
    seed: int = 0,
    size: float = 0.3,
    *,
    parameters: Mapping[str, float] | None = None,
    steps: int | None = None,
    title: str = "optimum",
) -> Result:
    """Return the best of several optima, found from a guess and perturbations of it.

    Parameters
    ----------
    stated : Optimization
    starts : int
        Number of optimizations; the first from the stated guess, the others from `Perturbed` ones.
    seed : int
        Of the perturbations.
    size : float [rad] or [m]
        Of the perturbations.
    parameters, steps, title
        As for `Optimization.solve`.

    Returns
    -------
    Result
        The solution of least cost, by the exact sign of dry friction; where no start leads to one,
        not completed, the cheapest motion of those that meet all conditions, or else that of least
        violation. ``attrs["starts"]`` (JSON) has the cost of each start, null where it led to no
        solution, or none was made. After Ctrl-C the best so far, not completed.

    Raises
    ------
    TypeError, ValueError
        If ``starts`` is less than one; and as for `optimize`.
    KeyboardInterrupt
        After Ctrl-C or SIGTERM before the first solver has begun.
    """
    if isinstance(starts, bool) or not isinstance(starts, Integral):
        raise TypeError(
            f"starts of multi_start must be a number of starts, got {starts!r}: other guesses are "
            "made from that of the Optimization"
        )
    if starts < 1:
        raise ValueError(f"starts of multi_start must be 1 or more, got {starts}")
    internal = len(stated.dynamics.internal_names)
    first = stated.guess.placed(stated.dynamics, stated.conditions, parameters)
    perturbed = [Perturbed(first, seed + k, size, internal) for k in range(starts - 1)]
    guesses = [first, *perturbed]
    for guess in guesses:  # refused before the first solve
        guess.trajectory(np.linspace(0, 1, 3), stated.horizon.bounds, stated.inputs)
    results: list[Result] = []
    with uninterrupted():  # an interrupt is heard by each solve
        try:
            prepared = stated.prepared(parameters, steps, often=False)
            for guess in guesses:
                results.append(prepared.solve(guess=guess, title=title))
        except KeyboardInterrupt:
            if not results:
                raise
    solved = [result for result in results if result.completed]
    if solved:
        best = min(solved, key=cost_of)
    else:
        tolerances = horizon_settings(stated.solver).tolerances
        limit = min(tolerances.equality, tolerances.inequality)
        best = min(results, key=lambda x: _rank(x, limit))
    objectives = [cost_of(x) if x.completed else None for x in results]
    objectives += [None] * (starts - len(results))
    done = sum(not result.interrupted for result in results)
    if done < starts and not best.interrupted:
        best = stopped(best, f"interrupted after {done} of {starts} starts")
    return Result(best.data.assign_attrs(starts=json.dumps(objectives)))


def _rank(result: Result, limit: float) -> tuple[float, float]:
    """Return violation beyond the limit, then objective."""
    violation = float(result.data.attrs["violation"])
    return (0.0 if violation <= limit else violation), cost_of(result)
