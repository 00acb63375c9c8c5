"""Finite motions along branches, followed from the posture to where their loops no longer close."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import null_space
from nsopt.mobility.branches import MotionBranch
from nsopt.mobility.reduction import Reduction

Array = NDArray[np.float64]

CLOSED = 1e-10
"""Residual, in scaled rows, at which loops are closed."""


def follow_branch(
    reduction: Reduction, branch: MotionBranch, step: float, count: int
) -> list[Array]:
    """Return the motions of a branch that tracing confirmed, from the posture.

    Each is continued along its tangent, as far as the loops close, `count` steps at most.

    Parameters
    ----------
    reduction : Reduction
    branch : MotionBranch
    step : float
        Length of a step in scaled coordinates [rad, or over the size of the mechanism].
    count : int

    Returns
    -------
    list of (steps + 1, n)
        Coordinates u, zero at the posture; one array for each direction that was traced.
    """
    return [
        reduction.columns * _follow(reduction, point / reduction.columns, step, count)
        for point in branch.points
    ]


def _follow(reduction: Reduction, near: Array, step: float, count: int) -> Array:
    """Return the motion (steps + 1, n) through the posture and a point near it, scaled."""
    points = [np.zeros_like(near), near]
    while len(points) <= count:
        _, J = reduction.evaluate(points[-1])
        free = null_space(J)
        ahead = points[-1] - points[-2]
        ahead = free @ (free.T @ ahead)
        size = float(np.linalg.norm(ahead))
        new = None if size < 1e-9 else _close(reduction, points[-1] + step / size * ahead)
        if new is None:
            break
        points.append(new)
    # The point near by is no step away: it is left out unless it is all there is.
    return np.array([points[0], *points[2:]] if len(points) > 2 else points)


def _close(reduction: Reduction, u: Array) -> Array | None:
    """Return a closed posture near ``u``, by Gauss-Newton; None where it finds none."""
    for _ in range(20):
        h, J = reduction.evaluate(u)
        if np.max(np.abs(h), initial=0.0) < CLOSED:
            return u
        u = u - np.linalg.lstsq(J, h, rcond=1e-8)[0]
    return None
