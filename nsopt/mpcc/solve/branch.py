"""Branches of a program with complementarity, for phase II: one half of each pair is zero.

`BranchProgram` is what `ActiveSetRun` needs of a program, `Branches` that of a single one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np
import scipy

from nsopt.mpcc.backends.backend import Backend, Call, Nlp, Outcome, Point
from nsopt.mpcc.solve.functions import Case
from nsopt.mpcc.solve.lpec import Index, Lpec, Mask
from nsopt.mpcc.solve.stationarity import Stationarity, classify
from nsopt.mpcc.statement.blocks import stack
from nsopt.mpcc.statement.layout import Layout, Vector
from nsopt.mpcc.statement.lifting import Halves, count_fixed_unknowns
from nsopt.mpcc.statement.problem import Mpcc

SMALL = 1e-8  # gradient of an objective below which its weight does not grow further


def find_weight(steepness: float) -> float:
    """Return the factor of an objective whose gradient is then about one."""
    return float(np.clip(1 / max(steepness, SMALL), SMALL, 1 / SMALL)) if steepness else 1.0


def hold(x: Vector, lower: Vector, upper: Vector, held: Mask) -> tuple[Vector, Vector]:
    """Return bounds (n,) that keep unknowns ``held`` (n,) at the nearer of their bounds."""
    low = x - lower <= upper - x
    return np.where(held & ~low, upper, lower), np.where(held & low, lower, upper)


def drop_repeated_zeros(closed: Mask, G: Index, H: Index) -> Mask:
    """Return a branch with fewer zeros, where an unknown is a half of several pairs.

    A pair whose other half is zero by another pair need not have its own at zero. ``closed`` (m,)
    tells of which pairs G is zero; G and H (m,) are the unknowns that are their halves.
    """
    closed = closed.copy()
    size = int(max(G.max(initial=0), H.max(initial=0))) + 1
    shared = np.bincount(np.concatenate([G, H]), minlength=size) > 1
    zero = np.bincount(np.where(closed, G, H), minlength=size)
    for k in np.flatnonzero(shared[G] | shared[H]).tolist():
        own, other = (G[k], H[k]) if closed[k] else (H[k], G[k])
        if zero[other]:
            zero[own], zero[other] = zero[own] - 1, zero[other] + 1
            closed[k] = not closed[k]
    return closed


class BranchProgram(ABC):
    """The branches of a program with complementarity: they differ by bounds of unknowns alone."""

    G: Index  # (m,) unknowns that are the halves of each pair
    H: Index

    @abstractmethod
    def solve(self, start: Point, closed: Mask, case: Case, held: Mask | None = None) -> Outcome:
        """Solve the branch on which G of ``closed`` pairs (m,) is zero, and H of the others.

        What is ``held``, from `find_near_limits`, stays at its limit.
        """

    @abstractmethod
    def find_near_limits(self, x: Vector, closed: Mask, case: Case, distance: float) -> Mask:
        """Return which unknowns, and slacks of rows, are nearer to a limit than a distance."""

    @abstractmethod
    def steepness(self, x: Vector, case: Case) -> float:
        """Return the largest entry of the objective's gradient, zero where it is not finite."""

    @abstractmethod
    def move_to_bounds(self, x: Vector, closed: Mask, case: Case, distance: float) -> Vector:
        """Return a point (n,) with unknowns near a bound of a branch on it; x itself if no use."""

    def snap(self, x: Vector, case: Case, distance: float) -> Vector | None:
        """Return a point (n,) with halves that are near zero at zero; None where none is moved."""
        del x, case, distance
        return None

    @abstractmethod
    def linearise(self, x: Vector, case: Case) -> Lpec:
        """Return the program linearised at a point (n,)."""

    def prove_stationary(
        self, end: Point, radius: float, tolerance: float, case: Case
    ) -> Stationarity | None:
        """Return what a point is if its multipliers prove it stationary, else None, the default.

        They do where no direction within the radius lowers the linear f by more than ``tolerance``
        times the radius.
        """
        del end, radius, tolerance, case
        return None

    @abstractmethod
    def classify(self, end: Point, lpec: Lpec, descent: float, tolerance: float) -> Stationarity:
        """Return what a point is, arguments as for `classify`."""


