"""Guesses that go from posture to posture: `Quintic`, `Straight`, `Through`.

Coordinates in straight lines; bodies and ball joints turn about an axis that rests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Self

import numpy as np

from nsopt.arrays import Array
from nsopt.checks import finite, numbers
from nsopt.mechanics import Block, Dynamics
from nsopt.trajectory.checks import Targets, order_targets
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.guesses.base import (
    Bounds,
    Guess,
    Trajectory,
    Values,
    check_duration,
    constant_inputs,
    finite_numbers,
    typical_duration,
)
from nsopt.trajectory.guesses.ends import end_posture, start_posture


@dataclass(frozen=True, eq=False)
class Way:
    """The shortest way between two postures: in a straight line, rotations about a fixed axis."""

    start: Array  # (nq,)
    change: Array  # (nv,) to the end: of a ball joint or a free body its rotation vector, body axes
    balls: Sequence[Block] = ()  # where four coordinates are Euler parameters, of three velocities

    @classmethod
    def between(cls, start: Array, end: Array, dynamics: Dynamics | None) -> Way:
        """Return the way to an end, both (nq,); without a mechanism coordinates are plain ones."""
        blocks = dynamics.mechanism.generalized_coordinates.blocks if dynamics is not None else ()
        balls = [block for block in blocks if block.ball]
        if not balls or len(start) < blocks[-1].q.stop:
            return cls(start, end - start)
        parts = [
            _find_rotation_vector(start[b.q], end[b.q]) if b.ball else end[b.q] - start[b.q]
            for b in blocks
        ]
        internal = slice(blocks[-1].q.stop, None)
        return cls(start, np.concatenate([*parts, end[internal] - start[internal]]), balls)

    def at(self, share: Array) -> Array:
        """Return the coordinates (n, nq) at shares (n,) of the way."""
        moved = np.outer(share, self.change)
        if not self.balls:
            return np.asarray(self.start + moved)
        columns, next_q, next_v = [], 0, 0
        for ball in self.balls:
            columns += [self.start[next_q : ball.q.start] + moved[:, next_v : ball.v.start]]
            columns += [_turn(self.start[ball.q], moved[:, ball.v])]
            next_q, next_v = ball.q.stop, ball.v.stop
        return np.hstack([*columns, self.start[next_q:] + moved[:, next_v:]])


def _find_rotation_vector(a: Array, b: Array) -> Array:
    """Return the rotation vector, at most half a turn, from Euler parameters a to b, axes of a."""
    # The product of the conjugate of a with b; as b and -b are one rotation, the nearer of them.
    scalar = float(a @ b)
    vector = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    vector, sine = np.copysign(1.0, scalar) * vector, float(np.linalg.norm(vector))
    angle = 2 * np.arctan2(sine, abs(scalar))
    return np.asarray(vector * (angle / sine if sine > 0 else 2.0))


def _turn(e: Array, turns: Array) -> Array:
    """Return Euler parameters (n, 4): e turned by rotation vectors (n, 3) in its axes."""
    half = np.linalg.norm(turns, axis=1, keepdims=True) / 2
    c, w = np.cos(half), np.sinc(half / np.pi) * turns / 2
    scalar = e[0] * c - w @ e[1:, None]
    return np.hstack([scalar, e[0] * w + c * e[1:] + np.cross(np.tile(e[1:], (len(w), 1)), w)])


@dataclass(frozen=True)
class _Between(Guess):
    """A motion between two postures, as for `Quintic`."""

    start: Targets | None = None
    end: Targets | None = None
    # Set by `placed`; tells which coordinates are Euler parameters.
    mechanism: Dynamics | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        name = type(self).__name__
        for side, given in (("start", self.start), ("end", self.end)):
            if isinstance(given, Mapping):
                for coordinate, x in given.items():
                    finite(f"{side} of {name}, {coordinate!r},", x, ())
            elif given is not None:
                finite_numbers(f"{side} of {name}", given)
        if not any(x is None or isinstance(x, Mapping) for x in (self.start, self.end)):
            a, b = (np.asarray(x, dtype=float) for x in (self.start, self.end))
            if a.shape != b.shape or a.ndim != 1:
                raise ValueError(
                    f"start and end of {name} must be alike, a number for each coordinate: got "
                    f"shapes {a.shape} and {b.shape}"
                )

    def placed(
        self, dynamics: Dynamics, conditions: Sequence[Condition], parameters: Values
    ) -> Self:
        name = type(self).__name__
        start = start_posture(name, self.start, dynamics, conditions)
        end = end_posture(name, self.end, start, dynamics, conditions, parameters)
        return replace(self, start=start, end=end, mechanism=dynamics)

    def _find_way(self) -> Way:
        ends = (self.start, self.end)
        if any(x is None or isinstance(x, Mapping) for x in ends):
            raise ValueError(
                f"{type(self).__name__} is not yet a motion: placed(dynamics, conditions, None) "
                "gives it the postures that it leaves to the mechanism"
            )
        a, b = (np.asarray(x, dtype=float) for x in ends)
        return Way.between(a, b, self.mechanism)


@dataclass(frozen=True)
class Quintic(_Between):
    """The minimum-jerk motion between two postures at rest [Flash, Hogan 1985].

    A polynomial of fifth degree with zero velocity and acceleration at both ends; of all such
    motions it has the least integral of squared jerk. Rotations of free bodies and ball joints are
    about an axis that rests.

    Parameters
    ----------
    start, end : (nq,), mapping of name to float, or None
        What is left out is as conditions have it: at the start that of `StartAt`, or as bodies are
        stated; at the end that of `EndAt`, or of the nearest posture that meets the others, such as
        `Reach`, by `find_posture`; else that of the start.
    duration : float, optional [s]
        By default the mean of the horizon's bounds, or twice the lower one without an upper one.

    Raises
    ------
    ValueError
        If start and end differ in shape, or a number is not finite.
    """

    duration: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_duration("Quintic", self.duration)

    def trajectory(self, share: Array, bounds: Bounds, inputs: Sequence[str]) -> Trajectory:
        T, way, s = self.duration or typical_duration(bounds), self._find_way(), share
        # The polynomial, and its first two derivatives by s.
        return Trajectory(
            way.at(10 * s**3 - 15 * s**4 + 6 * s**5),
            np.outer(30 * s**2 - 60 * s**3 + 30 * s**4, way.change) / T,
            np.outer(60 * s - 180 * s**2 + 120 * s**3, way.change) / T**2,
            np.zeros((len(share), len(inputs))),
            T,
        )


@dataclass(frozen=True)
class Straight(_Between):
    """Motion between two postures at constant velocity.

    Parameters
    ----------
    start, end : (nq,), mapping of name to float, or None
        As for `Quintic`.
    inputs : mapping of name to float
        Constant values.
    duration : float, optional [s]
        As for `Quintic`.

    Raises
    ------
    ValueError
        As for `Quintic`.
    """

    inputs: dict[str, float] = field(default_factory=dict)
    duration: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in self.inputs.items():
            finite(f"input {name!r} of Straight", value, ())
        check_duration("Straight", self.duration)

    def trajectory(self, share: Array, bounds: Bounds, inputs: Sequence[str]) -> Trajectory:
        T, way = self.duration or typical_duration(bounds), self._find_way()
        v = np.tile(way.change / T, (len(share), 1))
        u = constant_inputs("Straight", self.inputs, inputs, len(share))
        return Trajectory(way.at(share), v, 0 * v, u, T)


@dataclass(frozen=True)
class Through(Guess):
    """Motion through several postures, at constant velocity between two of them.

    Parameters
    ----------
    poses : (k, nq), or sequence of mapping of name to float
        Two or more, of all coordinates.
    shares : (k,), optional
        Times at which the postures are passed, over the duration, from 0 to 1; equally spaced by
        default.
    duration : float, optional [s]
        As for `Quintic`.
    mechanism : Dynamics, optional
        Set by `placed`; tells which coordinates are Euler parameters.

    Raises
    ------
    ValueError
        If there are less than two postures, a number is not finite, or the shares do not increase
        from 0 to 1, one for each posture.
    """

    poses: Sequence[Targets]
    shares: Sequence[float] | None = None
    duration: float | None = None
    mechanism: Dynamics | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        poses = self.poses
        if not self._is_named:
            given = finite_numbers("poses of Through", poses)
            if given.ndim != 2 or len(given) < 2:
                raise ValueError(f"poses of Through must be two or more, got shape {given.shape}")
        elif len(poses) < 2:
            raise ValueError(f"poses of Through must be two or more, got {len(poses)}")
        check_duration("Through", self.duration)
        shares = finite_numbers("shares of Through", self._shares_of_poses)
        one_each = shares.shape == (len(poses),)
        if not one_each or shares[0] != 0 or shares[-1] != 1 or min(np.diff(shares)) <= 0:
            raise ValueError(
                f"shares of Through must rise from 0 to 1, one for each of {len(poses)} poses, "
                f"got {self.shares}"
            )

    @property
    def _is_named(self) -> bool:
        """Whether a posture is given by names, whose order is known once it is `placed`."""
        return any(isinstance(x, Mapping) for x in self.poses)

    @property
    def _shares_of_poses(self) -> Array:
        if self.shares is None:
            return np.linspace(0, 1, len(self.poses))
        return numbers("shares of Through", self.shares)

    def placed(
        self, dynamics: Dynamics, conditions: Sequence[Condition], parameters: Values
    ) -> Self:
        del conditions, parameters
        names = dynamics.q_names[: dynamics.nq - len(dynamics.internal_names)]
        poses = [
            np.asarray(order_targets(f"pose {k} of Through", x, names), dtype=float)
            for k, x in enumerate(self.poses)
        ]
        for k, pose in enumerate(poses):
            if np.isnan(pose).any():
                missing = [x for x, value in zip(names, pose, strict=True) if np.isnan(value)]
                raise ValueError(f"pose {k} of Through lacks {', '.join(missing)}: give all")
        return replace(self, poses=poses, mechanism=dynamics)

    def trajectory(self, share: Array, bounds: Bounds, inputs: Sequence[str]) -> Trajectory:
        if self._is_named:
            raise ValueError(
                "Through is not yet a motion: placed(dynamics, conditions, None) puts coordinates "
                "in order"
            )
        T, shares = self.duration or typical_duration(bounds), self._shares_of_poses
        poses = np.asarray(self.poses, dtype=float)
        ways = [Way.between(a, b, self.mechanism) for a, b in pairwise(poses)]
        k = np.clip(np.searchsorted(shares, share, side="right") - 1, 0, len(ways) - 1)  # the way
        lengths = np.diff(shares)
        part = np.clip((share - shares[k]) / lengths[k], 0, 1)
        q = np.vstack([ways[i].at(x[None]) for i, x in zip(k, part, strict=True)])
        v = np.array([ways[i].change for i in k]) / lengths[k, None] / T
        return Trajectory(q, v, 0 * v, np.zeros((len(share), len(inputs))), T)
