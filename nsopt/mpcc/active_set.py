"""Phase II: from a feasible point to one that no direction improves, branch by branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nsopt.mpcc.backend import Outcome, Point
from nsopt.mpcc.branch import Branches
from nsopt.mpcc.functions import Case
from nsopt.mpcc.homotopy import Trial
from nsopt.mpcc.layout import Layout, Vector
from nsopt.mpcc.lpec import Direction, Lpec, Mask
from nsopt.mpcc.stationarity import Stationarity, classify

NEAR = 1e-5
"""Scaled distance from a bound at which the bound is tried."""

LESS = 1e-9
"""By which f must be lower, in proportion to its size, for a branch to be better."""

SHRINK = 10.0
"""By which the trust region shrinks where no better branch is found."""

SECONDS, PROOF = 1.0, 20.0
"""Time for linear programs that look for a branch, and for the one that shows there is none."""


@dataclass(frozen=True)
class ActiveSet:
    """Branches chosen by linear programs, solved as NLPs [Nurkanovic, Leyffer, arXiv:2501.13835].

    At the solution of a branch an `Lpec` proposes a direction. Where none lowers f within a small
    radius, the point is B-stationary. Else the branch that the direction leads to is solved, and
    kept where its f is lower; if not, the radius shrinks.

    Parameters
    ----------
    radius, least : float
        The first one and the smallest of the trust region, in scaled units.
    tolerance : float
        Fall of the linear f over the radius that counts as none, where the gradient is 1 or less;
        in proportion where it is more.
    branches : int
        Nonlinear programs at most.
    """

    radius: float = 1.0
    least: float = 1e-5
    tolerance: float = 1e-5
    branches: int = 50

    def __post_init__(self) -> None:
        if not 0 < self.least <= self.radius or not self.tolerance > 0 or self.branches < 1:
            raise ValueError(
                f"0 < least <= radius, tolerance > 0 and branches >= 1 are needed, got {self}"
            )


class Improved(NamedTuple):
    """The end of an active-set method.

    Attributes
    ----------
    best : Trial or None
        None where no branch was solved.
    stationarity : Stationarity or None
        Of that.
    tried : tuple of Trial
        All branches that were solved.
    """

    best: Trial | None
    stationarity: Stationarity | None
    tried: tuple[Trial, ...]


Judge = Callable[[Vector, Outcome], Trial]
"""(x, end of the solver) -> trial, ok where x meets the program."""


@dataclass(frozen=True, eq=False)
class ActiveSetRun:
    """One run of an `ActiveSet`."""

    options: ActiveSet
    branches: Branches
    layout: Layout
    case: Case
    judge: Judge
    polish: Callable[[Vector], Vector | None]

    def run(self, start: Point) -> Improved:
        """Improve a point that is feasible or nearly so."""
        x = start.x
        now = self._solved(start, x[self.branches.G] <= x[self.branches.H])
        if now is None:
            return Improved(None, None, ())
        tried = [now]
        while True:
            lpec = self.branches.at(now.point.x, self.case)
            direction, better = self._step(now, lpec, tried)
            if better is None:
                fall = direction.decrease if direction.proven else np.inf
                kind = classify(lpec, fall, self._tolerance(lpec), self.layout)
                return Improved(now, kind, tuple(tried))
            now = better

    def _step(self, now: Trial, lpec: Lpec, tried: list[Trial]) -> tuple[Direction, Trial | None]:
        """Return the last direction, and a better branch if there is one."""
        radius = self.options.radius
        while True:
            last = radius <= self.options.least
            direction = lpec.within(radius, PROOF if last else SECONDS)
            falls = self._falls(direction, lpec)
            if falls and len(tried) < self.options.branches:
                start = Point.cold(now.point.x + direction.d, 0)
                other = self._solved(start, direction.closed)
                if other is not None:
                    tried.append(other)
                    if other.objective < now.objective - LESS * (1 + abs(now.objective)):
                        return direction, other
            # What does not fall within a radius does not within a smaller one.
            if last or (direction.proven and not falls):
                return direction, None
            radius = max(radius / SHRINK, self.options.least)

    def _falls(self, direction: Direction, lpec: Lpec) -> bool:
        return direction.decrease > self._tolerance(lpec)

    def _tolerance(self, lpec: Lpec) -> float:
        return self.options.tolerance * max(1.0, float(np.abs(lpec.slope).max(initial=0.0)))

    def _solved(self, start: Point, closed: Mask) -> Trial | None:
        """Return the solution of a branch, None if it meets the program nowhere."""
        outcome = self.branches.solve(start, closed, self.case)
        trial = self.judge(outcome.point.x, outcome)
        trial = self._on_bounds(trial, closed)
        return trial if trial.ok and np.isfinite(trial.objective) else None

    def _on_bounds(self, trial: Trial, closed: Mask) -> Trial:
        """Return the trial with what is near a bound on it, where f is not larger there.

        An interior-point method ends as far from a bound without a multiplier as the root of its
        barrier parameter.
        """
        x = self.branches.on_bounds(trial.point.x, closed, self.case, NEAR)
        for end in (x, self.polish(x)):
            if end is not None:
                moved = self.judge(end, trial.outcome)
                if moved.ok and not moved.objective > trial.objective + NEAR**2:
                    return moved
        return trial
