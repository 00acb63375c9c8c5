"""Random perturbations of a guess, for several starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from nsopt.arrays import Array
from nsopt.checks import not_negative, positive
from nsopt.mechanics import Dynamics
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.guesses.base import Bounds, Guess, Trajectory, Values

WAVES = 3  # sines in a perturbation, of one half wave over the motion, two, and so on


@dataclass(frozen=True)
class Perturbed(Guess):
    """Another guess plus a smooth random perturbation that vanishes at both ends.

    Parameters
    ----------
    guess : Guess
    seed : int
        The same seed gives the same perturbation.
    size : float [rad] or [m]
        Standard deviation of the amplitude of the sine of one half wave, in each coordinate; the
        sine of k half waves has 1/k of it.
    internal : int
        Number of internal states of friction, the last coordinates, which are not perturbed.

    Raises
    ------
    TypeError
        If ``guess`` is no Guess.
    ValueError
        If the size is not positive, or the seed negative.
    """

    guess: Guess
    seed: int
    size: float = 0.3
    internal: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.guess, Guess):
            raise TypeError(
                f"Perturbed takes a Guess, got {self.guess!r}: give Quintic(start, end), ..."
            )
        not_negative("seed of Perturbed", self.seed)
        positive("size of Perturbed", self.size)

    def placed(
        self, dynamics: Dynamics, conditions: Sequence[Condition], parameters: Values
    ) -> Self:
        return replace(self, guess=self.guess.placed(dynamics, conditions, parameters))

    def trajectory(self, share: Array, bounds: Bounds, inputs: Sequence[str]) -> Trajectory:
        known = self.guess.trajectory(share, bounds, inputs)
        # Coordinates beyond the velocities are internal states, or Euler parameters, to which an
        # angle cannot be added.
        n, more = known.v.shape[1], known.q.shape[1] - known.v.shape[1]
        if more not in (0, self.internal):
            raise ValueError(
                f"the guess {type(self.guess).__name__} has {n + more} coordinates and {n} "
                "velocities, but Perturbed is for angles and lengths: state the mechanism in "
                'coordinates="relative"'
            )
        random = np.random.default_rng(self.seed)
        sizes = self.size * random.normal(size=(WAVES, n))
        q, v, a = known.q[:, :n], known.v, known.a
        for k, size in enumerate(sizes, 1):
            phase = k * np.pi
            sine, cosine = np.sin(phase * share)[:, None], np.cos(phase * share)[:, None]
            q = q + size / k * sine
            v = v + size / k * phase / known.duration * cosine
            a = a - size / k * (phase / known.duration) ** 2 * sine
        return known._replace(q=np.hstack([q, known.q[:, n:]]), v=v, a=a)
