"""The homotopy: stage after stage, each from the end of the last good one: `Homotopy`.

It only plans; `RelaxedProgram` and `StructuredProgram` solve each attempt that it yields.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nsopt.mpcc.backends.backend import Outcome, Point
from nsopt.mpcc.solve.schedule import Schedule, Stage, find_halfway
from nsopt.mpcc.solve.solution import Residuals, Solution, StageRun, Status
from nsopt.mpcc.solve.stationarity import Stationarity
from nsopt.mpcc.statement.layout import Layout

NARROW = 3.0
"""Ratio of the sigmas of a good and a failed stage below which none between is tried: between two a
factor of ten apart, as most schedules have them, that at 10^(1/2) and then one of 10^(1/4)."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A stage that was run, and its end, which is refined after the last stage."""

    stage: Stage
    ok: bool  # whether it solved the stage, or the program itself if it was the last
    point: Point
    outcome: Outcome
    residuals: Residuals  # of the program itself
    objective: float


class StageAttempt(NamedTuple):
    """A stage to be solved: its numbers, its start, and whether it is the last of its schedule."""

    stage: Stage
    start: Point
    last: bool


Walk = Generator[StageAttempt, None, Trial]  # attempts in order, and the trial that they end with


class Homotopy:
    """The stages of schedules, one after the other, until a schedule ends well.

    Each `StageAttempt` that it yields is to be solved, its trial given to `take`. After a failed
    stage a schedule goes back: from the last good point, to a stage halfway between the last good
    and the failed one, unless these are close. If none was good yet it restarts from ``cold``, the
    program's own guess, then from larger sigma. After more failures than ``retries`` the next
    schedule follows, from the start without multipliers; a stage that was run before from the same
    point is not run again. If ``exact``, every stage may be the last: see `Relaxation`.
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
        """Take the trial of the attempt that was yielded last."""
        self._taken = trial

    @property
    def trials(self) -> list[Trial]:
        """All trials, the result last.

        Where no schedule ended well it is the end that violates the program least, after Ctrl-C the
        trial that does.
        """
        assert self._best is not None  # there is always a schedule
        return [*(x for _, x in self._made if x is not self._best), self._best]

    def __iter__(self) -> Iterator[StageAttempt]:
        start, walk = self._start, self._until_exact if self._exact else self._follow
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
            if alike and _is_same(other.start, attempt.start):
                return trial
        yield attempt
        assert self._taken is not None
        self._made.append((attempt, self._taken))
        return self._taken

    def _follow(self, schedule: Schedule, start: Point) -> Walk:
        """Run one schedule; return its last trial."""
        pending = [*reversed(schedule)]
        good, first = start, pending[-1]
        # Before any stage was good, halfway is taken from an easier one than the first.
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
                # Multipliers may be what led astray.
                good = Point.cold(good.x, good.lam_g.size)
                if _is_close(stage, pending[-1]):
                    return trial
                pending.append(find_halfway(stage, pending[-1]))
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


def make_solution(
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
    runs = []
    for trial in trials:
        end = trial.outcome
        numbers = (end.iterations, end.time, end.interrupted)
        runs.append(StageRun(trial.stage, trial.ok, end.status, *numbers))
    last = (trials[-1].point, trials[-1].objective, trials[-1].residuals)
    return Solution(layout, *last, status, tuple(runs), time, stationarity, objectives)


def _is_same(a: Point, b: Point) -> bool:
    """Return whether two points are equal, with their multipliers."""
    equal = zip((a.x, a.lam_x, a.lam_g), (b.x, b.lam_x, b.lam_g), strict=True)
    return a is b or (a.warm == b.warm and all(np.array_equal(x, y) for x, y in equal))


def _is_close(good: Stage, failed: Stage) -> bool:
    """Return whether two stages differ in sigma alone, and by too little for one between.

    Stages of a smooth program are empty: these are tried again as often as ``retries`` allow.
    """
    return bool(failed) and good[1:] == failed[1:] and good[0] < NARROW * failed[0]


def measure_violation(trial: Trial) -> float:
    """Return the largest residual over its tolerance, at least 1; infinite where not a number."""
    largest = trial.residuals.largest
    return max(1.0, largest) if largest >= 0 else float("inf")
