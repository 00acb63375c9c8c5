"""Solving a structured program, compiled once for many parameters: `StructuredProgram`.

The counterpart of `Program` over a horizon: a homotopy along schedules, then phase II.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from time import perf_counter
from typing import Any

import numpy as np

from nsopt.interrupt import is_interrupted
from nsopt.mpcc.backends.backend import (
    Backend,
    Call,
    CallPaddedAtFirst,
    Derivatives,
    Evaluator,
    Nlp,
    Outcome,
    Point,
)
from nsopt.mpcc.backends.warm_start import WarmStart
from nsopt.mpcc.horizon.simple_bounds import (
    SimpleBounds,
    SimplyBounded,
    find_given_values,
    make_room,
)
from nsopt.mpcc.horizon.structured import StructuredNlp
from nsopt.mpcc.horizon.structured_branch import StructuredBranches
from nsopt.mpcc.solve.active_set import ActiveSet, ActiveSetRun
from nsopt.mpcc.solve.branch import drop_repeated_zeros
from nsopt.mpcc.solve.functions import Case
from nsopt.mpcc.solve.homotopy import Homotopy, StageAttempt, Trial, make_solution
from nsopt.mpcc.solve.relaxed import say_why_not_optimal
from nsopt.mpcc.solve.schedule import Schedule
from nsopt.mpcc.solve.settings import Settings
from nsopt.mpcc.solve.solution import Residuals, Solution, Status
from nsopt.mpcc.solve.stationarity import Stationarity
from nsopt.mpcc.statement.layout import Kind, Layout, Section, Tolerances, Vector


class RowResiduals:
    """Residuals of a structured program, computed from its own derivatives."""

    def __init__(
        self, nlp: StructuredNlp, derivatives: Derivatives, tolerances: Tolerances
    ) -> None:
        self._rows, self._slope = (Evaluator(x) for x in (derivatives.jac_g, derivatives.grad_f))
        pattern = derivatives.jac_g.sparsity_out(1)
        self._row, self._column = (np.array(x, dtype=np.intp) for x in pattern.get_triplet())
        self._sloping = derivatives.grad_f.sparsity_out(1).row()
        self._tolerances = tolerances
        self._take(nlp)

    def _take(self, nlp: StructuredNlp) -> None:
        """Take the limits of rows from a program."""
        self._nlp, self.layout = nlp, _make_layout(nlp)
        self._sections = _list_sections(nlp, self._tolerances)
        self._limits = np.concatenate([section.limit for section in self._sections])

    def restate(self, nlp: StructuredNlp) -> RowResiduals:
        """Return those of the program with other limits of its rows."""
        other = copy.copy(self)
        other._take(nlp)
        return other

    def report(self, end: Point, p: Vector, case: Case) -> tuple[Residuals, float]:
        """Return the residuals at parameters p, homotopy numbers included, and the objective."""
        rows, entries = self._rows(end.x, p)
        f, slope = self._slope(end.x, p)  # a solver may report zero for what is not a number
        by_rows = np.bincount(self._column, entries * end.lam_g[self._row], end.x.size)
        gradient = by_rows + end.lam_x  # of the Lagrangian
        gradient[self._sloping] += slope
        outside = np.maximum(np.maximum(case.lower - end.x, end.x - case.upper), 0.0)
        ratio = np.concatenate([self._nlp.violations(rows), outside]) / self._limits
        residuals = Residuals(self.layout, self._sections, ratio, rows, gradient)
        return residuals, float(f[0])


def _make_layout(nlp: StructuredNlp) -> Layout:
    """Return a layout of unknowns and parameters alone; `_list_sections` has the rows."""
    n = nlp.x.numel()
    unknowns, parameters = {"x": slice(0, n)}, {"p": slice(0, nlp.p.numel())}
    return Layout(unknowns, parameters, np.ones(n), np.zeros(0, dtype=np.intp))


def _list_sections(nlp: StructuredNlp, t: Tolerances) -> tuple[Section, ...]:
    """Return the residuals of rows by block, then those of the bounds of unknowns."""
    sections, first = [], 0
    for block in nlp.blocks:
        limit = np.where(block.lower == block.upper, t.equality, t.inequality).ravel()
        rows = slice(first, first + limit.size)
        sections.append(Section(Kind.ROW, block.name, rows, limit, block.labels * block.count))
        first += limit.size
    n = nlp.x.numel()
    limit, rows = np.full(n, t.bounds), slice(first, first + n)
    return (*sections, Section(Kind.BOUNDS, "x", rows, limit, _label_unknowns(n)))


@cache
def _label_unknowns(n: int) -> tuple[str, ...]:
    return tuple(f"[{i}]" for i in range(n))


MANY_FIXED = 100  # more unknowns than bounds fix, which are durations: equations leave others free

# By so much a branch may cost more than the end of the homotopy: times what the relaxation gains to
# first order, and times the objective.
SHIFT, CLOSE = 10.0, 1e-6
EXACT = 1e-4  # gradient of the Lagrangian that useful multipliers leave, over that of the objective


class StructuredProgram:
    """A structured program compiled for one Solver; solve it for many parameters.

    A point is a solution where all rows and bounds, evaluated again at the numbers of the last
    stage, are met, the backend reports success, and phase II, if there is one, found no direction
    that lowers the objective.

    Parameters
    ----------
    nlp : StructuredNlp
    backend : Backend
    settings : Settings
        Without relaxation, which is part of the rows. Phase II needs one that states G and H.
    p : (k,), optional
        Typical parameters, homotopy numbers included: by them limits that rows meet whatever a
        solver does are found.
    start : (n,), optional
        Unknowns where the objective has a typical slope, by which it is scaled.
    """

    def __init__(
        self,
        nlp: StructuredNlp,
        backend: Backend,
        settings: Settings,
        p: Vector | None = None,
        start: Vector | None = None,
    ) -> None:
        self._backend, self._settings, self._slope = backend, settings, np.inf
        self._built = dict[Hashable, Any]()
        self._p = np.full(nlp.p.numel(), np.nan) if p is None else p
        split = SimpleBounds.of(nlp)
        self._of_rest = split.rest.derivatives()
        self._derivatives = split.derivatives(self._of_rest)
        if start is not None:
            slope = np.asarray(self._derivatives.grad_f(start, self._p)[1])
            largest = float(np.abs(slope).max(initial=0.0))
            self._slope = largest if 0 < largest < np.inf else np.inf
        self._judge = RowResiduals(nlp, self._derivatives, settings.tolerances)
        self._take(split)

    def _take(self, split: SimpleBounds, starts: WarmStart | None = None) -> None:
        """Take a program as split, and build the call that solves it."""
        self.nlp, self._split = split.whole, split
        # Without complementarity solvers move limits outwards by themselves.
        rest = split.rest
        if rest.complementary:
            g = self._of_rest.g(find_given_values(split.whole), self._p)
            rest = make_room(rest, np.asarray(g).ravel())
        stated = self._add_settings(rest.nlp("horizon", self._of_rest), starts)
        self._call = self._build(stated)
        if split.rows.size:
            self._call = SimplyBounded(split, self._call)
        self._judge = self._judge.restate(self.nlp)

    def _build(self, stated: Nlp) -> Call:
        """Return the call of a program, whose equations may outnumber the unknowns."""
        free = stated.x.numel() - int(np.sum(stated.lower == stated.upper))
        if free > MANY_FIXED:
            return self._backend.build(stated)
        return CallPaddedAtFirst(self._backend, stated)

    def restate(self, nlp: StructuredNlp, starts: WarmStart | None = None) -> StructuredProgram:
        """Return the program with other limits of its rows, from `StructuredNlp.restate`."""
        other = copy.copy(self)
        vars(other).pop("_whole", None)  # cached, of this program
        other._take(self._split.restate(nlp), starts)
        return other

    @property
    def rough(self) -> StructuredProgram:
        """The program with a loose tolerance of optimality, for the start of another solve."""
        other = copy.copy(self)
        vars(other).pop("_whole", None)
        other._backend = self._backend.rough
        other._take(self._split)
        return other

    def solve(
        self,
        p: Vector,
        lower: Vector,
        upper: Vector,
        start: Point,
        schedules: Sequence[Schedule] | None = None,
    ) -> Solution:
        """Solve for the given numbers.

        Parameters
        ----------
        p : (k,)
            Parameters without homotopy numbers.
        lower, upper : (n,)
            Bounds of the unknowns.
        start : Point
            A warm one is first tried at the last stage alone.
        schedules : sequence of Schedule, optional
            In place of those of the settings.

        Returns
        -------
        Solution
            Also where it failed; no error of the backend is raised.
        """
        begin = perf_counter()
        case = Case(p, lower, upper, guess=start.x, solver_lower=lower)
        schedules = self._settings.schedules if schedules is None else schedules
        if start.warm:  # a solution needs no homotopy
            schedules = (schedules[0][-1:], *schedules)
        exact = replace(case, p=np.append(p, schedules[0][-1]))
        trials: list[Trial] = []
        # Solvers keep bounds at the cost of rows, so a failure does not show which limit cannot be
        # kept: it is repeated with all limits as rows.
        for whole in (False, True) if self._split.rows.size else (False,):
            call = self._whole if whole else self._call
            path = Homotopy(schedules, start, start, self._settings.retries)
            for attempt in path:
                outcome = call(attempt.start, np.append(p, attempt.stage), lower, upper)
                path.take(self._judge_attempt(attempt, outcome, exact))
            trials += path.trials
            if trials[-1].ok or trials[-1].outcome.interrupted:
                break
        found: Stationarity | None = None
        options = self._settings.active_set
        if options is not None and trials[-1].ok and self.nlp.halves.size:
            trials, found = self._improve(options, trials, exact)
        status = replace(_make_status(trials, found), verdict=trials[-1].outcome.verdict)
        return make_solution(self._judge.layout, trials, status, perf_counter() - begin, found)

    @cached_property
    def _whole(self) -> Call:
        """The call with all rows as rows."""
        return self._build(self._add_settings(self.nlp.nlp("whole", self._derivatives)))

    def _add_settings(self, nlp: Nlp, starts: WarmStart | None = None) -> Nlp:
        return replace(nlp, slope=self._slope, starts=starts, built=self._built)

    def _judge_attempt(self, attempt: StageAttempt, outcome: Outcome, exact: Case) -> Trial:
        """Return the trial of an attempt; if it failed, maybe of the branch of its warm start."""
        point, residuals, f = self._judge_within_bounds(outcome.point, exact)
        ok = outcome.success and (not attempt.last or residuals.largest <= 1)
        trial = Trial(attempt.stage, ok, point, outcome, residuals, f)
        if ok or not attempt.last or outcome.interrupted or not attempt.start.warm:
            return trial
        return self._branch_beside(trial, attempt.start, exact)

    def _judge_within_bounds(self, end: Point, case: Case) -> tuple[Point, Residuals, float]:
        """Return an end moved to its bounds, its residuals and the objective.

        Solvers move bounds outwards by 1e-8. Where a robot of 80 kg stands on knees at their limits
        these are 1e-6 N m in its equations of motion: an end that meets its rows less well at its
        bounds than they allow stays where it is.
        """
        low, high = self._split.tighten(case.lower, case.upper)
        inside = replace(end, x=np.clip(end.x, low, np.maximum(low, high)))
        residuals, f = self._judge.report(inside, case.p, case)
        if residuals.largest <= 1:
            return inside, residuals, f
        return end, *self._judge.report(end, case.p, case)

    def _branch_beside(self, failed: Trial, near: Point, case: Case) -> Trial:
        """Return the solution on the branch of the point before a last stage that failed.

        At a small sigma steps of an interior-point method may be lost in round-off; on a branch
        nothing is relaxed. If that fails too, return the failed trial with the iterations and the
        time of both.
        """
        if self._settings.active_set is None or not self.nlp.halves.size:
            return failed
        branches = StructuredBranches(self.nlp, self._derivatives, self._backend, near.x, case.p)
        start = branches.lift(near, case)
        G, H = branches.G, branches.H
        outcome = branches.solve(start, drop_repeated_zeros(start.x[G] <= start.x[H], G, H), case)
        point = branches.restore(outcome.point)
        residuals, f = self._judge.report(point, case.p, case)
        if not outcome.success or not residuals.largest <= 1:
            both = failed.outcome.after(outcome)
            return replace(failed, outcome=replace(both, interrupted=outcome.interrupted))
        both = replace(outcome.after(failed.outcome), point=point)
        return Trial(failed.stage, True, point, both, residuals, f)

    def _improve(
        self, options: ActiveSet, trials: list[Trial], case: Case
    ) -> tuple[list[Trial], Stationarity]:
        """Return the trials with those of branches, the result last, and what it is."""
        origin, nlp = trials[-1], self.nlp
        known = (self._derivatives, self._backend, origin.point.x, case.p)
        branches = StructuredBranches(nlp, *known)

        def judge(x: Vector, outcome: Outcome) -> Trial:
            point = replace(outcome.point, x=x)
            residuals, f = self._judge.report(branches.restore(point), case.p, case)
            ok = residuals.largest <= 1 and bool(np.isfinite(f))
            return Trial((), ok, point, outcome, residuals, f)

        start = replace(origin, point=branches.lift(origin.point, case))
        case = replace(case, guess=start.point.x)
        products = np.abs(origin.point.lam_g[nlp.products])
        gain = origin.stage[0] * float(products.sum())  # of the relaxation, to first order
        most = origin.objective + (SHIFT * gain + CLOSE * abs(origin.objective))
        run = ActiveSetRun(options, branches, case, judge, lambda trial: trial, most)
        best, found, tried = run.run(start)
        assert best is not None  # the end of the homotopy is, at least
        assert found is not None
        if best is start:
            return _mark_interrupted([*tried, *trials]), found
        others = [x for x in (*trials, *tried) if x is not best]
        point = branches.restore(best.point)
        steepest = branches.steepness(best.point.x, case)
        if not np.abs(best.residuals.gradient).max() <= EXACT * steepest:
            point = replace(point, lam_x=np.nan * point.lam_x, lam_g=np.nan * point.lam_g)
        return _mark_interrupted([*others, replace(best, point=point)]), found


def _mark_interrupted(trials: list[Trial]) -> list[Trial]:
    """Return the trials, the last one marked as interrupted if Ctrl-C was pressed."""
    if not is_interrupted():
        return trials
    last = trials[-1]
    return [*trials[:-1], replace(last, outcome=replace(last.outcome, interrupted=True))]


def _make_status(trials: Sequence[Trial], found: Stationarity | None) -> Status:
    """Return the status of a solve that ended with the last of its trials."""
    trial = trials[-1]
    status = trial.outcome.status
    if any(x.outcome.interrupted for x in trials):
        count = sum(x.outcome.iterations for x in trials)
        reason = f"interrupted after {count} iterations: {_describe(trial)}"
        return Status(False, reason, "start the same call again", status)
    if trial.ok and found is not None and not found.optimal:
        remedy = "start elsewhere, or from this motion on another grid"
        return Status(False, f"feasible, not optimal: {say_why_not_optimal(found)}", remedy, status)
    if trial.ok:
        return Status(True, "all residuals are within tolerance", "", status)
    if trial.residuals.largest <= 1:
        remedy = "allow more iterations, or scale the objective"
        return Status(False, _describe(trial), remedy, status)
    return Status(False, _describe(trial), trial.residuals.worst().kind.value, status)


def _describe(trial: Trial) -> str:
    """Return in words how far the end of a trial is from a solution."""
    if trial.residuals.largest <= 1:
        return "all conditions are met, but the objective may not be least"
    return str(trial.residuals.worst())
