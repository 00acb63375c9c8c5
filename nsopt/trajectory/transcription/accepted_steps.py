"""The steps of an optimum, as a simulation records them."""

from __future__ import annotations

import numpy as np

from nsopt.mpcc import Solution
from nsopt.simulation import AcceptedSteps, objects
from nsopt.trajectory.transcription.base import Array


def make_accepted_steps(
    solution: Solution,
    t: Array,
    q: Array,
    v: Array,
    loss: Array,
    work: Array,
    impulses: tuple[Array, Array, Array, Array],
    projection_work: Array | None = None,
    at_end: bool = True,
) -> AcceptedSteps:
    """Return n steps, which share iterations and time of a solution evenly.

    ``t``, ``q`` and ``v`` are those of n + 1 nodes; ``impulses`` the mean ones of contacts, the
    part of them in impacts, those of joints and of slips. See `AcceptedSteps`.
    """
    n = len(t) - 1
    impulse, impact, joint_impulse, slip_impulse = impulses
    return AcceptedSteps(
        t=t[1:],
        h=np.diff(t),
        q=q[1:],
        v=v[1:],
        impulse=impulse,
        impact_impulse=impact,
        contact_mode=np.zeros_like(impulse),
        joint_impulse=joint_impulse,
        slip_impulse=slip_impulse,
        motion_residual=np.full(n, solution.residuals.violation),
        loss=loss,
        work=work,
        projection_work=np.zeros(n) if projection_work is None else projection_work,
        iterations=np.full(n, solution.iterations / n),
        solve_time=np.full(n, solution.time / n),
        retries=np.zeros(n),
        reason=objects(["optimum"] * n),
        tried=objects([()] * n),
        at_end=np.full(n, at_end),
        depth=np.zeros(n),
        unplaced=np.zeros(n),
        overdue=np.zeros(n),
        how=np.zeros(n, dtype=np.int64),
    )
