"""How well a point meets the rows and bounds of a structured program."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np

from nsopt.mpcc.backends.backend import Derivatives, Point
from nsopt.mpcc.backends.evaluator import Evaluator
from nsopt.mpcc.horizon.structured import StructuredNlp
from nsopt.mpcc.solve.functions import Case
from nsopt.mpcc.solve.solution import Residuals
from nsopt.mpcc.statement.layout import Kind, Layout, Section, Tolerances, Vector


class RowResiduals:
    """Residuals of a structured program, by its own derivatives."""

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
        self._nlp, self.layout = nlp, _layout(nlp)
        self._sections = _sections(nlp, self._tolerances)
        self._limits = np.concatenate([section.limit for section in self._sections])

    def restate(self, nlp: StructuredNlp) -> RowResiduals:
        """Return those of the program with other limits of its rows."""
        other = copy.copy(self)
        other._take(nlp)
        return other

    def report(self, end: Point, p: Vector, case: Case) -> tuple[Residuals, float]:
        """Return the residuals at parameters p with homotopy numbers, and the objective."""
        rows, entries = self._rows(end.x, p)
        f, slope = self._slope(end.x, p)  # a solver may report zero for what is not a number
        by_rows = np.bincount(self._column, entries * end.lam_g[self._row], end.x.size)
        gradient = by_rows + end.lam_x  # of the Lagrangian
        gradient[self._sloping] += slope
        outside = np.maximum(np.maximum(case.lower - end.x, end.x - case.upper), 0.0)
        ratio = np.concatenate([self._nlp.violations(rows), outside]) / self._limits
        residuals = Residuals(self.layout, self._sections, ratio, rows, gradient)
        return residuals, float(f[0])


def _layout(nlp: StructuredNlp) -> Layout:
    """Return a layout of unknowns and parameters alone, for rows have sections of their own."""
    n = nlp.x.numel()
    unknowns, parameters = {"x": slice(0, n)}, {"p": slice(0, nlp.p.numel())}
    return Layout(unknowns, parameters, np.ones(n), np.zeros(0, dtype=np.intp))


def _sections(nlp: StructuredNlp, t: Tolerances) -> tuple[Section, ...]:
    """Return the residuals of rows by block, then those of the bounds of unknowns."""
    sections, first = [], 0
    for block in nlp.blocks:
        limit = np.where(block.lower == block.upper, t.equality, t.inequality).ravel()
        rows = slice(first, first + limit.size)
        sections.append(Section(Kind.ROW, block.name, rows, limit, block.labels * block.count))
        first += limit.size
    n = nlp.x.numel()
    limit, rows = np.full(n, t.bounds), slice(first, first + n)
    return (*sections, Section(Kind.BOUNDS, "x", rows, limit, _numbers(n)))


@cache
def _numbers(n: int) -> tuple[str, ...]:
    return tuple(f"[{i}]" for i in range(n))
