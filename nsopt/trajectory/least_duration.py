"""The least duration of a motion, where it was given too little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nsopt.result import Result
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.transcription.base import Array

LONGER = 20.0
"""Times the duration that was given, up to which a longer one is sought."""

SAME = 1e-3
"""Part of a duration by which a longest one is longer."""


def with_least_duration(
    why: str, horizon: Horizon, fastest: Callable[[Horizon], Result | None]
) -> str:
    """Return why a motion is no solution, the least duration first if it was given less.

    Parameters
    ----------
    why : str
    horizon : Horizon
        Where the duration is free nothing is sought.
    fastest : callable
        Of a horizon of free duration, the fastest motion under the same conditions, if there is
        one.
    """
    given, most = horizon.bounds
    if given < most or not horizon.fixed:
        return why
    found = fastest(replace(horizon, duration=(given, LONGER * given)))
    if found is None or not found.completed or found.objective <= given * (1 + SAME):
        return why
    return (
        f"the duration of {given:g} s is too short: the fastest motion found that keeps all "
        f"conditions takes {found.objective:.4g} s\n- {why}"
    )


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
