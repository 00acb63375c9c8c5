"""Guesses that interpolate postures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from nsopt.checks import finite, numbers
from nsopt.trajectory.guesses.base import (
    Array,
    Guess,
    Trajectory,
    check_duration,
    constant_inputs,
    finite_numbers,
    typical_duration,
)


@dataclass(frozen=True)
class Quintic(Guess):
    """The minimum-jerk motion between two postures at rest [Flash, Hogan 1985].

    A polynomial of fifth degree with zero velocity and acceleration at both ends; of all such
    motions it has the least integral of squared jerk.

    Parameters
    ----------
    start, end : (nq,)
    duration : float, optional [s]
        By default the mean of the horizon's bounds, or twice the lower one without an upper one.

    Raises
    ------
    ValueError
        If start and end differ in shape, or a number is not finite.
    """

    start: ArrayLike
    end: ArrayLike
    duration: float | None = None

    def __post_init__(self) -> None:
        _check_ends("Quintic", self.start, self.end)
        check_duration("Quintic", self.duration)

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        T = self.duration or typical_duration(bounds)
        a, b = (np.asarray(x, dtype=float) for x in (self.start, self.end))
        s, change = share[:, None], b - a
        return Trajectory(
            a + change * (10 * s**3 - 15 * s**4 + 6 * s**5),
            change * (30 * s**2 - 60 * s**3 + 30 * s**4) / T,
            change * (60 * s - 180 * s**2 + 120 * s**3) / T**2,
            np.zeros((len(share), len(inputs))),
            T,
        )


@dataclass(frozen=True)
class Straight(Guess):
    """Motion between two postures at constant velocity.

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

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        T = self.duration or typical_duration(bounds)
        a, b = (np.asarray(x, dtype=float) for x in (self.start, self.end))
        q = a + np.outer(share, b - a)
        u = constant_inputs("Straight", self.inputs, inputs, len(share))
        return Trajectory(q, np.tile((b - a) / T, (len(share), 1)), 0 * q, u, T)


@dataclass(frozen=True)
class Through(Guess):
    """Motion through several postures, at constant velocity between two of them.

    Parameters
    ----------
    poses : (k, nq)
        Two or more.
    shares : (k,), optional
        Times at which the postures are passed, over the duration, from 0 to 1; equally spaced by
        default.
    duration : float, optional [s]
        As for `Quintic`.

    Raises
    ------
    ValueError
        If there are less than two postures, a number is not finite, or the shares do not increase
        from 0 to 1, one for each posture.
    """

    poses: ArrayLike
    shares: ArrayLike | None = None
    duration: float | None = None

    def __post_init__(self) -> None:
        poses = finite_numbers("poses of Through", self.poses)
        if poses.ndim != 2 or len(poses) < 2:
            raise ValueError(f"poses of Through must be two or more, got shape {poses.shape}")
        check_duration("Through", self.duration)
        shares = finite_numbers("shares of Through", self._shares_of_poses)
        one_each = shares.shape == (len(poses),)
        if not one_each or shares[0] != 0 or shares[-1] != 1 or min(np.diff(shares)) <= 0:
            raise ValueError(
                f"shares of Through must rise from 0 to 1, one for each of {len(poses)} poses, "
                f"got {self.shares}"
            )

    @property
    def _shares_of_poses(self) -> Array:
        if self.shares is None:
            return np.linspace(0, 1, len(np.asarray(self.poses)))
        return numbers("shares of Through", self.shares)

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        T, shares = self.duration or typical_duration(bounds), self._shares_of_poses
        poses = np.asarray(self.poses, dtype=float)
        q = np.column_stack([np.interp(share, shares, x) for x in poses.T])
        velocities = np.diff(poses, axis=0) / np.diff(shares)[:, None] / T
        segment = np.clip(np.searchsorted(shares, share, side="right") - 1, 0, len(velocities) - 1)
        return Trajectory(q, velocities[segment], 0 * q, np.zeros((len(share), len(inputs))), T)


def _check_ends(guess: str, start: ArrayLike, end: ArrayLike) -> None:
    """Refuse two postures that differ in length or are not finite."""
    a, b = finite_numbers(f"start of {guess}", start), finite_numbers(f"end of {guess}", end)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"start and end of {guess} must be alike, a number for each coordinate: got shapes "
            f"{a.shape} and {b.shape}"
        )
