"""Branches of a program over a horizon: its pairs as unknowns, its rows and derivatives reused."""

from __future__ import annotations

import casadi as ca
import numpy as np
import scipy

from nsopt.mpcc.backend import Backend, Derivatives, Nlp, Outcome, Point
from nsopt.mpcc.branch import BranchProgram, weight_of
from nsopt.mpcc.certificate import Certificate, Linearised
from nsopt.mpcc.functions import Case
from nsopt.mpcc.layout import ACTIVE, Vector
from nsopt.mpcc.lpec import Index, Lpec, Mask
from nsopt.mpcc.stationarity import Stationarity, StationarityKind
from nsopt.mpcc.structured import StructuredNlp


class StructuredBranches(BranchProgram):
    """The branches of a structured program.

    Unknowns (n + 2m,) are those of the program, then G, then H of each pair; rows (r + 2m,) those
    that are not of pairs, then G(x) - G = 0 and H(x) - H = 0.

    Parameters
    ----------
    nlp : StructuredNlp
        Whose relaxation states G and H.
    derivatives : Derivatives
        Its own.
    backend : Backend
    """

    def __init__(self, nlp: StructuredNlp, derivatives: Derivatives, backend: Backend) -> None:
        self._nlp, self._n, m = nlp, nlp.x.numel(), len(nlp.halves)
        self.G, self.H = (self._n + side * m + np.arange(m, dtype=np.intp) for side in (0, 1))
        self._order = np.concatenate([nlp.stated, *nlp.halves.T])
        nothing = np.zeros(2 * m)
        self._lower = np.concatenate([nlp.lower[nlp.stated], nothing])
        self._upper = np.concatenate([nlp.upper[nlp.stated], nothing])
        self._lifted = self._derivatives(derivatives, m)
        self._call = backend.exact.build(self._program(m))

    def _derivatives(self, own: Derivatives, m: int) -> Derivatives:
        """Return the derivatives of the lifted program, of a weighted objective."""
        n, rows = self._n, self._order.tolist()
        x, p = ca.MX.sym("x", n + 2 * m), ca.MX.sym("p", self._nlp.p.numel() + 1)
        sigma, lam = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(rows))
        at, weight = (x[:n], p[:-1]), p[-1]
        f, slope = own.grad_f(*at)
        g, J = own.jac_g(*at)
        unit = ca.DM.eye(2 * m)
        lift = ca.vertcat(ca.DM(len(rows) - 2 * m, 2 * m), -unit)
        pick = ca.DM.triplet(
            rows, list(range(len(rows))), ca.DM.ones(len(rows)), g.numel(), len(rows)
        )
        H = own.hess_lag(*at, weight * sigma, ca.MX(pick) @ lam)
        names, held = ["x", "p"], ca.vertcat(ca.MX.zeros(len(rows) - 2 * m), x[n:])
        return Derivatives(
            ca.Function(
                "branch_grad_f",
                [x, p],
                [weight * f, ca.vertcat(weight * slope, ca.MX.zeros(2 * m))],
                names,
                ["f", "g"],
            ),
            ca.Function(
                "branch_jac_g",
                [x, p],
                [g[rows] - held, ca.horzcat(J[rows, :], ca.MX(lift))],
                names,
                ["g", "J"],
            ),
            ca.Function(
                "branch_hess_l",
                [x, p, sigma, lam],
                [ca.diagcat(H, ca.MX(2 * m, 2 * m))],
                [*names, "lam_f", "lam_g"],
                ["H"],
            ),
        )

    def _program(self, m: int) -> Nlp:
        n, nlp, rows = self._n, self._nlp, self._order.tolist()
        x, p = ca.MX.sym("x", n + 2 * m), ca.MX.sym("p", nlp.p.numel() + 1)
        f = p[-1] * ca.sum1(nlp.terms(x[:n], p[:-1]))
        held = ca.vertcat(ca.MX.zeros(len(rows) - 2 * m), x[n:])
        g = nlp.rows(x[:n], p[:-1])[rows] - held
        limits = (self._lower, self._upper)
        return Nlp("branch", x, p, f, g, *limits, self._lifted, fixed=m, near=True)

    def lifted(self, point: Point, case: Case) -> Point:
        """Return a point of the program (n,) with its halves, and their multipliers.

        Where a product is relaxed, its multiplier is shared out by what the other half is.
        """
        nlp, rows = self._nlp, nlp_rows(self._nlp, point.x, case.p)
        halves = np.maximum(rows[nlp.halves].T.ravel(), 0.0)
        x = np.append(point.x, halves)
        lam = point.lam_g.copy()
        own = lam[nlp.halves]
        if nlp.products.size:
            other = np.maximum(rows[nlp.halves[:, ::-1]], 0.0)
            own = own + lam[nlp.products][:, None] * other
        flat = own.T.ravel()
        lam_g = np.concatenate([lam[nlp.stated], flat])
        return Point(x, np.append(point.lam_x, flat), lam_g, point.warm)

    def stated(self, point: Point) -> Point:
        """Return what `lifted` was made of: multipliers of products are zero."""
        lam = np.zeros(self._nlp.lower.size)
        lam[self._order] = point.lam_g
        return Point(point.x[: self._n], point.lam_x[: self._n], lam, point.warm)

    def solve(self, start: Point, closed: Mask, case: Case) -> Outcome:
        lower, upper = self._bounds(closed, case)
        inside = np.clip(start.x, lower, upper)
        weight = weight_of(max(self.steepness(inside, case), self.steepness(case.guess, case)))
        weighted = Point(inside, weight * start.lam_x, weight * start.lam_g, start.warm)
        outcome = self._call(weighted, np.append(case.p, weight), lower, upper)
        end = outcome.point
        point = Point(end.x, end.lam_x / weight, end.lam_g / weight)
        return Outcome(
            point,
            outcome.status,
            outcome.success,
            outcome.iterations,
            outcome.time,
            outcome.interrupted,
        )

    def steepness(self, x: Vector, case: Case) -> float:
        size = float(np.abs(self._slope(x, case)).max(initial=0.0))
        return size if np.isfinite(size) else 0.0

    def _slope(self, x: Vector, case: Case) -> Vector:
        whole = np.append(x, np.zeros(self._n + 2 * self.G.size - x.size))
        slope = self._lifted.grad_f(whole, np.append(case.p, 1.0))[1]
        return np.asarray(slope).ravel()

    def on_bounds(self, x: Vector, closed: Mask, case: Case, distance: float) -> Vector:
        """Return x itself: a polish that would meet the equations again is dense."""
        del closed, case, distance
        return x

    def _bounds(self, closed: Mask, case: Case) -> tuple[Vector, Vector]:
        lower, upper = self._sides(case)
        upper[np.where(closed, self.G, self.H)] = 0.0
        return lower, upper

    def _sides(self, case: Case) -> tuple[Vector, Vector]:
        k = 2 * self.G.size
        return np.append(case.lower, np.zeros(k)), np.append(case.upper, np.full(k, np.inf))

    def _linear(self, x: Vector, case: Case) -> Linearised:
        g, J = self._lifted.jac_g(x, np.append(case.p, 1.0))
        return Linearised(
            self._slope(x, case),
            np.asarray(g).ravel(),
            scipy.sparse.csr_array(J.sparse()),
            (self._lower, self._upper),
            self._sides(case),
        )

    def at(self, x: Vector, case: Case) -> Lpec:
        linear = self._linear(x, case)
        (low, high), g, J = linear.limits, linear.rows, linear.J
        equal = low == high
        above, below = np.flatnonzero(~equal & (high < np.inf)), np.flatnonzero(
            ~equal & (low > -np.inf)
        )
        return Lpec(
            x,
            *linear.bounds,
            linear.slope,
            np.concatenate([(g - high)[above], (low - g)[below]]),
            J[equal],
            scipy.sparse.vstack([J[above], -J[below]], format="csr"),
            self.G,
            self.H,
            np.ones((self.G.size, 2)),
        )

    def settled(
        self, end: Point, radius: float, tolerance: float, case: Case
    ) -> Stationarity | None:
        found = self.certificate(end, radius, case)
        if not found.descent <= tolerance:
            return None
        return Stationarity(
            StationarityKind.S, found.biactive, found.descent, found.gradient, None
        )

    def certificate(self, end: Point, radius: float, case: Case) -> Certificate:
        """Return what the multipliers of a point show."""
        return Certificate.of(self._linear(end.x, case), end, (self.G, self.H), radius)

    def classified(
        self, end: Point, lpec: Lpec, descent: float, tolerance: float
    ) -> Stationarity:
        both = (lpec.x[self.G] < ACTIVE) & (lpec.x[self.H] < ACTIVE)
        kind = StationarityKind.NONE
        if descent <= tolerance:
            kind = StationarityKind.B
        return Stationarity(kind, int(both.sum()), descent, lpec.slope, None)


def nlp_rows(nlp: StructuredNlp, x: Vector, p: Vector) -> Vector:
    """Return the rows at a point."""
    return np.asarray(nlp.rows(x, p)).ravel()
