"""Straight ways from one posture to another; bodies turn about an axis that rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsopt.mechanics import Block, Dynamics
from nsopt.trajectory.guesses.base import Array


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
            _rotation_vector(start[b.q], end[b.q]) if b.ball else end[b.q] - start[b.q]
            for b in blocks
        ]
        internal = slice(blocks[-1].q.stop, None)
        return cls(start, np.concatenate([*parts, end[internal] - start[internal]]), balls)

    def at(self, share: Array) -> Array:
        """Return the coordinates (n, nq) at shares (n,) of the way."""
        moved = np.outer(share, self.change)
        if not self.balls:
            place: Array = self.start + moved
            return place
        columns, next_q, next_v = [], 0, 0
        for ball in self.balls:
            columns += [self.start[next_q : ball.q.start] + moved[:, next_v : ball.v.start]]
            columns += [_turn(self.start[ball.q], moved[:, ball.v])]
            next_q, next_v = ball.q.stop, ball.v.stop
        return np.hstack([*columns, self.start[next_q:] + moved[:, next_v:]])


def _rotation_vector(a: Array, b: Array) -> Array:
    """Return the rotation vector, at most half a turn, from Euler parameters a to b, axes of a."""
    # The product of the conjugate of a with b; as b and -b are one rotation, the nearer of them.
    scalar = float(a @ b)
    vector = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    vector, sine = np.copysign(1.0, scalar) * vector, float(np.linalg.norm(vector))
    angle = 2 * np.arctan2(sine, abs(scalar))
    turn: Array = vector * (angle / sine if sine > 0 else 2.0)
    return turn


def _turn(e: Array, turns: Array) -> Array:
    """Return Euler parameters (n, 4): e turned by rotation vectors (n, 3) in its axes."""
    half = np.linalg.norm(turns, axis=1, keepdims=True) / 2
    c, w = np.cos(half), np.sinc(half / np.pi) * turns / 2
    scalar = e[0] * c - w @ e[1:, None]
    return np.hstack([scalar, e[0] * w + c * e[1:] + np.cross(np.tile(e[1:], (len(w), 1)), w)])
