"""Motions beside another one, to start from several places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsopt.mechanics.checks import not_negative, positive
from nsopt.trajectory.guesses.base import Array, Course, Guess

WAVES = 3
"""Half waves of which a detour is made."""


@dataclass(frozen=True)
class Perturbed(Guess):
    """Another guess with a smooth detour, the same for the same seed; its ends stay.

    Parameters
    ----------
    guess : Guess
    seed : int
    size : float [rad] or [m]
        Standard deviation of each half wave of each coordinate; the k-th is 1/k of it.
    internal : int
        How many of the last coordinates are internal states of friction, and stay as they are.

    Raises
    ------
    TypeError
        If the guess is none.
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

    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        known = self.guess.course(share, bounds, inputs)
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
            w = k * np.pi
            sine, cosine = np.sin(w * share)[:, None], np.cos(w * share)[:, None]
            q = q + size / k * sine
            v = v + size / k * w / known.duration * cosine
            a = a - size / k * (w / known.duration) ** 2 * sine
        return known._replace(q=np.hstack([q, known.q[:, n:]]), v=v, a=a)
