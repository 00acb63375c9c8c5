"""The homotopy: stage after stage, with return to the last good one."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nsopt.mpcc.backends.backend import Outcome, Point
from nsopt.mpcc.solve.schedule import Schedule, Stage, halfway
from nsopt.mpcc.solve.solution import Residuals, Solution, StageRun, Status
from nsopt.mpcc.solve.stationarity import Stationarity
from nsopt.mpcc.statement.layout import Layout

NARROW = 3.0
"""Sigma of the last good stage over that of a failed one, below which none between is tried."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A stage that was run, refined if it was the last; ``ok`` where it found a solution."""

    stage: Stage
    ok: bool
    point: Point
    outcome: Outcome
    residuals: Residuals
    objective: float


class StageAttempt(NamedTuple):
    """A stage to be solved: its numbers, where it starts, whether it ends its schedule."""

    stage: Stage
    start: Point
    last: bool


Walk = Generator[StageAttempt, None, Trial]  # attempts in order, and the trial that they end with


class Homotopy:
    """The stages of schedules, one after the other, until a schedule ends well.

    Each `StageAttempt` that it yields is to be solved, its trial given to `take`. After a failed
    stage a schedule goes back: from the last good point, to a stage halfway between the last good
    and the failed one, unless these are close. If nothing was good yet it restarts from the cold
    point, the program's own guess, then from larger sigma. After more failures than ``retries`` it
    is left for the next one, from the start without multipliers; a stage that it shares with those
    before, from the same point, is not run again. If ``exact``, every stage may be the last, and
    each goes on to the next: see `Relaxation`.
    """

    def __init__(
        self,
        schedules: Sequence[Schedule],
        start: Point,
        cold: Point,
        retries: int,
        *,
        exact: bool = False,
    ) -> None:
        self._schedules, self._start, self._cold = schedules, start, cold
        self._retries, self._exact = retries, exact
        self._made: list[tuple[StageAttempt, Trial]] = []
        self._taken: Trial | None = None
        self._best: Trial | None = None

    def take(self, trial: Trial) -> None:
        """Take what the last attempt has come to."""
        self._taken = trial

    @property
    def trials(self) -> list[Trial]:
        """All trials, the result last.

        Where no schedule ended well, or Ctrl-C was pressed, that is the end that violates the
        program least.
        """
        assert self._best is not None  # there is always a schedule
        return [*(x for _, x in self._made if x is not self._best), self._best]

    def __iter__(self) -> Iterator[StageAttempt]:
        start, walk = self._start, self._until_exact if self._exact else self._along
        for schedule in self._schedules:
            end, best = (yield from walk(schedule, start)), self._best
            if end.outcome.interrupted:
                self._best = min((x for _, x in reversed(self._made)), key=measure_violation)
                return
            if best is None or end.residuals.largest < best.residuals.largest or end.ok:
                self._best = end
            if end.ok:
                return
            start = Point.cold(start.x, start.lam_g.size)

    def _solve(self, attempt: StageAttempt) -> Walk:
        """Yield an attempt unless it was made before; return its trial."""
        for other, trial in self._made:
            alike = (other.stage, other.last) == (attempt.stage, attempt.last)
            if alike and _same(other.start, attempt.start):
                return trial
        yield attempt
        assert self._taken is not None
        self._made.append((attempt, self._taken))
        return self._taken

    def _along(self, schedule: Schedule, start: Point) -> Walk:
        """Run one schedule; return its last trial."""
        pending = [*reversed(schedule)]
        good, first = start, pending[-1]
        # The easy stage from which halfway is taken before any stage was good.
        stage = (max(1.0, 100 * first[0]), *first[1:]) if first else first
        failures = 0
        while True:
            trial = yield from self._solve(StageAttempt(pending[-1], good, len(pending) == 1))
            if trial.ok:
                stage, good = pending.pop(), trial.point
                if not pending:
                    return trial
                continue
            failures += 1
            if trial.outcome.interrupted:
                return trial
            if good is start and start is not self._cold:
                good = self._cold
            else:
                # multipliers that led astray once are dropped
                good = Point.cold(good.x, good.lam_g.size)
                if _close(stage, pending[-1]):
                    return trial
                pending.append(halfway(stage, pending[-1]))
            if failures > self._retries:
                return trial

    def _until_exact(self, schedule: Schedule, start: Point) -> Walk:
        """Run one schedule until a stage solves the program exactly; return its last trial."""
        good = start
        for stage in schedule:
            trial = yield from self._solve(StageAttempt(stage, good, True))
            if trial.ok or trial.outcome.interrupted:
                break
            good = trial.point if trial.outcome.success else self._cold
        return trial


def end_solve(
    layout: Layout,
    trials: Sequence[Trial],
    status: Status,
    time: float,
    stationarity: Stationarity | None = None,
    objectives: tuple[float, ...] = (),
) -> Solution:
    """Return the solution that trials ended with, after ``time`` [s].

    ``objectives`` are those of the ends from several starts, empty from one.
    """
    ends = [(x.stage, x.ok, x.outcome) for x in trials]
    runs = tuple(
        StageRun(stage, ok, end.status, end.iterations, end.time, end.interrupted)
        for stage, ok, end in ends
    )
    found = (trials[-1].point, trials[-1].objective, trials[-1].residuals)
    return Solution(layout, *found, status, runs, time, stationarity, objectives)


def _same(a: Point, b: Point) -> bool:
    """Return whether two points are equal, with their multipliers."""
    equal = zip((a.x, a.lam_x, a.lam_g), (b.x, b.lam_x, b.lam_g), strict=True)
    return a is b or (a.warm == b.warm and all(np.array_equal(x, y) for x, y in equal))


def _close(good: Stage, failed: Stage) -> bool:
    """Return whether two stages have nothing between them that is worth trying.

    That is so where sigma alone differs, and by little. Stages of a smooth program are empty: these
    are not close, and are tried as often as ``retries`` allow.
    """
    return bool(failed) and good[1:] == failed[1:] and good[0] < NARROW * failed[0]


def measure_violation(trial: Trial) -> float:
    """Return the largest residual over its tolerance, at least 1; infinite where not a number."""
    largest = trial.residuals.largest
    return max(1.0, largest) if largest >= 0 else float("inf")
