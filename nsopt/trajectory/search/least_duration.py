"""The strategy that finds the least duration of a motion, where it was given too little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsopt.arrays import Array
from nsopt.trajectory.costs import Duration
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import FoundMotion, Search, Strategy


@dataclass(frozen=True)
class LeastDuration(Strategy[StatedProgram]):
    """Tells how long the fastest motion takes, where no motion was found in a given duration."""

    why = "a duration may be too short, which no violated row says"

    longest_factor: float = 20.0  # times the given duration: the longest one that is tried
    # Share of the given duration by which the least one must be longer to be told of.
    tolerance: float = 1e-3

    def applies(self, search: Search, found: FoundMotion) -> bool:
        program, end, horizon = found.program, found.end, found.program.transcription.horizon
        # Of phases `solve_else` is None.
        can_be_longer = horizon.fixed and search.solve_else is not None
        return can_be_longer and program.by_polynomials and not (end.interrupted or end.feasible)

    def solve(self, search: Search, found: FoundMotion) -> FoundMotion:
        horizon = found.program.transcription.horizon
        given, _ = horizon.bounds
        longer = replace(horizon, duration=(given, self.longest_factor * given))
        assert search.guess is not None
        assert search.solve_else is not None
        try:
            fastest = search.solve_else(
                longer, WithDuration(search.guess, (given, given)), costs=[Duration()]
            )
        except KeyboardInterrupt:  # the motion that failed is recorded in any case
            return found
        if fastest is None or not fastest.completed:  # None if it is refused
            return found
        # The objective is the duration [s], the only cost.
        if fastest.objective <= given * (1 + self.tolerance):
            return found
        remark = (  # the reason why the search failed is the next item of this list
            f"the duration of {given:g} s is too short: the fastest motion found that keeps all "
            f"conditions takes {fastest.objective:.4g} s\n- "
        )
        return replace(found, remark=remark)


@dataclass(frozen=True)
class WithDuration(Guess):
    """Another guess within bounds of the duration that are not those of the horizon."""

    guess: Guess
    bounds: tuple[float, float]  # [s] of the duration, in place of those of the horizon

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        del bounds
        return self.guess.trajectory(share, self.bounds, inputs)
