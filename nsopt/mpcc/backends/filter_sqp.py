"""Sequential quadratic programming for structured programs, globalised by a filter.

[Fletcher, Leyffer 2002, Math. Program. 91; Waechter, Biegler 2005, SIAM J. Optim. 16(1)]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.interrupt import is_interrupted
from nsopt.mpcc.backends.backend import Derivatives, Nlp, Outcome, Point

Vector = NDArray[np.float64]

ENOUGH = 1e-5  # times the violation: by so much a trial must be better than entries of the filter
ARMIJO = 1e-4  # part of the predicted decrease of the objective that a step must reach
SHORTEST = 1e-3  # least part of a step; below, another Hessian is tried, at last a larger shift
SHIFTS = (1e-4, 1e10)  # least and largest multiple of the identity added to the Hessian
PRICE = 100.0  # least price of a violated row in an elastic quadratic program
SMALL = 100  # times the tolerance: a violation up to which the objective decides over a step
STILL = 1e-10  # relative length of a step at which the iteration has ended


@dataclass(frozen=True, eq=False)
class _Iterate:
    """A point and the program there."""

    point: Point
    f: float  # objective
    gradient: Vector  # (n,) of f
    g: Vector  # (m,) rows
    J: ca.DM  # (m, n) Jacobian of g
    violation: float  # largest of rows and bounds


@dataclass(frozen=True, eq=False)
class FilterSqp:
    """A `Call` that solves one quadratic program an iteration, by solvers of `make_structured_qp`.

    The Hessian of the Lagrangian is exact, plus a shift, a multiple of the identity. Where its
    quadratic program has no solution or leads to no step, the Hessian of the objective alone takes
    its place, without the curvature of the constraints as in the Gauss-Newton method; where that
    fails too, the shift grows. It shrinks after a full step. A step is halved until it lowers the
    violation or the objective beyond all entries of the filter; a full step that fails is corrected
    once for the curvature of the constraints (second-order correction).

    It ends where the violation is at most tol_pr and the gradient of the Lagrangian at most tol_du,
    times a hundredth of the largest multiplier where that is above one: as in IPOPT, since under
    large multipliers the gradient is known less well.
    """

    nlp: Nlp
    derivatives: Derivatives
    qp: ca.Function  # this and the next from `make_structured_qp`
    elastic: ca.Function
    tol_pr: float  # of rows and bounds
    tol_du: float  # of the gradient of the Lagrangian
    max_iter: int

    @cached_property
    def values(self) -> ca.Function:
        """The objective and the rows."""
        return ca.Function("values", [self.nlp.x, self.nlp.p], [self.nlp.f, self.nlp.g])

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        begin = perf_counter()
        run = _Run(self, p, lower, upper)
        try:
            now, status = run.solve(replace(start, x=np.clip(start.x, lower, upper)))
        except Exception as error:  # a solver may throw anything; a failed result is the contract
            status = f"{type(error).__name__}: {str(error).strip()[-300:]}"
            return Outcome(start, status, False, run.iterations, perf_counter() - begin)
        ok, time = status == SOLVED, perf_counter() - begin
        return Outcome(now.point, status, ok, run.iterations, time, status == INTERRUPTED)


SOLVED = "Solve_Succeeded"
INTERRUPTED = "User_Requested_Stop"


class _Run:
    """One solve: the program at given numbers, the filter and the shift."""

    def __init__(self, call: FilterSqp, p: Vector, lower: Vector, upper: Vector) -> None:
        self._call, self._p, self._bounds = call, p, (lower, upper)
        self._filter: list[tuple[float, float]] = []  # (violation, f) of iterates
        self._shift = 0.0
        self.iterations = 0

    def solve(self, start: Point) -> tuple[_Iterate, str]:
        """Return the last iterate and the status."""
        now = self._evaluate(start)
        # An upper limit of the violation, as by Waechter and Biegler.
        self._filter = [(1e4 * max(1.0, now.violation), -np.inf)]
        while self.iterations < self._call.max_iter:
            if self._is_optimal(now) and (start.warm or self.iterations):
                return now, SOLVED
            self.iterations += 1
            new = self._step(now)
            if is_interrupted():
                return now if new is None else new, INTERRUPTED
            if new is None:
                return now, "No_Step_Found"
            still = np.abs(new.point.x - now.point.x).max() <= STILL * (
                1 + np.abs(now.point.x).max()
            )
            now = new
            if still and now.violation <= self._call.tol_pr:
                return now, SOLVED
        return now, "Maximum_Iterations_Exceeded"

    def _is_optimal(self, now: _Iterate) -> bool:
        point = now.point
        slope = now.gradient + now.J.sparse().T @ point.lam_g + point.lam_x
        scale = max(1.0, float(np.abs(np.append(point.lam_g, point.lam_x)).max()) / 100)
        small = np.abs(slope).max() <= self._call.tol_du * scale
        return bool(small and now.violation <= self._call.tol_pr)

    def _evaluate(self, point: Point) -> _Iterate:
        d = self._call.derivatives
        f, gradient = d.grad_f(point.x, self._p)
        g, J = d.jac_g(point.x, self._p)
        rows = np.asarray(g).ravel()
        violation = self._measure_violation(point.x, rows)
        return _Iterate(point, float(f), np.asarray(gradient).ravel(), rows, J, violation)

    def _measure_violation(self, x: Vector, g: Vector) -> float:
        """Return the largest violation of rows and bounds; infinite where not a number."""
        nlp, (low, high) = self._call.nlp, self._bounds
        sizes = [nlp.lower - g, g - nlp.upper, low - x, x - high]
        worst = max(float(size.max(initial=0.0)) for size in sizes)
        return worst if np.isfinite(g).all() else np.inf

    def _step(self, now: _Iterate) -> _Iterate | None:
        """Return the next iterate, or None where no Hessian leads to one."""
        lam = now.point.lam_g
        hessian, identity = self._call.derivatives.hess_lag, ca.DM.eye(now.point.x.size)
        of_lagrangian, of_objective = (
            ca.triu2symm(hessian(now.point.x, self._p, 1.0, weights)) for weights in (lam, 0 * lam)
        )
        while self._shift <= SHIFTS[1] and not is_interrupted():
            for H in (
                of_lagrangian + self._shift * identity,
                of_objective + max(SHIFTS[0], self._shift) * identity,
            ):
                new = self._step_by(now, H)
                if new is not None:
                    return new
            self._shift = max(SHIFTS[0], 10 * self._shift)
        return None

    def _step_by(self, now: _Iterate, H: ca.DM) -> _Iterate | None:
        """Return the next iterate by this Hessian, or None where it leads to none."""
        step = self._solve_qp(now, H, now.g)
        if step is None and now.violation > self._call.tol_pr:
            step = self._solve_elastic(now, H)
        return None if step is None else self._search(now, step, H)

    def _solve_qp(self, now: _Iterate, H: ca.DM, g: Vector) -> Point | None:
        """Return the step and the multipliers of a quadratic program; None where it fails.

        It also fails where the step leaves the linearised rows violated, whatever the solver says.
        """
        nlp, (low, high), here = self._call.nlp, self._bounds, now.point.x
        solution = self._call.qp(
            h=H,
            g=now.gradient,
            a=now.J,
            lba=nlp.lower - g,
            uba=nlp.upper - g,
            lbx=low - here,
            ubx=high - here,
            lam_x0=now.point.lam_x,
            lam_a0=now.point.lam_g,
        )
        x, lam_x, lam_g = (np.asarray(solution[k]).ravel() for k in ("x", "lam_x", "lam_a"))
        step = Point(x, lam_x, lam_g)
        numbers = np.concatenate([step.x, step.lam_x, step.lam_g])
        if not (self._call.qp.stats()["success"] and np.isfinite(numbers).all()):
            return None
        linear = now.J.sparse() @ step.x + g
        violation = max(
            float((nlp.lower - linear).max(initial=0)), float((linear - nlp.upper).max(initial=0))
        )
        return step if violation <= max(1e-6, 0.1 * now.violation) else None

    def _solve_elastic(self, now: _Iterate, H: ca.DM) -> Point | None:
        """Return the step where rows may be violated at a price; None where that fails too.

        Far from a solution the linearised rows of relaxed complementarity may have no common point.
        """
        call, (low, high), here = self._call, self._bounds, now.point.x
        m, n = now.g.size, here.size
        weight = max(PRICE, 2 * float(np.abs(now.point.lam_g).max(initial=0.0)))
        zeros, infinite = np.zeros(2 * m), np.full(2 * m, np.inf)
        solution = call.elastic(
            h=ca.diagcat(H, ca.DM(2 * m, 2 * m)),
            g=np.concatenate([now.gradient, np.full(2 * m, weight)]),
            a=ca.horzcat(now.J, ca.DM.eye(m), -ca.DM.eye(m)),
            lba=call.nlp.lower - now.g,
            uba=call.nlp.upper - now.g,
            lbx=np.concatenate([low - here, zeros]),
            ubx=np.concatenate([high - here, infinite]),
        )
        x, lam_x, lam_g = (np.asarray(solution[k]).ravel() for k in ("x", "lam_x", "lam_a"))
        step = Point(x[:n], lam_x[:n], lam_g)
        finite = np.isfinite(np.concatenate([x, lam_x, lam_g])).all()
        return step if finite and call.elastic.stats()["success"] else None

    def _search(self, now: _Iterate, step: Point, H: ca.DM) -> _Iterate | None:
        """Return the first trial along a step that the filter accepts."""
        length = 1.0
        while length >= SHORTEST:
            trial = self._try_part(now, step, length)
            if trial is None and length == 1.0:
                corrected = self._correct(now, step, H)
                trial = None if corrected is None else self._try_part(now, corrected, 1.0)
            if trial is not None:
                if length == 1.0:
                    self._shift = self._shift / 10 if self._shift > SHIFTS[0] else 0.0
                return trial
            length /= 2
        return None

    def _correct(self, now: _Iterate, step: Point, H: ca.DM) -> Point | None:
        """Return the step corrected by the rows at its end; None where that fails."""
        g = np.asarray(self._call.values(now.point.x + step.x, self._p)[1]).ravel()
        if not np.isfinite(g).all():
            return None
        return self._solve_qp(now, H, g - now.J.sparse() @ step.x)

    def _try_part(self, now: _Iterate, step: Point, length: float) -> _Iterate | None:
        """Return the iterate at a part of the step, or None where the filter refuses it."""
        low, high = self._bounds
        x = np.clip(now.point.x + length * step.x, low, high)
        f, g = (np.asarray(value).ravel() for value in self._call.values(x, self._p))
        if not (np.isfinite(f).all() and np.isfinite(g).all()):
            return None
        violation, value = self._measure_violation(x, g), float(f[0])
        if not self._accepts(now, violation, value, length * float(now.gradient @ step.x)):
            return None
        lam_x = now.point.lam_x + length * (step.lam_x - now.point.lam_x)
        lam_g = now.point.lam_g + length * (step.lam_g - now.point.lam_g)
        return self._evaluate(Point(x, lam_x, lam_g))

    def _accepts(self, now: _Iterate, violation: float, value: float, slope: float) -> bool:
        """Tell whether a trial of this violation and objective ``value`` is good enough.

        ``slope`` is the predicted change of the objective. Where the violation decides, the iterate
        enters the filter.
        """
        small = SMALL * self._call.tol_pr
        round_off = 1e-12 * (1 + abs(now.f))
        if now.violation <= small and slope < 0:
            falls = value <= now.f + ARMIJO * slope + round_off
            return (falls and violation <= small) or violation < now.violation / 2
        falls = value <= now.f - ENOUGH * now.violation + round_off
        better = violation <= (1 - ENOUGH) * now.violation or (
            falls and violation <= max(small, 10 * now.violation)
        )
        beyond = violation <= small or all(
            violation <= (1 - ENOUGH) * v or value <= f - ENOUGH * v for v, f in self._filter
        )
        if better and beyond:
            self._filter.append((now.violation, now.f))
        return better and beyond


def make_structured_qp(
    nlp: Nlp, derivatives: Derivatives, plugin: str, options: dict[str, Any]
) -> tuple[Any, Any]:
    """Return the solvers of the quadratic programs of ``nlp``: plain, and elastic."""
    n, m = nlp.x.numel(), nlp.g.numel()
    H = derivatives.hess_lag.sparsity_out(0)
    H = H + H.T + ca.Sparsity.diag(n)
    J = derivatives.jac_g.sparsity_out(1)
    plain = ca.conic("qp", plugin, {"h": H, "a": J}, options)
    slack = ca.Sparsity.diag(m)
    soft = {"h": ca.diagcat(H, ca.Sparsity(2 * m, 2 * m)), "a": ca.horzcat(J, slack, slack)}
    return plain, ca.conic("elastic", plugin, soft, options)
