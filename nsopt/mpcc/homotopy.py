"""The homotopy: stage after stage, with return to the last good one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nsopt.mpcc.backend import Outcome, Point
from nsopt.mpcc.layout import Layout
from nsopt.mpcc.schedule import Schedule, Stage, halfway
from nsopt.mpcc.solution import Residuals, Solution, StageRun, Status
from nsopt.mpcc.stationarity import Stationarity

NARROW = 3.0
"""Sigma of the last good stage over that of a failed one, below which none between is tried."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A stage that was run, its point refined if the stage was the last.

    ``ok`` tells whether a solution was found, of the whole program at the last stage.
    """

    stage: Stage
    ok: bool
    point: Point
    outcome: Outcome
    residuals: Residuals
    objective: float


SolveStage = Callable[[Stage, Point, bool], Trial]
"""(stage, start, whether it is the last of its schedule) -> trial."""


def follow(
    schedules: Sequence[Schedule],
    start: Point,
    cold: Point,
    retries: int,
    solve: SolveStage,
    *,
    exact: bool = False,
) -> list[Trial]:
    """Run schedules until one ends well; return all trials, the result last.

    After a failed stage a schedule goes back: from the last good point, to a stage halfway between
    the last good and the failed one, unless these are close. If nothing was good yet it restarts
    from the cold point, then from larger sigma. A schedule out of retries is left for the next one,
    from the start without multipliers; a stage that it shares with those before, from the same
    point, is not run again. Where none ends well, or Ctrl-C was pressed, the result is the end that
    violates the program least.

    Parameters
    ----------
    schedules : sequence of Schedule
    start, cold : Point
        The given start, and the program's own guess.
    retries : int
        Failed stages allowed in each schedule.
    solve : callable
    exact : bool
        Whether every stage may be the last, and each goes on to the next: see `Relaxation`.
    """
    trials: list[Trial] = []
    best: Trial | None = None
    solve = _each_once(solve)
    for schedule in schedules:
        made = (
            _raise_sigma(schedule, start, cold, solve)
            if exact
            else _along(schedule, start, cold, retries, solve)
        )
        trials += [trial for trial in made if not any(trial is known for known in trials)]
        if made[-1].outcome.interrupted:
            best = min(reversed(trials), key=_violation)
            break
        if best is None or made[-1].residuals.largest < best.residuals.largest or made[-1].ok:
            best = made[-1]
        if best.ok:
            break
        start = Point.cold(start.x, start.lam_g.size)
    assert best is not None  # there is always a schedule
    return [*(trial for trial in trials if trial is not best), best]


def ended(
    layout: Layout,
    trials: Sequence[Trial],
    status: Status,
    time: float,
    stationarity: Stationarity | None = None,
    objectives: tuple[float, ...] = (),
) -> Solution:
    """Return the solution that trials ended with, after ``time`` [s]."""
    last = trials[-1]
    runs = (
        StageRun(
            x.stage,
            x.ok,
            x.outcome.status,
            x.outcome.iterations,
            x.outcome.time,
            x.outcome.interrupted,
        )
        for x in trials
    )
    return Solution(
        layout,
        last.point,
        last.objective,
        last.residuals,
        status,
        tuple(runs),
        time,
        stationarity,
        objectives,
    )


def _each_once(solve: SolveStage) -> SolveStage:
    """Return a solve of stages that remembers its trials."""
    known: list[tuple[Stage, Point, bool, Trial]] = []

    def once(stage: Stage, start: Point, last: bool) -> Trial:
        for other, point, was_last, trial in known:
            if (other, was_last) == (stage, last) and _same(point, start):
                return trial
        known.append((stage, start, last, solve(stage, start, last)))
        return known[-1][-1]

    return once


def _same(a: Point, b: Point) -> bool:
    """Return whether two points are equal, with their multipliers."""
    equal = zip((a.x, a.lam_x, a.lam_g), (b.x, b.lam_x, b.lam_g), strict=True)
    return a is b or (a.warm == b.warm and all(np.array_equal(x, y) for x, y in equal))


def _along(
    schedule: Schedule, start: Point, cold: Point, retries: int, solve: SolveStage
) -> list[Trial]:
    """Run one schedule; the last trial is its result."""
    pending = [*reversed(schedule)]
    stage, good = _before(pending[-1]), start
    trials: list[Trial] = []
    failures = 0
    while pending and failures <= retries:
        trial = solve(pending[-1], good, len(pending) == 1)
        trials.append(trial)
        if trial.ok:
            stage, good = pending.pop(), trial.point
            continue
        if trial.outcome.interrupted:
            break
        failures += 1
        if good is start and start is not cold:
            good = cold
        else:
            # multipliers that led astray once are dropped
            good = Point.cold(good.x, good.lam_g.size)
            if _close(stage, pending[-1]):
                break
            pending.append(halfway(stage, pending[-1]))
    return trials


def _raise_sigma(schedule: Schedule, start: Point, cold: Point, solve: SolveStage) -> list[Trial]:
    """Run one schedule until a stage solves the program; the last trial is its result."""
    good, trials = start, list[Trial]()
    for stage in schedule:
        trials.append(solve(stage, good, True))
        if trials[-1].ok or trials[-1].outcome.interrupted:
            break
        good = trials[-1].point if trials[-1].outcome.success else cold
    return trials


def _close(good: Stage, failed: Stage) -> bool:
    """Return whether two stages have nothing between them that is worth trying."""
    return bool(failed) and good[1:] == failed[1:] and good[0] < NARROW * failed[0]


def _violation(trial: Trial) -> float:
    """Return the largest residual over its tolerance, 1 at least; infinite where not a number."""
    largest = trial.residuals.largest
    return max(1.0, largest) if largest >= 0 else float("inf")


def _before(first: Stage) -> Stage:
    """Return the easy stage from which halfway is taken before any stage was good."""
    return (max(1.0, 100 * first[0]), *first[1:]) if first else first
