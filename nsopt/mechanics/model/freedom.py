"""The freedom of a joint: slides, turns and screws, one after another, or all rotations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from nsopt.parameter import Scalar

X, Y, Z = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Axis:
    """One freedom q: turning by q about ``turn``, sliding by q along ``slide``, or a screw.

    Attributes
    ----------
    name, rate : str
        Names of coordinate and velocity, as in ``joint.name``.
    turn : (3,)
        `X`, `Y` or `Z` of the joint's frame; zero for a slide.
    slide : (3,)
        `X`, `Y` or `Z`; zero for a turn or a screw.
    pitch : float or Parameter [m]
        Advance per turn along ``turn``; a screw has one.
    sign : float
        1 from frame a to frame b, -1 from b to a.
    """

    name: str
    rate: str
    turn: tuple[float, float, float] = (0.0, 0.0, 0.0)
    slide: tuple[float, float, float] = (0.0, 0.0, 0.0)
    pitch: Scalar = 0.0
    sign: float = 1.0

    def rotation(self, q: ca.SX) -> ca.SX:
        """Return the rotation (3, 3) by q [rad], backwards if ``sign`` is -1."""
        if not any(self.turn):
            return ca.SX.eye(3)
        k = self.turn.index(1.0)
        i, j = (k + 1) % 3, (k + 2) % 3
        sine, cosine = ca.sin(q), ca.cos(q)
        R = ca.SX.eye(3)
        R[i, i], R[i, j], R[j, i], R[j, j] = cosine, -self.sign * sine, self.sign * sine, cosine
        return R


@dataclass(frozen=True)
class Ball:
    """All rotations: Euler parameters (e0, e), and the angular velocity in the turned axes."""


Freedom = tuple[Axis | Ball, ...]
"""The steps from frame a to frame b, in order; empty where nothing is free."""

FREE: Freedom = (
    Axis("x", "vx", slide=X),
    Axis("y", "vy", slide=Y),
    Axis("z", "vz", slide=Z),
    Ball(),
)
"""The freedom of a free body: its centre of mass in world axes, then all rotations."""


def reverse_freedom(freedom: Freedom) -> Freedom:
    """Return the freedom from frame b to frame a at the same coordinates.

    A ball stays: its Euler parameters always lead from the parent to the child.
    """
    return tuple(
        replace(step, sign=-step.sign) if isinstance(step, Axis) else step
        for step in reversed(freedom)
    )
