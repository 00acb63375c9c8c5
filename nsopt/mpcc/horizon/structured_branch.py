"""Branches of a program over a horizon, for phase II: `StructuredBranches`.

On a branch one half of each pair is zero. Halves become unknowns of their own, so that branches
differ by bounds alone; rows and derivatives are those of the program.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import cast

import casadi as ca
import numpy as np
import scipy

from nsopt.mpcc.backends.backend import Backend, Derivatives, Nlp, Outcome, PaddedCall, Point, pad
from nsopt.mpcc.backends.warm_start import NEAR
from nsopt.mpcc.horizon.structured import StructuredNlp
from nsopt.mpcc.solve.branch import BranchProgram, find_weight, hold
from nsopt.mpcc.solve.functions import Case
from nsopt.mpcc.solve.lpec import Index, Lpec, Mask
from nsopt.mpcc.solve.stationarity import (
    Certificate,
    Linearised,
    Stationarity,
    StationarityKind,
    classify_weak,
)
from nsopt.mpcc.statement.layout import ACTIVE, Vector

WITHIN = 0.1  # distance from a point over which the slope of the objective may change
STEEP = 10.0  # slope to which an objective is weighted, so that complementarity meets its tolerance
NEARBY = 1e-3  # distance from a point within which halves are compared
AWAY = 1e3  # largest growth of halves from the start of a branch
LARGER = 10.0  # times the multipliers at the start: larger ones at the end are doubted
RELATIVE = 1e-6  # descent that multipliers may leave, over the slope of the objective
TINY = 1e-12  # added to the normal equations of rows, which may depend on each other
DIGITS = 12  # decimals to which halves that are the same agree


class StructuredBranches(BranchProgram):
    """The branches of a structured program whose relaxation states G and H.

    Its unknowns (n + m,) are those of the program, then all halves of pairs, one unknown also for
    halves that are the same, as the last gap may be; its rows (r + m,) those that are not of pairs,
    then y(x) - y = 0 for each half y. Which halves are the same is seen near x (n,) at parameters p
    (k,), which include homotopy numbers.
    """

    def __init__(
        self, nlp: StructuredNlp, derivatives: Derivatives, backend: Backend, x: Vector, p: Vector
    ) -> None:
        self._nlp, self._n = nlp, nlp.x.numel()
        rows = nlp.halves.T.ravel()
        first, self._which = _compare(derivatives, x, p, rows)
        self._m, pairs = first.size, len(nlp.halves)
        self.G, self.H = self._n + self._which[:pairs], self._n + self._which[pairs:]
        self._lifted_rows = np.concatenate([nlp.stated_rows, rows[first]])
        nothing = np.zeros(self._m)
        self._lower = np.concatenate([nlp.lower[nlp.stated_rows], nothing])
        self._upper = np.concatenate([nlp.upper[nlp.stated_rows], nothing])
        self._lifted = self._lift_derivatives(derivatives)
        self._backend, self._built = backend.exact, cast("PaddedCall | None", None)

    def _lift_derivatives(self, own: Derivatives) -> Derivatives:
        """Return those of the lifted program; its last parameter weights the objective."""
        n, m, rows = self._n, self._m, self._lifted_rows.tolist()
        x, p = ca.MX.sym("x", n + m), ca.MX.sym("p", self._nlp.p.numel() + 1)
        sigma, lam = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(rows))
        at, weight = (x[:n], p[:-1]), p[-1]
        f, slope = own.grad_f(*at)
        g, J = own.jac_g(*at)
        lift = ca.vertcat(ca.DM(len(rows) - m, m), -ca.DM.eye(m))
        pick = ca.DM.triplet(  # (all rows, rows here): multipliers of these as those of all
            rows, list(range(len(rows))), ca.DM.ones(len(rows)), g.numel(), len(rows)
        )
        H = own.hess_lag(*at, weight * sigma, ca.MX(pick) @ lam)
        held = ca.vertcat(ca.MX.zeros(len(rows) - m), x[n:])
        values = weight * own.f(*at), own.g(*at)[rows] - held
        of_f = [weight * f, ca.vertcat(weight * slope, ca.MX.zeros(m))]
        of_g = [g[rows] - held, ca.horzcat(J[rows, :], ca.MX(lift))]
        curvature = ca.diagcat(H, ca.MX(m, m))
        return Derivatives.of("branch", (x, p, sigma, lam), values, (of_f, of_g), curvature)

    def _solve_lifted(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        """Solve a branch; the call is built at the first one, whose bounds tell how many are fixed.

        It is padded, as redundant rows and fixed unknowns may leave more equations than unknowns.
        """
        if self._built is None:
            # On any branch: one half of each pair at least, and the other where both are held.
            fixed = np.sum(lower[: self._n] == upper[: self._n]) + 2 * self.G.size
            nlp = self._make_nlp(int(fixed))
            padded = pad(nlp)
            self._built = PaddedCall(self._backend.build(padded), nlp, padded)
        return self._built(start, p, lower, upper)

    def _make_nlp(self, fixed: int) -> Nlp:
        """Return the lifted program, of which so many unknowns are fixed by bounds."""
        x, p = ca.MX.sym("x", self._n + self._m), ca.MX.sym("p", self._nlp.p.numel() + 1)
        values, limits = (self._lifted.f(x, p), self._lifted.g(x, p)), (self._lower, self._upper)
        return Nlp("branch", x, p, *values, *limits, self._lifted, fixed=fixed, starts=NEAR)

    def lift(self, point: Point, case: Case) -> Point:
        """Return a point of the program (n,) with its halves, and their multipliers.

        The multiplier of a relaxed product G H counts for each half times the other.
        """
        nlp, rows = self._nlp, np.asarray(self._nlp.rows(point.x, case.p)).ravel()
        lam, own = point.lam_g, point.lam_g[nlp.halves]
        if nlp.products.size:
            other = np.maximum(rows[nlp.halves[:, ::-1]], 0.0)
            own = own + lam[nlp.products][:, None] * other
        of_halves = np.bincount(self._which, own.T.ravel(), self._m)
        halves = np.maximum(rows[self._lifted_rows[-self._m :]], 0.0)
        lam_g = np.concatenate([lam[nlp.stated_rows], of_halves])
        return Point(
            np.append(point.x, halves), np.append(point.lam_x, of_halves), lam_g, point.warm
        )

    def restore(self, point: Point) -> Point:
        """Return a point of the program from one of `lift`, with zero multipliers of products."""
        lam = np.zeros(self._nlp.lower.size)
        lam[self._lifted_rows] = point.lam_g
        return Point(point.x[: self._n], point.lam_x[: self._n], lam, point.warm)

    def find_near_limits(self, x: Vector, closed: Mask, case: Case, distance: float) -> Mask:
        lower, upper = self._limit_branch(closed, case)
        return np.minimum(x - lower, upper - x) < distance

    def solve(self, start: Point, closed: Mask, case: Case, held: Mask | None = None) -> Outcome:
        lower, upper = self._limit_branch(closed, case)
        if held is not None:
            lower, upper = hold(start.x, lower, upper, held)
        # Halves that nothing determines on this branch must not run away.
        halves = slice(self._n, None)
        upper[halves] = np.minimum(upper[halves], start.x[halves] + AWAY)
        inside = np.clip(start.x, lower, upper)
        weight = STEEP * find_weight(self.steepness(inside, case))
        # So f has the slope `STEEP`: ``STEEP / weight`` is what it was, and scales what is left.
        weighted = Point(inside, weight * start.lam_x, weight * start.lam_g, start.warm)
        outcome = self._solve_lifted(weighted, np.append(case.p, weight), lower, upper)
        end = outcome.point
        own = Point(end.x, end.lam_x / weight, end.lam_g / weight)
        return replace(
            outcome, point=self._choose_multipliers(own, start, case, STEEP * RELATIVE / weight)
        )

    def _choose_multipliers(self, own: Point, start: Point, case: Case, tolerance: float) -> Point:
        """Return an end, with the multipliers of its start if its own are larger and those hold.

        An interior-point method ends with large ones where rows of a branch depend on each other.
        """
        size = np.abs(start.lam_g).max(initial=0.0)
        if not start.warm or np.abs(own.lam_g).max(initial=0.0) <= LARGER * size:
            return own
        earlier = replace(start, x=own.x)
        return earlier if self.certify(earlier, NEARBY, case).descent <= tolerance else own

    def steepness(self, x: Vector, case: Case) -> float:
        """Return the largest entry of the objective's gradient, plus its typical change nearby.

        At an end the gradient may be zero, and at a far guess it tells nothing. The change is by
        the mean curvature, as that of a high power may be huge at one node.
        """
        at = (x, np.append(case.p, 1.0), 1.0, np.zeros(self._lower.size))
        curvature = np.abs(self._lifted.hess_lag(*at).nonzeros())
        curvature = curvature[curvature > 0]
        size = float(np.abs(self._find_slope(x, case)).max(initial=0.0))
        size += WITHIN * float(curvature.mean()) if curvature.size else 0.0
        return size if np.isfinite(size) else 0.0

    def _find_slope(self, x: Vector, case: Case) -> Vector:
        slope = self._lifted.grad_f(x, np.append(case.p, 1.0))[1]
        return np.asarray(slope).ravel()

    def move_to_bounds(self, x: Vector, closed: Mask, case: Case, distance: float) -> Vector:
        """Return x itself: a polish that would meet the equations again is dense."""
        del closed, case, distance
        return x

    def snap(self, x: Vector, case: Case, distance: float) -> Vector | None:
        """Return the nearest point with halves near zero at zero, by one Newton step.

        An interior-point method ends at a distance of the root of its barrier parameter from bounds
        without multiplier.
        """
        near = np.zeros(x.size, dtype=bool)
        near[self._n :] = x[self._n :] < distance
        moved = np.where(near, 0.0, x)
        if np.array_equal(moved, x):
            return None
        linear = self._linearise_lifted(moved, case)
        equal, free = self._lower == self._upper, ~near & (linear.bounds[0] < linear.bounds[1])
        J, off = linear.J[equal][:, free], (self._lower - linear.rows)[equal]
        square = (J @ J.T + TINY * scipy.sparse.eye_array(off.size)).tocsc()
        try:
            moved[free] += J.T @ scipy.sparse.linalg.splu(square).solve(off)
        except (RuntimeError, ValueError):  # singular, or not finite
            return None
        return moved

    def _limit_branch(self, closed: Mask, case: Case) -> tuple[Vector, Vector]:
        """Return bounds (n + m,) of the unknowns on a branch, ``closed`` as of `solve`."""
        lower, upper = self._limit_unknowns(case)
        upper[np.where(closed, self.G, self.H)] = 0.0
        return lower, upper

    def _limit_unknowns(self, case: Case) -> tuple[Vector, Vector]:
        """Return bounds (n + m,) of the unknowns on any branch: halves are zero or more."""
        most = np.full(self._m, np.inf)
        return np.append(case.lower, np.zeros(self._m)), np.append(case.upper, most)

    def _linearise_lifted(self, x: Vector, case: Case) -> Linearised:
        g, J = self._lifted.jac_g(x, np.append(case.p, 1.0))
        return Linearised(
            self._find_slope(x, case),
            np.asarray(g).ravel(),
            scipy.sparse.csr_array(J.sparse()),
            (self._lower, self._upper),
            self._limit_unknowns(case),
        )

    def linearise(self, x: Vector, case: Case) -> Lpec:
        linear = self._linearise_lifted(x, case)
        (low, high), g, J = linear.limits, linear.rows, linear.J
        equal, above, below = self._rows_by_limits
        return Lpec(
            x,
            *linear.bounds,
            slope=linear.slope,
            rows=np.concatenate([(g - high)[above], (low - g)[below]]),
            equations=J[equal],
            inequalities=scipy.sparse.vstack([J[above], -J[below]], format="csr"),
            G=self.G,
            H=self.H,
            factors=np.ones((self.G.size, 2)),
        )

    def prove_stationary(
        self, end: Point, radius: float, tolerance: float, case: Case
    ) -> Stationarity | None:
        none = replace(end, lam_x=0 * end.lam_x, lam_g=0 * end.lam_g)  # proves that f is flat
        for point in (end, none):
            found = self.certify(point, radius, case)
            if found.descent <= tolerance:
                what = (StationarityKind.S, found.biactive, found.descent, found.gradient)
                return Stationarity(*what, None)
        return None

    def certify(self, end: Point, radius: float, case: Case) -> Certificate:
        """Return what the multipliers of a point prove."""
        return Certificate.of(self._linearise_lifted(end.x, case), end, (self.G, self.H), radius)

    def classify(self, end: Point, lpec: Lpec, descent: float, tolerance: float) -> Stationarity:
        both = (lpec.x[self.G] < ACTIVE) & (lpec.x[self.H] < ACTIVE)
        kind = StationarityKind.B
        if not descent <= tolerance:
            kind = StationarityKind.NONE
            if np.abs(self._find_gradient(end, lpec)).sum() <= tolerance:
                kind = classify_weak(-end.lam_x[self.G[both]], -end.lam_x[self.H[both]])
        return Stationarity(kind, int(both.sum()), descent, lpec.slope, None)

    def _find_gradient(self, end: Point, lpec: Lpec) -> Vector:
        """Return the gradient (n + m,) of the Lagrangian, without multipliers of wrong signs."""
        equal, above, below = self._rows_by_limits
        limits = np.concatenate([end.lam_g[above], -end.lam_g[below]])
        rows = lpec.equations.T @ end.lam_g[equal]
        gradient: Vector = lpec.slope + rows + lpec.inequalities.T @ np.maximum(limits, 0)
        return gradient + end.lam_x

    @cached_property
    def _rows_by_limits(self) -> tuple[Index, Index, Index]:
        """Equations; other rows with an upper limit; other rows with a lower one."""
        low, high = self._lower, self._upper
        equal, above, below = low == high, high < np.inf, low > -np.inf
        return (
            np.flatnonzero(equal),
            np.flatnonzero(~equal & above),
            np.flatnonzero(~equal & below),
        )


def _compare(derivatives: Derivatives, x: Vector, p: Vector, rows: Index) -> tuple[Index, Index]:
    """Return which of ``rows`` (k,) differ near x, (m,), and which of these each one is, (k,).

    Rows that have the same value and the same slopes along two random directions are the same.
    """
    rng = np.random.default_rng(0)
    g, J = derivatives.jac_g(x + NEARBY * rng.uniform(size=x.size), p)
    along = J.sparse().tocsr()[rows] @ rng.uniform(1, 2, size=(x.size, 2))
    seen = np.round(np.column_stack([np.asarray(g).ravel()[rows], along]), DIGITS)
    unknown = np.flatnonzero(~np.isfinite(seen).all(axis=1))
    seen[unknown] = np.inf
    seen[unknown, 0] = unknown  # each for itself
    _, first, which = np.unique(seen, axis=0, return_index=True, return_inverse=True)
    return first, which.ravel()
