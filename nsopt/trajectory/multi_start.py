"""The best of several optimizations of one motion, each from a different guess."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np

from nsopt.checks import positive
from nsopt.interrupt import guard
from nsopt.result import Result
from nsopt.trajectory.assessment import mark_stopped
from nsopt.trajectory.guesses import Guess, Perturbed
from nsopt.trajectory.optimization import Optimization
from nsopt.trajectory.prepared import PreparedOptimization
from nsopt.trajectory.smoothing.dry_friction import read_exact_cost
from nsopt.trajectory.smoothing.schedules import horizon_settings


def multi_start(
    stated: Optimization,
    starts: int = 5,
    seed: int = 0,
    size: float = 0.3,
    *,
    parameters: Mapping[str, float] | None = None,
    steps: int | None = None,
    title: str = "",
    workers: int | None = 1,
    workers_timeout: float | None = None,
) -> Result:
    """Return the best of several optima, found from a guess and perturbations of it.

    Parameters
    ----------
    stated : Optimization
    starts : int
        Number of optimizations; the first from the stated guess, the others from `Perturbed` ones.
    seed : int
        Seed of the perturbations.
    size : float [rad] or [m]
        Size of the perturbations.
    parameters, steps, title
        As for `Optimization.solve`.
    workers : int, optional
        Processes. With one, all starts in this process, one after the other. None for one on each
        core, or within ``joblib.parallel_config(...)`` for those of that configuration: with "dask"
        the starts run on the cluster of the current Client. The result is the same.
    workers_timeout : float [s], optional
        How long to wait while that cluster has no worker; by default without end, with a warning
        after a minute.

    Returns
    -------
    Result
        The solution of least cost, by the exact sign of dry friction; where no start leads to one,
        not completed, the cheapest motion of those that meet all conditions, or else that of least
        violation. ``attrs["starts"]`` (JSON) has the cost of each start, null where it led to no
        solution, none was made, or its process died. After Ctrl-C the best so far, not completed;
        where the cluster is lost too, with a warning.

    Raises
    ------
    TypeError, ValueError
        If ``starts`` is less than one; and as for `optimize`.
    KeyboardInterrupt
        After Ctrl-C or SIGTERM before the first solver has begun; of several processes, before the
        first start is finished.
    RuntimeError
        If each process died.
    ConnectionError, TimeoutError
        If the cluster lost its scheduler, or has no worker for ``workers_timeout``, before the
        first start is finished.
    """
    if isinstance(starts, bool) or not isinstance(starts, Integral):
        raise TypeError(
            f"starts of multi_start must be a number of starts, got {starts!r}: other guesses are "
            "made from that of the Optimization"
        )
    if starts < 1:
        raise ValueError(f"starts of multi_start must be 1 or more, got {starts}")
    if workers_timeout is not None:
        positive("workers_timeout", workers_timeout)
    internal = len(stated.dynamics.internal_names)
    first = stated.guess.placed(stated.dynamics, stated.conditions, parameters)
    perturbed = [Perturbed(first, seed + k, size, internal) for k in range(starts - 1)]
    guesses = [first, *perturbed]
    for guess in guesses:  # refused before the first solve
        guess.trajectory(np.linspace(0, 1, 3), stated.horizon.bounds, stated.inputs)
    problem = _Problem(stated, parameters, steps, title)
    if workers == 1:
        by_number = _solve_in_turn(problem, guesses)
    else:
        by_number = _solve_in_parallel(problem, guesses, workers, workers_timeout)
    results = [x for _, x in sorted(by_number.items()) if x is not None]
    if not results:
        raise RuntimeError(f"each of the {starts} starts ended its process")
    solved = [result for result in results if result.completed]
    if solved:
        best = min(solved, key=read_exact_cost)
    else:
        limit = horizon_settings(stated.solver).tolerances.rows
        best = min(results, key=lambda x: _rank(x, limit))
    found = {k: read_exact_cost(x) for k, x in by_number.items() if x is not None and x.completed}
    objectives = [found.get(k) for k in range(starts)]
    done = sum(x is None or not x.interrupted for x in by_number.values())
    if done < starts and not best.interrupted:
        best = mark_stopped(best, f"interrupted after {done} of {starts} starts")
    return Result(best.data.assign_attrs(starts=json.dumps(objectives)))


@dataclass(frozen=True, eq=False)
class _Problem:
    """An optimization without its guess, which each process states once for several guesses."""

    stated: Optimization
    parameters: Mapping[str, float] | None
    steps: int | None
    title: str

    @cached_property
    def prepared(self) -> PreparedOptimization:
        return self.stated.prepared(self.parameters, self.steps, often=False)

    def solve(self, guess: Guess) -> Result:
        return self.prepared.solve(guess=guess, title=self.title)


def _solve_in_turn(problem: _Problem, guesses: Sequence[Guess]) -> dict[int, Result | None]:
    """Return the results by number of the start, after Ctrl-C those so far."""
    results: dict[int, Result | None] = {}
    with guard():
        try:
            for k, guess in enumerate(guesses):
                results[k] = problem.solve(guess)
        except KeyboardInterrupt:
            if not results:
                raise
    return results


def _solve_in_parallel(
    problem: _Problem, guesses: Sequence[Guess], workers: int | None, timeout: float | None
) -> dict[int, Result | None]:
    """Return the results by number of the start, None where the process died.

    After Ctrl-C, or with a warning where the cluster is lost, those so far.
    """
    from nsopt.parallel import run_all, wait_interruptibly  # joblib takes long to import

    results: dict[int, Result | None] = {}
    todo = dict(enumerate(guesses))
    runs = wait_interruptibly(run_all(problem.solve, todo, workers, timeout))
    try:
        with closing(runs) as arriving:
            for k, result in arriving:
                results[k] = result
                if result is None:
                    warnings.warn(f"start {k} ended its process: it counts as none", stacklevel=3)
    except (KeyboardInterrupt, ConnectionError, TimeoutError) as error:
        if all(x is None for x in results.values()):
            raise
        if not isinstance(error, KeyboardInterrupt):
            warnings.warn(f"after {len(results)} starts {error}", stacklevel=3)
    return results


def _rank(result: Result, limit: float) -> tuple[float, float]:
    """Return a key that is less of a better result: violation above the limit, then cost."""
    violation = float(result.data.attrs["violation"])
    return (0.0 if violation <= limit else violation), read_exact_cost(result)
