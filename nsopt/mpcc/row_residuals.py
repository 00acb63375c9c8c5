"""How well a point meets the rows and bounds of a structured program."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np

from nsopt.mpcc.backend import Derivatives, Point
from nsopt.mpcc.functions import Case
from nsopt.mpcc.layout import Kind, Layout, Section, Tolerances, Vector
from nsopt.mpcc.solution import Residuals
from nsopt.mpcc.structured import StructuredNlp


class RowResiduals:
    """Residuals of a structured program.

    Parameters
    ----------
    nlp : StructuredNlp
    derivatives : Derivatives
        Its own.
    tolerances : Tolerances

    Attributes
    ----------
    layout : Layout
    """

    def __init__(
        self, nlp: StructuredNlp, derivatives: Derivatives, tolerances: Tolerances
    ) -> None:
        self._nlp, self._derivatives = nlp, derivatives
        self.layout = _layout(nlp)
        self._sections = _sections(nlp, tolerances)
        self._limits = np.concatenate([section.limit for section in self._sections])

    def report(self, end: Point, p: Vector, case: Case) -> tuple[Residuals, float]:
        """Return the residuals at parameters p with homotopy numbers, and the objective."""
        nlp = self._nlp
        g, J = self._derivatives.jac_g(end.x, p)
        rows = np.asarray(g).ravel()
        slope = np.asarray(self._derivatives.grad_f(end.x, p)[1]).ravel()
        gradient = slope + np.asarray(ca.DM(end.lam_g).T @ J).ravel() + end.lam_x
        outside = np.maximum(np.maximum(case.lower - end.x, end.x - case.upper), 0.0)
        ratio = np.concatenate([nlp.violations(rows), outside]) / self._limits
        residuals = Residuals(self.layout, self._sections, ratio, rows, gradient)
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
    limit, rows = np.full(n, t.bounds), slice(first, first + n)
    return (*sections, Section(Kind.BOUNDS, "x", rows, limit, _numbers(n)))


@cache
def _numbers(n: int) -> tuple[str, ...]:
    return tuple(f"[{i}]" for i in range(n))
