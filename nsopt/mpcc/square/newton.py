"""The options of semismooth Newton on square programs, which kernels solve."""

from __future__ import annotations

from dataclasses import dataclass, field

from nsopt.kernels import NewtonNumbers


@dataclass(frozen=True)
class ProximalPoints:
    """The proximal point algorithm [Rockafellar 1976, SIAM J. Control Optim. 14(5)].

    Pairs, boxes and discs state unknowns z as projections of z - F(z). Each point is the solution
    of the program with F(z) + part (z - z of the last point), F in units in which its own slope is
    about one; ``part`` goes to zero. A damped semismooth Newton finds each. With friction F is not
    monotone, but Newton then nearly always converges; without ``part`` it goes from mode to mode,
    or many z give the same motion. From each point full steps of Newton try the program itself.

    Parameters
    ----------
    first, shrink, grow : float
        Part of the first point; how it changes after a point that was found, and after one that was
        not.
    inexact : float
        Residual at which a point counts as found, over its part.
    steps : int
        Of Newton at most for each point.
    budget, last : int
        Steps in all at most: ``budget`` where a failure only leads to a smaller h, ``last`` at
        h_min and elsewhere. With zero there are no points, only full steps.
    """

    first: float = 0.1
    shrink: float = 0.3
    grow: float = 10.0
    inexact: float = 1e-2
    steps: int = 12
    budget: int = 60
    last: int = 1000

    def __post_init__(self) -> None:
        if min(self.first, self.inexact) <= 0 or not 0 < self.shrink < 1 < self.grow:
            raise ValueError(
                f"first and inexact must be positive, shrink in (0, 1) and grow above 1, got {self}"
            )
        if self.steps < 1 or not 0 <= self.budget <= self.last:
            raise ValueError(f"steps must be 1 or more, budget from 0 to last, got {self}")


@dataclass(frozen=True)
class Newton:
    """Newton on the min map: pairs are rows min(G, H), boxes and discs projections (`min_rows`).

    The program must be square, without objective, inequalities or finite bounds; multipliers of
    equations must be declared. `match_rows` finds which row is solved for which unknown. Each
    iteration solves for all unknowns at once: equations are eliminated for their own unknowns
    (velocities) first, multipliers last. Full steps; if they do not converge, `ProximalPoints` from
    the start again.

    Parameters
    ----------
    tolerance : float
        Largest scaled residual at which the iteration ends at once.
    rough : float
        Largest one at which it ends after five steps: round-off keeps it from falling further where
        clearances are small beside the mechanism.
    iterations : int
        Full steps at most.
    points : ProximalPoints
    proximal : float
        Part of its own size that is added to each pivot of a multiplier: dependent rows are then
        solved, by the multipliers that change least.
    """

    tolerance: float = 1e-11
    rough: float = 1e-8
    iterations: int = 10
    points: ProximalPoints = field(default_factory=ProximalPoints)
    proximal: float = 1e-9

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1 or not 0 <= self.proximal < 1:
            raise ValueError(f"tolerance must be in (0, 1), proximal in [0, 1), got {self}")
        if self.iterations < 1:
            raise ValueError(f"iterations must be 1 or more, got {self}")

    @property
    def numbers(self) -> NewtonNumbers:
        """The options as numbers for kernels, which are compiled for these types."""
        points = self.points
        return NewtonNumbers(
            tolerance=float(self.tolerance),
            rough=float(self.rough),
            iterations=int(self.iterations),
            proximal=float(self.proximal),
            first=float(points.first),
            shrink=float(points.shrink),
            grow=float(points.grow),
            inexact=float(points.inexact),
            steps=int(points.steps),
            budget=int(points.budget),
            last=int(points.last),
        )
