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

    def __post_init__(self) -> None:
        if not isinstance(self.guess, Guess):
            raise TypeError(
                f"Perturbed takes a Guess, got {self.guess!r}: give Quintic(start, end), ..."
            )
        not_negative("seed of Perturbed", self.seed)
        positive("size of Perturbed", self.size)

    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        known = self.guess.course(share, bounds, inputs)
        if known.q.shape != known.v.shape:
            raise ValueError("Perturbed is for coordinates that are angles and lengths")
        random = np.random.default_rng(self.seed)
        sizes = self.size * random.normal(size=(WAVES, known.q.shape[1]))
        q, v, a = known.q, known.v, known.a
        for k, size in enumerate(sizes, 1):
            w = k * np.pi
            sine, cosine = np.sin(w * share)[:, None], np.cos(w * share)[:, None]
            q = q + size / k * sine
            v = v + size / k * w / known.duration * cosine
            a = a - size / k * (w / known.duration) ** 2 * sine
        return known._replace(q=q, v=v, a=a)
