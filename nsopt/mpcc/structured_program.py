"""Solving a structured program: compiled once, for many parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from nsopt.interrupt import interrupted
from nsopt.mpcc.active_set import ActiveSet, ActiveSetRun
from nsopt.mpcc.backend import Backend, Outcome, Point
from nsopt.mpcc.functions import Case
from nsopt.mpcc.homotopy import Trial, ended, follow
from nsopt.mpcc.layout import Layout, Vector
from nsopt.mpcc.row_residuals import RowResiduals
from nsopt.mpcc.schedule import Stage
from nsopt.mpcc.settings import Settings
from nsopt.mpcc.solution import Solution, Status
from nsopt.mpcc.stationarity import Stationarity
from nsopt.mpcc.status import why_not_optimal
from nsopt.mpcc.structured import StructuredNlp
from nsopt.mpcc.structured_branch import StructuredBranches

SHIFT = 10.0
"""Times what the relaxation gains to first order, by which a branch may cost more than its end."""

CLOSE = 1e-6
"""The same, in proportion to the objective."""


class StructuredProgram:
    """A structured program compiled for one Solver; solve it for many parameters.

    A point is a solution where all rows and bounds are met, evaluated anew at the numbers of the
    last stage, the backend reports success, and phase II, if there is one, found no direction that
    lowers the objective.

    Parameters
    ----------
    nlp : StructuredNlp
    backend : Backend
    settings : Settings
        Without relaxation, which is part of the rows.
    compiled : bool
        Whether derivatives are evaluated by compiled code.
    by_halves : callable, optional
        Returns the same program by a relaxation whose rows state G and H, where those of ``nlp`` do
        not; what phase II ends with has the multipliers of its rows.
    """

    def __init__(
        self,
        nlp: StructuredNlp,
        backend: Backend,
        settings: Settings,
        compiled: bool,
        by_halves: Callable[[], StructuredNlp] | None = None,
    ) -> None:
        self.nlp, self._backend, self._compiled = nlp, backend, compiled
        self._settings, self._by_halves = settings, by_halves
        program = nlp.nlp("horizon", compiled=compiled)
        assert program.derivatives is not None
        self._derivatives = program.derivatives
        self._call = backend.build(program)
        self._judge = RowResiduals(nlp, program.derivatives, settings.tolerances)

    def solve(self, p: Vector, lower: Vector, upper: Vector, start: Point) -> Solution:
        """Solve for the given numbers.

        Parameters
        ----------
        p : (k,)
            Parameters without homotopy numbers.
        lower, upper : (n,)
            Bounds of the unknowns.
        start : Point
            A warm one is first tried at the last stage alone.

        Returns
        -------
        Solution
            Also where it failed; no error of the backend is raised.
        """
        begin = perf_counter()
        case = Case(p, lower, upper, start.x, lower)
        schedules = self._settings.schedules
        if start.warm:  # a solution needs no homotopy
            schedules = (schedules[0][-1:], *schedules)
        final = schedules[0][-1]
        trials = follow(
            schedules,
            start,
            start,
            self._settings.retries,
            lambda stage, now, last: self._try(stage, now, case, final, last=last),
        )
        layout, found = self._judge.layout, None
        options = self._settings.active_set
        if options is not None and trials[-1].ok:
            exact = replace(case, p=np.append(p, final))
            trials, layout, found = self._improved(options, trials, exact)
        status = _status(trials, found)
        return ended(layout, trials, status, perf_counter() - begin, found)

    def _try(self, stage: Stage, start: Point, case: Case, final: Stage, *, last: bool) -> Trial:
        outcome = self._call(start, np.append(case.p, stage), case.lower, case.upper)
        residuals, f = self._judge.report(outcome.point, np.append(case.p, final), case)
        ok = outcome.success and (not last or residuals.largest <= 1)
        return Trial(stage, ok, outcome.point, outcome, residuals, f)

    def _improved(
        self, options: ActiveSet, trials: list[Trial], case: Case
    ) -> tuple[list[Trial], Layout, Stationarity]:
        """Return trials of branches too, the result last, its layout, and what it is."""
        nlp, derivatives, judge, origin = self.nlp, self._derivatives, self._judge, trials[-1]
        start, worse = origin.point, SHIFT * _gained(nlp, origin)
        if self._by_halves is not None:
            nlp = self._by_halves()
            derivatives = nlp.derivatives(compiled=self._compiled)
            judge = RowResiduals(nlp, derivatives, self._settings.tolerances)
            start = Point.cold(start.x, nlp.lower.size)
        branches = StructuredBranches(nlp, derivatives, self._backend, start.x, case.p)

        def judged(point: Point, outcome: Outcome) -> Trial:
            residuals, f = judge.report(branches.stated(point), case.p, case)
            ok = residuals.largest <= 1 and bool(np.isfinite(f))
            return Trial((), ok, point, outcome, residuals, f)

        first = replace(origin, point=branches.lifted(start, case))
        case = replace(case, guess=first.point.x)
        run = ActiveSetRun(
            options,
            branches,
            case,
            lambda x, outcome: judged(replace(outcome.point, x=x), outcome),
            lambda trial: trial,
            origin.objective + worse + CLOSE * abs(origin.objective),
        )
        end = run.run(first)
        best, found = end.best, end.found
        assert best is not None  # the end of the homotopy is, at least
        assert found is not None
        if best is first:
            return _marked([*end.tried, *trials]), self._judge.layout, found
        others = [x for x in (*trials, *end.tried) if x is not best]
        best = replace(best, point=branches.stated(best.point))
        return _marked([*others, best]), judge.layout, found


def _gained(nlp: StructuredNlp, end: Trial) -> float:
    """Return by how much the relaxation at the end of the homotopy lowers f, to first order."""
    sigma = end.stage[0]
    return sigma * float(np.abs(end.point.lam_g[nlp.products]).sum())


def _marked(trials: list[Trial]) -> list[Trial]:
    """Return trials whose last one tells if Ctrl-C ended the search."""
    if not interrupted():
        return trials
    last = trials[-1]
    return [*trials[:-1], replace(last, outcome=replace(last.outcome, interrupted=True))]


def _status(trials: Sequence[Trial], found: Stationarity | None) -> Status:
    """Return the status of a solve that ended with the last of its trials."""
    trial = trials[-1]
    status = trial.outcome.status
    if any(x.outcome.interrupted for x in trials):
        count = sum(x.outcome.iterations for x in trials)
        reason = f"interrupted after {count} iterations: {_state(trial)}"
        return Status(False, reason, "start the same call again", status)
    if trial.ok and found is not None and not found.optimal:
        remedy = "start elsewhere, or from this motion on another grid"
        return Status(False, f"feasible, not optimal: {why_not_optimal(found)}", remedy, status)
    if trial.ok:
        return Status(True, "all residuals are within tolerance", "", status)
    if trial.residuals.largest <= 1:
        remedy = "allow more iterations, or scale the objective"
        return Status(False, _state(trial), remedy, status)
    return Status(False, _state(trial), trial.residuals.worst().kind.value, status)


def _state(trial: Trial) -> str:
    """Return how far a motion is from a solution that it is not known to be."""
    if trial.residuals.largest <= 1:
        return "all conditions are met, but the objective may not be least"
    return str(trial.residuals.worst())
