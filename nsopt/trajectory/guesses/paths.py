"""Motions from pose to pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from nsopt.mechanics.checks import numbers
from nsopt.trajectory.guesses.base import Array, Course, Guess, typical


@dataclass(frozen=True)
class Quintic(Guess):
    """From pose to pose at rest, by the polynomial of fifth degree with accelerations zero too.

    Of all motions with these ends it has the least integral of squared jerk [Flash, Hogan 1985]:
    it is the minimum-jerk motion.

    Parameters
    ----------
    start, end : (nq,)
    duration : float, optional [s]
        By default the mean of its bounds, or twice the least where there is no most.
    """

    start: ArrayLike
    end: ArrayLike
    duration: float | None = None

    def __post_init__(self) -> None:
        a, b = numbers("start of Quintic", self.start), numbers("end of Quintic", self.end)
        if a.shape != b.shape or a.ndim != 1:
            raise ValueError(
                f"start and end of Quintic must be alike, got shapes {a.shape} and {b.shape}"
            )

    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        T = self.duration or typical(bounds)
        a, b = (np.asarray(x, dtype=float) for x in (self.start, self.end))
        s, way = share[:, None], b - a
        return Course(
            a + way * (10 * s**3 - 15 * s**4 + 6 * s**5),
            way * (30 * s**2 - 60 * s**3 + 30 * s**4) / T,
            way * (60 * s - 180 * s**2 + 120 * s**3) / T**2,
            np.zeros((len(share), len(inputs))),
            T,
        )


@dataclass(frozen=True)
class Straight(Guess):
    """From pose to pose at constant velocity.

    Parameters
    ----------
    start, end : (nq,)
    inputs : mapping of name to float
        Constant values.
    duration : float, optional [s]
        As for `Quintic`.
    """

    start: ArrayLike
    end: ArrayLike
    inputs: dict[str, float] = field(default_factory=dict)
    duration: float | None = None

    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        T = self.duration or typical(bounds)
        a, b = (np.asarray(x, dtype=float) for x in (self.start, self.end))
        q = a + np.outer(share, b - a)
        u = np.tile([self.inputs.get(name, 0.0) for name in inputs], (len(share), 1))
        return Course(q, np.tile((b - a) / T, (len(share), 1)), 0 * q, u, T)