class Branches(BranchProgram):
    """The branches of a program from `lift_pairs`; the layout names its multipliers."""

    def __init__(self, mpcc: Mpcc, backend: Backend, layout: Layout | None = None) -> None:
        self._layout = layout or Layout.of(mpcc)
        x, p = mpcc.x, mpcc.p
        c = stack(r.expr / ca.SX(r.scale) for r in mpcc.equalities)
        d = stack(r.expr / ca.SX(r.scale) for r in mpcc.inequalities)
        self._halves = Halves.of(mpcc.pairs, x)
        self.G, self.H = self._halves.G, self._halves.H
        self._equations = c.numel()
        g, f = ca.densify(ca.vertcat(c, d)), mpcc.objective
        lower = np.concatenate([np.zeros(c.numel()), np.full(d.numel(), -np.inf)])
        limits = (lower, np.zeros(g.numel()))
        name, m = f"{mpcc.name}_branch", self.G.size
        # Tolerances of solvers are absolute: a small objective would be solved less exactly.
        weight = ca.SX.sym("weight")
        program = (x, ca.vertcat(p, weight), weight * f, g)
        fixed = m + count_fixed_unknowns(mpcc)
        self._nlp = Nlp(name, *program, *limits, complementary=False, fixed=fixed)
        self._backend = backend.exact
        self._call = self._backend.build(self._nlp)
        outputs = [ca.densify(ca.gradient(f, x)), g, ca.jacobian(g, x)]
        self._linear = ca.Function("linear", [x, p], outputs)

    def solve(self, start: Point, closed: Mask, case: Case, held: Mask | None = None) -> Outcome:
        lower, upper = self._limit_branch(closed, case)
        x, call = np.clip(start.x, lower, upper), self._call
        steepness = max(self.steepness(x, case), self.steepness(case.guess, case))
        if held is not None:
            n, call = x.size, self._call_with_slacks
            x = np.append(x, self._slack(x, case))
            lower, upper = hold(x, *self._with_slacks(lower, upper), held)
            x = np.clip(x, lower, upper)
        p = np.append(case.p, find_weight(steepness))
        end = call(Point.cold(x, self._linear.size1_out(1)), p, lower, upper)
        return end if held is None else replace(end, point=Point.cold(end.point.x[:n], 0))

    def find_near_limits(self, x: Vector, closed: Mask, case: Case, distance: float) -> Mask:
        lower, upper = self._with_slacks(*self._limit_branch(closed, case))
        x = np.append(x, self._slack(x, case))
        return np.minimum(x - lower, upper - x) < distance

    def _slack(self, x: Vector, case: Case) -> Vector:
        """Return how far inequalities d <= 0 are from their limits, zero or more."""
        rows = np.asarray(self._linear(x, case.p)[1]).ravel()
        return np.maximum(-rows[self._equations :], 0.0)

    def _with_slacks(self, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
        """Return bounds of unknowns, then of slacks: zero or more."""
        d = self._linear.size1_out(1) - self._equations
        return np.append(lower, np.zeros(d)), np.append(upper, np.full(d, np.inf))

    @cached_property
    def _call_with_slacks(self) -> Call:
        """What solves branches with inequalities d <= 0 as equations d + s = 0, s >= 0."""
        nlp, c = self._nlp, self._equations
        s = ca.SX.sym("s", nlp.g.numel() - c)
        x, g = ca.vertcat(nlp.x, s), nlp.g + ca.vertcat(ca.SX.zeros(c), s)
        # All rows are equations now: both limits are those above, which are zero.
        with_slacks = replace(nlp, x=x, g=g, lower=nlp.upper, fixed=x.numel(), built={})
        return self._backend.build(with_slacks)

    def steepness(self, x: Vector, case: Case) -> float:
        size = float(np.abs(np.asarray(self._linear(x, case.p)[0])).max(initial=0.0))
        return size if np.isfinite(size) else 0.0

    def move_to_bounds(self, x: Vector, closed: Mask, case: Case, distance: float) -> Vector:
        lower, upper = self._limit_branch(closed, case)
        x = np.where(x - lower < distance, lower, x)
        return np.where(upper - x < distance, upper, x)

    def _limit_branch(self, closed: Mask, case: Case) -> tuple[Vector, Vector]:
        """Return bounds (n,) of the unknowns on a branch, ``closed`` as of `solve`."""
        lower, upper = case.lower.copy(), case.upper.copy()
        for half in (self.G, self.H):
            lower[half] = np.maximum(lower[half], 0.0)
        upper[np.where(closed, self.G, self.H)] = 0.0
        return lower, upper

    def linearise(self, x: Vector, case: Case) -> Lpec:
        slope, rows, J = self._linear(x, case.p)
        matrix = scipy.sparse.csr_array(J.sparse())
        c, lower = self._equations, self._limit_branch(np.zeros(self.G.size, dtype=bool), case)[0]
        return Lpec(
            x=x,
            lower=lower,
            upper=case.upper,
            slope=np.asarray(slope).ravel(),
            rows=np.asarray(rows).ravel()[c:],
            equations=matrix[:c],
            inequalities=matrix[c:],
            **self._halves._asdict(),
        )

    def classify(self, end: Point, lpec: Lpec, descent: float, tolerance: float) -> Stationarity:
        del end
        return classify(lpec, descent, tolerance, self._layout)
