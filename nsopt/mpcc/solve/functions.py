"""An Mpcc and its relaxation as compiled functions of the stacked, scaled unknowns: `Functions`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.backends.backend import Evaluator, Nlp, Point
from nsopt.mpcc.solve.solution import Residuals
from nsopt.mpcc.statement.blocks import stack
from nsopt.mpcc.statement.disc import smooth_discs
from nsopt.mpcc.statement.layout import Layout, Section, Tolerances, Vector, list_sections
from nsopt.mpcc.statement.lifting import count_fixed_unknowns, find_own_unknowns
from nsopt.mpcc.statement.problem import Mpcc
from nsopt.mpcc.statement.relaxation import Relaxation

EXACT = 1e-24  # sigma at which smoothed discs are judged: as at 0, but with derivatives


@dataclass(frozen=True, eq=False)
class Case:
    """One set of numbers to solve for."""

    p: Vector  # (k,) parameters
    lower: Vector  # (n,) scaled
    upper: Vector  # (n,) scaled
    guess: Vector  # (n,) scaled
    solver_lower: Vector  # (n,) ``lower`` without the bounds that the relaxation implies


@dataclass(frozen=True, eq=False)
class _Expressions:
    """A program in scaled units."""

    x: ca.SX
    p: ca.SX
    sigma: ca.SX
    c: ca.SX  # = 0
    d: ca.SX  # <= 0
    G: ca.SX
    H: ca.SX
    f: ca.SX

    @classmethod
    def of(cls, mpcc: Mpcc, sigma: ca.SX) -> _Expressions:
        return cls(
            mpcc.x,
            mpcc.p,
            sigma,
            stack([_divide(r.expr, r.scale) for r in mpcc.equalities]),
            stack([_divide(r.expr, r.scale) for r in mpcc.inequalities]),
            stack([_divide(b.G, b.scales[0]) for b in mpcc.pairs]),
            stack([_divide(b.H, b.scales[1]) for b in mpcc.pairs]),
            mpcc.objective,
        )

    @property
    def rows(self) -> ca.SX:
        return ca.vertcat(self.c, self.d, self.G, self.H)


class Functions:
    """What a solve calls; ``nlp`` is the relaxed program, whose last parameter is sigma."""

    def __init__(self, mpcc: Mpcc, relaxation: Relaxation, tolerances: Tolerances) -> None:
        _check_scales(mpcc)
        sigma = ca.SX.sym("sigma")
        mpcc = smooth_discs(mpcc, sigma)
        e = _Expressions.of(mpcc, sigma)
        exact = replace(e, c=ca.substitute(e.c, sigma, EXACT))
        if e.x.shape[0] == 0:
            raise ValueError(f"program {mpcc.name!r} has no unknowns: state a variable")
        self.layout = Layout.of(mpcc)
        self.nlp = _relax(mpcc.name, e, relaxation, count_fixed_unknowns(mpcc))
        self._sections: tuple[Section, ...] = list_sections(mpcc, tolerances)
        self._is_half = _find_halves(e)
        self._limits = Evaluator(_make_limits(mpcc, e.p))
        self._report = Evaluator(_make_report(exact, self.nlp, tolerances))
        jacobian = ca.densify(ca.jacobian(exact.rows, e.x))
        rows = ca.densify(exact.rows)
        self._linear = Evaluator(ca.Function("linear", [e.x, e.p], [rows, jacobian]))

    def make_case(self, p: Vector) -> Case:
        """Return the case of the parameters ``p`` (k,)."""
        lower, upper, guess = self._limits(p)
        return Case(p, lower, upper, guess, np.where(self._is_half & (lower <= 0), -np.inf, lower))

    def linearise(self, x: Vector, case: Case) -> tuple[Vector, Vector]:
        """Return scaled c, d, G, H in one column and their dense Jacobian by scaled x."""
        rows, jacobian = self._linear(x, case.p)
        return rows, jacobian.reshape((rows.size, x.size), order="F")

    def report(self, point: Point, sigma: float, case: Case) -> tuple[Residuals, float, float]:
        """Return residuals of the original program, the relaxed violation and the objective.

        The relaxed violation is the largest over rows and bounds, scaled; NaN where a row is.
        """
        ratio, rows, relaxed, gradient, f = self._report(
            point.x, np.append(case.p, sigma), point.lam_x, point.lam_g, case.lower, case.upper
        )
        residuals = Residuals(self.layout, self._sections, ratio, rows, gradient)
        return residuals, float(relaxed.max()), float(f[0])


def _check_scales(mpcc: Mpcc) -> None:
    scales = [v.scale for v in mpcc.variables] + [s for pair in mpcc.pairs for s in pair.scales]
    scales += [s for disc in mpcc.discs for s in disc.scales]
    scales += [rows.scale for rows in (*mpcc.equalities, *mpcc.inequalities)]
    if any(isinstance(scale, ca.SX) for scale in scales):
        raise ValueError(
            f"program {mpcc.name!r} has scales that are expressions: give numbers, or use Newton"
        )


def _divide(expr: ca.SX, scale: Vector) -> ca.SX:
    return expr / ca.SX(ca.DM(scale))


def _relax(name: str, e: _Expressions, relaxation: Relaxation, fixed: int) -> Nlp:
    """Return the relaxed program, of which ``fixed`` unknowns have equal bounds."""
    rows, lower, upper = relaxation.constraints(e.G, e.H, e.sigma)
    c, d = e.c.shape[0], e.d.shape[0]
    return Nlp(
        name,
        x=e.x,
        p=ca.vertcat(e.p, e.sigma),
        f=e.f + relaxation.penalty(e.G, e.H, e.sigma),
        g=ca.densify(ca.vertcat(e.c, e.d, rows)),
        lower=np.concatenate([np.zeros(c), np.full(d, -np.inf), lower]),
        upper=np.concatenate([np.zeros(c + d), upper]),
        fixed=fixed,
    )


def _find_halves(e: _Expressions) -> NDArray[np.bool_]:
    """Tell which unknowns (n,) are G or H of a pair themselves.

    The relaxation sees to their sign. With a bound at zero besides, the linearised program has no
    feasible point wherever the linearised relaxation asks for a negative value: most failures of
    SQP on steps with impact came from that.
    """
    is_half = np.zeros(e.x.shape[0], dtype=bool)
    own = find_own_unknowns(ca.vertcat(e.G, e.H), e.x)
    is_half[own[own >= 0]] = True
    return is_half


def _make_limits(mpcc: Mpcc, p: ca.SX) -> ca.Function:
    """Return p -> lower and upper bounds and guess of the unknowns, (n,) each, scaled."""
    limits = (
        ca.densify(stack(_divide(getattr(v, what), v.scale) for v in mpcc.variables))
        for what in ("lower", "upper", "guess")
    )
    return ca.Function("limits", [p], list(limits))


def _make_report(e: _Expressions, nlp: Nlp, t: Tolerances) -> ca.Function:
    """Return what `Functions.report` evaluates, of a program e and its relaxation."""
    lower, upper = ca.SX.sym("lower", e.x.shape[0]), ca.SX.sym("upper", e.x.shape[0])
    lam_x, lam_g = ca.SX.sym("lam_x", e.x.shape[0]), ca.SX.sym("lam_g", nlp.g.shape[0])
    gradient = ca.gradient(nlp.f, nlp.x) + ca.jtimes(nlp.g, nlp.x, lam_g, True) + lam_x
    outside = ca.vertcat(lower - e.x, e.x - upper)
    # min(G, H) alone would refuse G = H = sqrt(sigma), the product alone a tiny H with a huge G.
    complementarity = ca.fmin(ca.fmin(e.G, e.H), e.G * e.H)
    judged = [
        ca.fabs(e.c) / t.equality,
        e.d / t.inequality,
        -ca.vertcat(e.G, e.H) / t.inequality,
        complementarity / t.complementarity,
        outside / t.bounds,
    ]
    if np.isfinite(t.stationarity):
        judged.append(ca.fabs(gradient) / t.stationarity)
    relaxed = ca.vertcat(ca.DM(nlp.lower) - nlp.g, nlp.g - ca.DM(nlp.upper), outside)
    outputs = [ca.vertcat(*judged), e.rows, relaxed, gradient, e.f]
    inputs = [e.x, nlp.p, lam_x, lam_g, lower, upper]
    return ca.Function("report", inputs, [ca.densify(o) for o in outputs])
