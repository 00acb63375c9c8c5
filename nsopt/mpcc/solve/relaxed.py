"""A program in one relaxation, compiled for a backend: `RelaxedProgram` follows its homotopy.

`make_status` says what the end of a solve is, and the remedy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsopt.mpcc.backends.backend import Outcome, Point
from nsopt.mpcc.solve.functions import Case, Functions
from nsopt.mpcc.solve.homotopy import Homotopy, Trial
from nsopt.mpcc.solve.polish import clip_round_off, polish, take_least_norm
from nsopt.mpcc.solve.schedule import Schedule, Stage, make_schedule
from nsopt.mpcc.solve.settings import Recovery
from nsopt.mpcc.solve.solution import Status
from nsopt.mpcc.solve.stationarity import Stationarity
from nsopt.mpcc.statement.layout import Kind, Layout, Tolerances, Vector
from nsopt.mpcc.statement.problem import Mpcc

RUNAWAY = 1e12  # scaled unknowns this large show that a program is unbounded below
# The same for a program with an objective: where its slope vanishes solvers end on the way, as at
# x = 3e10 for the objective -log x.
FAR = 1e8

IN_WORDS = {
    "Infeasible_Problem_Detected": "near this point no direction lessens the violation",
    "Restoration_Failed": "the search for a feasible point failed",
    "Maximum_Iterations_Exceeded": "the iterations ran out",
    "Diverging_Iterates": "the iterates grow without bound",
}
"""What solvers say, in words."""


def make_status(
    name: str, layout: Layout, trial: Trial, found: Stationarity | None, *, optimized: bool
) -> Status:
    """Return the status of a program's last trial; if ``optimized``, it must be stationary.

    ``found`` is what its point is, None where that was not found out.
    """
    said = trial.outcome.status
    if trial.ok and not np.isfinite(trial.objective):
        reason = f"{name}: the objective is not a finite number at the end"
        return Status(False, reason, "check the guess and the bounds of what it depends on", said)
    is_optimal = not optimized or (found is not None and found.optimal)
    if trial.ok and is_optimal:
        what = "all residuals are within tolerance" if found is None else str(found)
        return Status(True, f"{name}: {what}", "", said)
    if is_far(trial, optimized=optimized):
        largest = int(np.argmax(np.abs(trial.point.x)))
        slots = layout.variables.items()
        unknown = next(of for of, slot in slots if slot.start <= largest < slot.stop)
        reason = f"{name}: {unknown!r} grows without bound, to {trial.point.x[largest]:.2g} scales"
        remedy = f"the objective may have no least value: give {unknown!r} bounds"
        return Status(False, reason, remedy, said)
    if trial.ok:
        reason = f"{name}: feasible, not optimal: {say_why_not_optimal(found)}"
        return Status(False, reason, "start elsewhere, or scale unknowns and objective", said)
    if trial.residuals.largest <= 1:
        reason = f"{name}: no stage of the schedule after sigma {trial.stage[0]:.1e} was reached"
        return Status(False, reason, "allow more retries or a finer schedule", said)
    worst = trial.residuals.worst()
    if not np.isfinite(worst.value):
        remedy = "the solver met numbers that are not finite: check the guess and the scales"
        return Status(False, f"{name}: {worst}", remedy, said)
    words = f"; {IN_WORDS[said]}" if said in IN_WORDS else ""
    remedy = worst.kind.value
    if optimized and worst.kind is Kind.COMPLEMENTARITY:
        remedy = "check that G or H of this pair can be zero, or give a better guess"
    return Status(False, f"{name}: {worst}{words}", remedy, said)


def is_far(trial: Trial, *, optimized: bool) -> bool:
    """Return whether an unknown is so large that the program may be unbounded below."""
    return bool(np.abs(trial.point.x).max() >= (FAR if optimized else RUNAWAY))


def say_why_not_optimal(found: Stationarity | None) -> str:
    """Return in words why a feasible point is not known to be optimal."""
    if found is None:
        return "interrupted before it was found out whether a direction lowers the objective"
    if np.isnan(found.descent):
        return "derivatives there are not finite numbers"
    if np.isinf(found.descent):
        return (
            "whether a direction lowers the objective is not found out: too many branches, or too "
            "little time"
        )
    return f"the objective falls by {found.descent:.2g} for each unit of some direction"


class RelaxedProgram:
    """A program of equations, inequalities, pairs and discs in one relaxation; ``rows`` counts."""

    def __init__(
        self, mpcc: Mpcc, way: Recovery, tolerances: Tolerances, retries: int, *, polish: bool
    ) -> None:
        self._schedules: tuple[Schedule, ...] = tuple(make_schedule(x) for x in way.schedules)
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
        """Return a point (n,) that another solve ended at as a trial, ok where it is a solution."""
        point = Point.cold(x, self.rows)
        residuals, _, f = self.functions.report(point, self._sigma, case)
        good = residuals.largest <= 1 and np.abs(x).max() < RUNAWAY and np.isfinite(f)
        return Trial((), bool(good), point, outcome, residuals, f)

    def refine(self, trial: Trial, case: Case) -> Trial:
        """Return the trial polished, then of least norm, each if its residuals are in tolerance."""
        if self._polish and np.isfinite(trial.residuals.rows).all():
            x = polish(self.functions, trial.point.x, trial.residuals.rows, case)
            trial = self._move(trial, x, case)
        if trial.ok:
            trial = self._move(trial, take_least_norm(self.functions, trial.point.x, case), case)
        return trial

    @property
    def _sigma(self) -> float:
        """The last sigma of the homotopy."""
        return self._schedules[0][-1][0]

    def _try(self, stage: Stage, start: Point, case: Case, *, last: bool) -> Trial:
        """Solve one stage; refine its end if it is the last."""
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
        """Return the trial at another point x (n,), itself if that is None or not a solution."""
        if x is None or x is trial.point.x:
            return trial
        point = replace(trial.point, x=clip_round_off(x, case))
        sigma = trial.stage[0] if trial.stage else self._sigma
        residuals, _, f = self.functions.report(point, sigma, case)
        if not residuals.largest <= 1:
            return trial
        return replace(trial, ok=True, point=point, residuals=residuals, objective=f)
