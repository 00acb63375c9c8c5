"""The strategy that finds the least duration of a motion, where it was given too little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsopt.result import Result
from nsopt.trajectory.costs import Duration
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.search.found import Motion
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import Search, Strategy
from nsopt.trajectory.transcription.base import Array


@dataclass(frozen=True)
class LeastDuration(Strategy[StatedProgram]):
    """Tells how long the fastest motion takes, where no motion was found in a given duration.

    Parameters
    ----------
    longer : float
        Times the duration that was given, up to which a longer one is sought.
    same : float
        Part of a duration by which a longest one is longer.
    """

    why = "a duration may be too short, which no violated row says"

    longer: float = 20.0
    same: float = 1e-3

    def applies(self, search: Search, found: Motion) -> bool:
        now, end, horizon = found.program, found.end, found.program.transcription.horizon
        known = horizon.fixed and search.solve_else is not None
        return known and now.by_polynomials and not (end.interrupted or end.feasible)

    def solve(self, search: Search, found: Motion) -> Motion:
        horizon = found.program.transcription.horizon
        given, _ = horizon.bounds
        fastest = self._fastest(search, replace(horizon, duration=(given, self.longer * given)))
        if fastest is None or not fastest.completed:
            return found
        if fastest.objective <= given * (1 + self.same):
            return found
        remark = (
            f"the duration of {given:g} s is too short: the fastest motion found that keeps all "
            f"conditions takes {fastest.objective:.4g} s\n- "
        )
        return replace(found, remark=remark)

    def _fastest(self, search: Search, horizon: Horizon) -> Result | None:
        assert search.guess is not None
        assert search.solve_else is not None
        known = AsFast(search.guess, (horizon.bounds[0],) * 2)
        try:
            return search.solve_else(horizon, known, costs=[Duration()])
        except KeyboardInterrupt:  # what failed is told in any case
            return None


@dataclass(frozen=True)
class AsFast(Guess):
    """A guess in a given duration, whatever the horizon: it is not slow where the search is long.

    Parameters
    ----------
    guess : Guess
        As placed.
    bounds : (float, float) [s]
    """

    guess: Guess
    bounds: tuple[float, float]

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        del bounds
        return self.guess.trajectory(share, self.bounds, inputs)
