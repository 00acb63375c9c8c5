"""The steps of a motion by polynomials, as a simulation records them."""

from __future__ import annotations

import numpy as np

from nsopt.mpcc import Solution
from nsopt.simulation import AcceptedSteps, objects
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.transcription.base import Array


def make_accepted_steps(
    trajectory: Trajectory, t: Array, power: Array, loss: Array, solution: Solution
) -> AcceptedSteps:
    """Return the steps between nodes.

    Parameters
    ----------
    trajectory : Trajectory
        At the nodes.
    t : (n + 1,) [s]
        Times of the nodes.
    power : (2 n + 1,) [W]
        Power of external forces at nodes and midpoints.
    loss : (n, ns) [J]
        Energy that forces at surfaces take in each step.
    solution : Solution
        Gives the residual, the iterations and the time, shared evenly among the steps.
    """
    n = len(t) - 1
    none = np.zeros((n, 0))
    return AcceptedSteps(
        t=t[1:],
        h=np.diff(t),
        q=trajectory.q[1:],
        v=trajectory.v[1:],
        impulse=none,
        impact_impulse=none,
        contact_mode=none,
        joint_impulse=none,
        slip_impulse=none,
        motion_residual=np.full(n, solution.residuals.violation),
        loss=loss,
        work=np.diff(t) / 6 * (power[:-2:2] + 4 * power[1::2] + power[2::2]),
        projection_work=np.zeros(n),
        iterations=np.full(n, solution.iterations / n),
        solve_time=np.full(n, solution.time / n),
        retries=np.zeros(n),
        reason=objects(["optimum"] * n),
        tried=objects([()] * n),
        at_end=np.ones(n, dtype=bool),
        depth=np.zeros(n),
        unplaced=np.zeros(n),
        overdue=np.zeros(n),
        how=np.zeros(n, dtype=np.int64),
    )
