"""A program in one relaxation, compiled for a backend: its homotopy, and what its ends are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsopt.mpcc.backends.backend import Outcome, Point
from nsopt.mpcc.solve.functions import Case, Functions
from nsopt.mpcc.solve.homotopy import Homotopy, Trial
from nsopt.mpcc.solve.polish import least_norm, lift, polish
from nsopt.mpcc.solve.schedule import Schedule, Stage, schedule
from nsopt.mpcc.solve.settings import Recovery
from nsopt.mpcc.solve.status import RUNAWAY
from nsopt.mpcc.statement.layout import Tolerances, Vector
from nsopt.mpcc.statement.problem import Mpcc


class RelaxedProgram:
    """A program of equations, inequalities, pairs and discs in one relaxation, of so many rows."""

    def __init__(
        self, mpcc: Mpcc, way: Recovery, tolerances: Tolerances, retries: int, *, polish: bool
    ) -> None:
        self._schedules: tuple[Schedule, ...] = tuple(schedule(x) for x in way.schedules)
        self._exact, self._retries, self._polish = way.relaxation.exact, retries, polish
        self._stage_tolerance = tolerances.stage
        self.functions = Functions(mpcc, way.relaxation, tolerances)
        self.rows = self.functions.nlp.g.shape[0]
        self._call = way.backend.build(self.functions.nlp)

    def follow(self, start: Point, case: Case) -> list[Trial]:
        """Return the trials of the homotopy from a start, the result last."""
        if start.lam_g.size != self.rows:
            start = Point.cold(start.x, self.rows)
        own = Point.cold(case.guess, self.rows)
        cold = start if not start.warm and np.array_equal(start.x, own.x) else own
        path = Homotopy(self._schedules, start, cold, self._retries, exact=self._exact)
        for stage, begin, last in path:
            path.take(self._try(stage, begin, case, last=last))
        return path.trials

    def judge(self, x: Vector, outcome: Outcome, case: Case) -> Trial:
        """Return a point that was found in another way as a trial, ok where it is a solution."""
        point = Point.cold(x, self.rows)
        residuals, _, f = self.functions.report(point, self._sigma, case)
        good = residuals.largest <= 1 and np.abs(x).max() < RUNAWAY and np.isfinite(f)
        return Trial((), bool(good), point, outcome, residuals, f)

    def refine(self, trial: Trial, case: Case) -> Trial:
        """Return the trial polished, then of least norm; each kept only if it meets everything."""
        if self._polish and np.isfinite(trial.residuals.rows).all():
            x = polish(self.functions, trial.point.x, trial.residuals.rows, case)
            trial = self._move(trial, x, case)
        if trial.ok:
            trial = self._move(trial, least_norm(self.functions, trial.point.x, case), case)
        return trial

    @property
    def _sigma(self) -> float:
        """The last sigma of the homotopy."""
        return self._schedules[0][-1][0]

    def _try(self, stage: Stage, start: Point, case: Case, *, last: bool) -> Trial:
        inside = replace(start, x=np.clip(start.x, case.lower, case.upper))
        outcome = self._call(inside, np.append(case.p, stage), case.solver_lower, case.upper)
        residuals, relaxed, f = self.functions.report(outcome.point, stage[0], case)
        bounded = np.abs(outcome.point.x).max() < RUNAWAY
        near = bool(bounded) and relaxed <= self._stage_tolerance
        if not last:
            return Trial(stage, near, outcome.point, outcome, residuals, f)
        trial = Trial(stage, residuals.largest <= 1, outcome.point, outcome, residuals, f)
        return self.refine(trial, case) if near else trial

    def _move(self, trial: Trial, x: Vector | None, case: Case) -> Trial:
        if x is None or x is trial.point.x:
            return trial
        point = replace(trial.point, x=lift(x, case))
        sigma = trial.stage[0] if trial.stage else self._sigma
        residuals, _, f = self.functions.report(point, sigma, case)
        if not residuals.largest <= 1:
            return trial
        return replace(trial, ok=True, point=point, residuals=residuals, objective=f)
