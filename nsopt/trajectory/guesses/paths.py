"""Motions from pose to pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from nsopt.mechanics.checks import finite, numbers
from nsopt.trajectory.guesses.base import (
    Array,
    Course,
    Guess,
    check_duration,
    constant,
    pose,
    typical,
)


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

    Raises
    ------
    ValueError
        If start and end are not alike, or a number is not finite.
    """

    start: ArrayLike
    end: ArrayLike
    duration: float | None = None

    def __post_init__(self) -> None:
        _check_ends("Quintic", self.start, self.end)
        check_duration("Quintic", self.duration)

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

    Raises
    ------
    ValueError
        As for `Quintic`.
    """

    start: ArrayLike
    end: ArrayLike
    inputs: dict[str, float] = field(default_factory=dict)
    duration: float | None = None

    def __post_init__(self) -> None:
        _check_ends("Straight", self.start, self.end)
        for name, value in self.inputs.items():
            finite(f"input {name!r} of Straight", value, ())
        check_duration("Straight", self.duration)

    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        T = self.duration or typical(bounds)
        a, b = (np.asarray(x, dtype=float) for x in (self.start, self.end))
        q = a + np.outer(share, b - a)
        u = constant("Straight", self.inputs, inputs, len(share))
        return Course(q, np.tile((b - a) / T, (len(share), 1)), 0 * q, u, T)


@dataclass(frozen=True)
class Through(Guess):
    """Through several poses, at constant velocity from each to the next.

    Parameters
    ----------
    poses : (k, nq)
        Two or more.
    shares : (k,), optional
        Of the duration, when each is passed, from 0 to 1; evenly by default.
    duration : float, optional [s]
        As for `Quintic`.

    Raises
    ------
    ValueError
        If there are less than two poses, a number is not finite, or the shares do not rise from 0
        to 1, one for each.
    """

    poses: ArrayLike
    shares: ArrayLike | None = None
    duration: float | None = None

    def __post_init__(self) -> None:
        poses = pose("poses of Through", self.poses)
        if poses.ndim != 2 or len(poses) < 2:
            raise ValueError(f"poses of Through must be two or more, got shape {poses.shape}")
        check_duration("Through", self.duration)
        when = pose("shares of Through", self._when)
        if when.shape != (len(poses),) or when[0] != 0 or when[-1] != 1 or min(np.diff(when)) <= 0:
            raise ValueError(
                f"shares of Through must rise from 0 to 1, one for each of {len(poses)} poses, "
                f"got {self.shares}"
            )

    @property
    def _when(self) -> Array:
        if self.shares is None:
            return np.linspace(0, 1, len(np.asarray(self.poses)))
        return numbers("shares of Through", self.shares)

    def course(self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]) -> Course:
        T, when = self.duration or typical(bounds), self._when
        poses = np.asarray(self.poses, dtype=float)
        q = np.column_stack([np.interp(share, when, x) for x in poses.T])
        speeds = np.diff(poses, axis=0) / np.diff(when)[:, None] / T
        leg = np.clip(np.searchsorted(when, share, side="right") - 1, 0, len(speeds) - 1)
        return Course(q, speeds[leg], 0 * q, np.zeros((len(share), len(inputs))), T)


def _check_ends(of: str, start: ArrayLike, end: ArrayLike) -> None:
    """Refuse two postures that are not as long as each other, or not finite."""
    a, b = pose(f"start of {of}", start), pose(f"end of {of}", end)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"start and end of {of} must be alike, a number for each coordinate: got shapes "
            f"{a.shape} and {b.shape}"
        )
