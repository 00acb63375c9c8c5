"""Phase II: from a feasible point to one that no direction improves, branch by branch.

`ActiveSet` has the options, `ActiveSetRun` is one search. Points are trials: `judge` makes one of
the end of a solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import thread_time
from typing import NamedTuple

import numpy as np

from nsopt.interrupt import is_interrupted
from nsopt.mpcc.backends.backend import Outcome, Point
from nsopt.mpcc.solve.branch import BranchProgram, drop_repeated_zeros
from nsopt.mpcc.solve.functions import Case
from nsopt.mpcc.solve.homotopy import Trial
from nsopt.mpcc.solve.lpec import Lpec, Mask
from nsopt.mpcc.solve.stationarity import Stationarity
from nsopt.mpcc.statement.layout import Vector

NEAR = 1e-5  # scaled distance from a bound, below which the point on it is tried
LESS = 1e-9  # relative decrease of f by which a branch is better
FLOOR = 1e-10  # scaled slope of f that counts as none, however small f is
SHRINK = 10.0  # factor by which the trust region shrinks where no better branch is found
# Scaled distances within which limits are tried as reached, in turn.
LIMIT_DISTANCES = (1e-5, 1e-4, 1e-3)
PROOF = 100  # times ``nodes``, for the linear program that shows that there is no descent


@dataclass(frozen=True)
class ActiveSet:
    """Branches chosen by linear programs, solved as NLPs [Nurkanovic, Leyffer, arXiv:2501.13835].

    At the solution of a branch an `Lpec` proposes a direction. Where none lowers f within a small
    radius, the point is B-stationary. Else the branch that the direction leads to is solved, and
    kept where its f is lower; if not, the radius shrinks.

    Parameters
    ----------
    radius, least : float
        First and least radius of the trust region, in scaled units.
    tolerance : float
        Descent of the linear f over the radius that counts as none, in proportion to the largest
        entry of its gradient, at the program's guess and all points reached, and to the square root
        of the number of unknowns.
    branches : int
        Nonlinear programs at most.
    nodes : int
        Of the tree of a mixed-integer linear program that looks for a branch, at most; a hundred
        times as many where it is to show that there is no descent.
    time_limit : float [s]
        After which no branch and no linear program begins, by the processor time of the thread: the
        result then does not depend on other work. The linear program under way counts by the clock.
    """

    radius: float = 1.0
    least: float = 1e-5
    tolerance: float = 1e-6
    branches: int = 50
    nodes: int = 100
    time_limit: float = np.inf

    def __post_init__(self) -> None:
        if not 0 < self.least <= self.radius or not self.tolerance > 0:
            raise ValueError(f"0 < least <= radius and tolerance > 0 are needed, got {self}")
        if self.branches < 1 or self.nodes < 1:
            raise ValueError(f"branches and nodes must be 1 or more, got {self}")
        if not self.time_limit > 0:
            raise ValueError(f"time_limit must be positive, got {self}")


class ActiveSetEnd(NamedTuple):
    """The end of an active-set method."""

    best: Trial | None  # None where no point met the program
    found: Stationarity | None  # what ``best`` is
    tried: tuple[Trial, ...]  # all branches that were solved, failed ones too


@dataclass(eq=False)
class ActiveSetRun:
    """One run of an `ActiveSet`."""

    options: ActiveSet
    branches: BranchProgram
    case: Case
    judge: Callable[[Vector, Outcome], Trial]  # x, end of the solver; ok where x meets the program
    refine: Callable[[Trial], Trial]  # onto the active constraints, if that succeeds
    most: float = np.inf  # objective above which the first branch is not taken
    tried: list[Trial] = field(default_factory=list)
    begun: float = field(default=0.0, init=False)  # thread time [s] at the start
    proven: float | None = field(default=None, init=False)  # a descent that no direction exceeds

    def run(self, start: Trial) -> ActiveSetEnd:
        """Solve branches from a point that meets the program, or nearly, while f falls."""
        self.begun, x = thread_time(), start.point.x
        steepest = self.branches.steepness(self.case.guess, self.case)
        if start.ok:
            steepest = max(steepest, self.branches.steepness(x, self.case))
            tolerance = self._find_tolerance(x, steepest)
            found = self._prove_stationary(start, tolerance)
            if found is None and self._stopped:
                lpec = self.branches.linearise(x, self.case)
                found = self.branches.classify(start.point, lpec, np.inf, tolerance)
            if found is not None:
                return ActiveSetEnd(start, found, ())
        first = self._solve(start.point, x[self.branches.G] <= x[self.branches.H])
        good = first.ok and first.objective <= self.most
        now = first if good or not start.ok else start
        if not now.ok:
            return ActiveSetEnd(None, None, tuple(self.tried))
        while True:
            steepest = max(steepest, self.branches.steepness(now.point.x, self.case))
            tolerance = self._find_tolerance(now.point.x, steepest)
            now, found = self._prove_nearby(now, tolerance)
            if found is not None:
                return ActiveSetEnd(now, found, tuple(self.tried))
            lpec = self.branches.linearise(now.point.x, self.case)
            better = self._find_better(now, lpec, tolerance) if lpec.finite else None
            if better is None:
                break
            now = better
        descent = np.nan
        if lpec.finite:
            now, lpec, descent = self._try_corners(now, lpec, tolerance)
        found = self.branches.classify(now.point, lpec, descent, tolerance)
        return ActiveSetEnd(now, found, tuple(self.tried))

    def _find_tolerance(self, x: Vector, steepest: float) -> float:
        """Return the descent that counts as none; ``steepest`` is the largest slope so far."""
        return (self.options.tolerance * steepest + FLOOR) * float(np.sqrt(x.size))

    def _prove_stationary(self, now: Trial, tolerance: float) -> Stationarity | None:
        """Return what a point is if its own multipliers prove it stationary, else None."""
        return self.branches.prove_stationary(now.point, self.options.least, tolerance, self.case)

    def _prove_nearby(self, now: Trial, tolerance: float) -> tuple[Trial, Stationarity | None]:
        """Return the trial, or one nearby with more halves at zero, and what it is if proven."""
        found = self._prove_stationary(now, tolerance)
        x = None if found else self.branches.snap(now.point.x, self.case, NEAR)
        if x is None:
            return now, found
        point = replace(now.point, x=x)
        moved = self.judge(x, replace(now.outcome, point=point, iterations=0, time=0.0))
        if moved.ok and _is_no_higher(moved, now):
            return moved, self._prove_stationary(moved, tolerance)
        return now, None

    def _measure_descent(self, lpec: Lpec) -> float:
        """Return the descent of the linear f within the least radius, infinite if unknown."""
        if self.proven is not None or self._stopped:
            return np.inf if self.proven is None else self.proven
        last = lpec.solve(self.options.least, self.options.nodes * PROOF, self._left)
        return last.descent if last.proven else np.inf

    def _try_corners(self, now: Trial, lpec: Lpec, tolerance: float) -> tuple[Trial, Lpec, float]:
        """Return the trial, or one on the limits nearby if that is B-stationary; lpec and descent.

        Interior-point methods end beside limits with small multipliers, where the linear f still
        falls as far as these limits. So the branch is solved again with what is near them held
        there. If that end meets the program and f is not larger there, its own descent counts.
        """
        x, descent, tried = now.point.x, self._measure_descent(lpec), list[Mask]()
        closed = x[self.branches.G] <= x[self.branches.H]
        for distance in LIMIT_DISTANCES:
            if not tolerance < descent < np.inf or self._stopped:
                break
            held = self.branches.find_near_limits(x, closed, self.case, distance)
            if any(np.array_equal(held, other) for other in tried):
                continue
            tried.append(held)
            corner = self._solve(now.point, closed, held)
            if not corner.ok or not _is_no_higher(corner, now):
                continue
            at = self.branches.linearise(corner.point.x, self.case)
            if at.finite:
                there = at.solve(self.options.least, self.options.nodes * PROOF, self._left)
                if there.proven and there.descent <= tolerance:
                    return corner, at, there.descent
        return now, lpec, descent

    @property
    def _left(self) -> float:
        """Thread time [s] that is left."""
        return self.options.time_limit - (thread_time() - self.begun)

    @property
    def _stopped(self) -> bool:
        return is_interrupted() or self._left <= 0

    def _find_better(self, now: Trial, lpec: Lpec, tolerance: float) -> Trial | None:
        """Return the end of a branch with lower f, None if there is none within any radius."""
        radius, options = self.options.radius, self.options
        while not self._stopped:
            direction = lpec.solve(radius, options.nodes, self._left)
            # Within a smaller radius f falls by no more, so its descent is at most this one scaled.
            if direction.proven and direction.descent * radius <= tolerance * options.least:
                self.proven = direction.descent * radius / options.least
                return None
            if direction.descent > tolerance:
                if len(self.tried) >= options.branches or self._stopped:
                    return None
                moved = replace(now.point, x=now.point.x + direction.d)
                other = self._solve(moved, direction.closed)
                most = now.objective - LESS * max(abs(now.objective), tolerance)
                if other.ok and other.objective < most:
                    return other
            if radius <= options.least:
                return None
            radius = max(radius / SHRINK, options.least)
        return None

    def _solve(self, start: Point, closed: Mask, held: Mask | None = None) -> Trial:
        """Return the end of a branch, arguments as of `BranchProgram.solve`."""
        closed = drop_repeated_zeros(closed, self.branches.G, self.branches.H)
        outcome = self.branches.solve(start, closed, self.case, held)
        trial = self.judge(outcome.point.x, outcome)
        if np.isfinite(trial.residuals.rows).all():
            trial = self._move_to_bounds(trial, closed)
        self.tried.append(trial)
        return trial

    def _move_to_bounds(self, trial: Trial, closed: Mask) -> Trial:
        """Return the trial with unknowns that are near a bound on it, where f is no larger there.

        An interior-point method ends as far from a bound without a multiplier as the root of its
        barrier parameter.
        """
        x = self.branches.move_to_bounds(trial.point.x, closed, self.case, NEAR)
        if x is trial.point.x:
            return trial
        moved = self.refine(self.judge(x, trial.outcome))
        return moved if moved.ok and (not trial.ok or _is_no_higher(moved, trial)) else trial


def _is_no_higher(trial: Trial, other: Trial) -> bool:
    """Return whether the objective of a trial is that of another, to round-off, or less."""
    more, size = trial.objective - other.objective, max(abs(trial.objective), abs(other.objective))
    return more <= LESS * size
