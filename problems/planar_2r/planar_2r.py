"""Two uniform links that swing in a vertical plane: the smallest robot, in joint coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt import Mechanism, Problem, Start, StepBounds, assemble
from nsopt.robots import DHRow, serial_from_dh

Array = NDArray[np.float64]

LENGTHS = (0.5, 0.4)  # m
MASSES = (3.0, 2.0)  # kg
RADIUS = 0.03  # m, of both links
DOWN = (0.0, -9.81, 0.0)  # m/s^2; joints turn about z, x is horizontal


def planar_2r() -> Mechanism:
    """Return the arm in relative coordinates, stretched out along x at zero joint angles.

    Links are homogeneous cylinders along x of their frames, which sit at their far ends.
    """
    return serial_from_dh(
        DHRow(
            a=length,
            mass=mass,
            com=(-length / 2, 0.0, 0.0),
            inertia=(mass * RADIUS**2 / 2, *[mass * (length**2 / 12 + RADIUS**2 / 4)] * 2),
        )
        for length, mass in zip(LENGTHS, MASSES, strict=True)
    )


def closed_form(q: ArrayLike, v: ArrayLike) -> tuple[Array, Array, Array]:
    """Return mass matrix, Coriolis terms and weight [Siciliano 2009, eq. 7.82].

    Parameters
    ----------
    q, v : (2,) [rad], [rad/s]
    """
    (l1, l2), (m1, m2), g = LENGTHS, MASSES, -DOWN[1]
    (q1, q2), (v1, v2) = np.asarray(q), np.asarray(v)
    i1, i2 = (m * (x**2 / 12 + RADIUS**2 / 4) for m, x in ((m1, l1), (m2, l2)))
    far = i2 + m2 * l2**2 / 4
    share = far + m2 * l1 * l2 * np.cos(q2) / 2
    own = i1 + m1 * l1**2 / 4 + far + m2 * (l1**2 + l1 * l2 * np.cos(q2))
    whirl = m2 * l1 * l2 * np.sin(q2) / 2
    coriolis = np.array([-whirl * (2 * v1 + v2) * v2, whirl * v1**2])
    tip = m2 * g * l2 / 2 * np.cos(q1 + q2)
    weight = np.array([(m1 / 2 + m2) * g * l1 * np.cos(q1) + tip, tip])
    return np.array([[own, share], [share, far]]), coriolis, weight


dynamics = assemble(planar_2r(), gravity=DOWN)
problem = Problem(
    dynamics,
    duration=2.0,
    steps=StepBounds(1e-3, 2e-3),
    start=Start(np.array([-0.3, 0.8]), np.zeros(2)),
)
