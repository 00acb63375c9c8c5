"""Solving a structured program: compiled once, for many parameters."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from nsopt.mpcc.backend import Backend, Outcome, Point
from nsopt.mpcc.functions import Case
from nsopt.mpcc.homotopy import Trial, ended, follow
from nsopt.mpcc.layout import Kind, Layout, Section, Tolerances, Vector
from nsopt.mpcc.schedule import Stage
from nsopt.mpcc.settings import Settings
from nsopt.mpcc.solution import Residuals, Solution, Status
from nsopt.mpcc.structured import StructuredNlp


class StructuredProgram:
    """A structured program compiled for one Solver; solve it for many parameters.

    A point is a solution where all rows and bounds are met, evaluated anew at the numbers of the
    last stage, and the backend reports success.

    Parameters
    ----------
    nlp : StructuredNlp
    backend : Backend
    settings : Settings
        Without relaxation, which is part of the rows.
    compiled : bool
        Whether derivatives are evaluated by compiled code.
    """

    def __init__(
        self, nlp: StructuredNlp, backend: Backend, settings: Settings, compiled: bool
    ) -> None:
        self.nlp = nlp
        self._settings = settings
        program = nlp.nlp("horizon", compiled=compiled)
        assert program.derivatives is not None
        self._derivatives = program.derivatives
        self._call = backend.build(program)
        self._layout = _layout(nlp)
        self._sections = _sections(nlp, settings.tolerances)
        self._limits = np.concatenate([section.limit for section in self._sections])

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
        return ended(self._layout, trials, _status(trials), perf_counter() - begin)

    def _try(self, stage: Stage, start: Point, case: Case, final: Stage, *, last: bool) -> Trial:
        outcome = self._call(start, np.append(case.p, stage), case.lower, case.upper)
        residuals, f = self._report(outcome, np.append(case.p, final), case)
        ok = outcome.success and (not last or residuals.largest <= 1)
        return Trial(stage, ok, outcome.point, outcome, residuals, f)

    def _report(self, outcome: Outcome, p: Vector, case: Case) -> tuple[Residuals, float]:
        """Return the residuals at parameters p, and the objective."""
        end, nlp = outcome.point, self.nlp
        g, J = self._derivatives.jac_g(end.x, p)
        rows = np.asarray(g).ravel()
        slope = np.asarray(self._derivatives.grad_f(end.x, p)[1]).ravel()
        gradient = slope + J.sparse().T @ end.lam_g + end.lam_x
        outside = np.maximum(np.maximum(case.lower - end.x, end.x - case.upper), 0.0)
        ratio = np.concatenate([nlp.violations(rows), outside]) / self._limits
        residuals = Residuals(self._layout, self._sections, ratio, rows, gradient)
        # A solver may report zero for an objective that is not a number.
        return residuals, float(np.sum(np.asarray(nlp.terms(end.x, p))))


def _layout(nlp: StructuredNlp) -> Layout:
    n, nothing = nlp.x.numel(), np.zeros(0)
    named = ({"x": slice(0, n)}, {"p": slice(0, nlp.p.numel())})
    least = np.zeros(0, dtype=np.intp)
    return Layout(*named, np.ones(n), least, 0, 0, 0, nothing, (), {}, {}, {})


def _sections(nlp: StructuredNlp, t: Tolerances) -> tuple[Section, ...]:
    """Return the residuals of rows by block, then those of the bounds of unknowns."""
    sections, first = [], 0
    for block in nlp.blocks:
        limit = np.where(block.lower == block.upper, t.equality, t.inequality).ravel()
        rows = slice(first, first + limit.size)
        sections.append(Section(Kind.ROW, block.name, rows, limit, block.labels * block.count))
        first += limit.size
    n = nlp.x.numel()
    labels = tuple(f"[{i}]" for i in range(n))
    bounds = Section(Kind.BOUNDS, "x", slice(first, first + n), np.full(n, t.bounds), labels)
    return (*sections, bounds)


def _status(trials: Sequence[Trial]) -> Status:
    """Return the status of a solve that ended with the last of its trials."""
    trial = trials[-1]
    status = trial.outcome.status
    if any(x.outcome.interrupted for x in trials):
        count = sum(x.outcome.iterations for x in trials)
        reason = f"interrupted after {count} iterations: {_state(trial)}"
        return Status(False, reason, "start the same call again", status)
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
