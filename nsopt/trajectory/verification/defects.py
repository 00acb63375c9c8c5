"""How far reintegrated steps end from their nodes, and how far they may: `Defects`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mechanics import Axis, Dynamics
from nsopt.simulation import evaluate_at_times

SHARE = 1e-3
"""Distance by which a step may end from its node, over the size of the motion, by default."""

SMALLEST = 0.1  # least size of angles [rad]: joints at rest are moved a little by those that move
LEAST = 1e-7  # least limit of a distance [m, rad]: ten times the tolerance of integrators

REMEDY = "give it more steps, or a cost on its inputs or accelerations"


@dataclass(frozen=True, eq=False)
class Defects:
    """How far steps, reintegrated under the same forces, end from their nodes."""

    # (nq,) [m, rad] the largest of each coordinate; infinite where a step is not integrated to its
    # end, NaN where a signal ended the integration.
    distance: Array
    limit: Array  # (nq,) [m, rad] above which steps are not resolved
    names: Sequence[str]  # of the coordinates

    @property
    def largest(self) -> float:
        """The largest distance [m, rad]."""
        return float(self.distance.max(initial=0.0))

    def within(self, part: float = 1.0) -> bool:
        """Return whether all are within a part of their limits, or not known."""
        return not np.any(self.distance > part * self.limit)

    @property
    def interrupted(self) -> bool:
        """Whether a signal ended the integration."""
        return bool(np.isnan(self.distance).any())

    def explain(self) -> str:
        """Return why steps are not resolved, or that this is not known; empty if they are."""
        if self.interrupted:
            return "interrupted while its steps were reintegrated"
        if self.within():
            return ""
        head = "all conditions are met at the nodes, but its steps are not resolved: one of them"
        k = int(np.argmax(self.distance / self.limit))
        if np.isinf(self.distance[k]):
            return f"{head}, reintegrated under the same forces, does not come to its end: {REMEDY}"
        return (
            f"{head}, reintegrated under the same forces, ends {self.distance[k]:.3g} (m, rad) "
            f"from the next node in {self.names[k]}, more than {self.limit[k]:.3g}: {REMEDY}"
        )


def limits_of_defects(d: Dynamics, q: Array, p: Array, given: float | None) -> Array:
    """Return how far steps of a motion q (n, nq) may end from their nodes, (nq,) [m, rad].

    As ``given``, else `SHARE` of the size of the motion: the farthest that a body or a length
    moves, or the largest angle, of which more than one radian counts as one.
    """
    if given is not None:
        return np.full(d.nq, given)
    length, angle = measure_size(d, q, p)
    size = np.where(_angles(d), np.clip(angle, SMALLEST, 1.0), length)
    return np.maximum(SHARE * size, LEAST)


def measure_size(d: Dynamics, q: Array, p: Array) -> tuple[float, float]:
    """Return the size of a motion q (n, nq): the farthest that a body or a length moves [m].

    And the largest angle by which a coordinate turns [rad].
    """
    turning, ranges, n = _angles(d), np.ptp(q, axis=0), len(q)
    places = evaluate_at_times(d.poses, q, np.zeros((n, d.nv)), np.tile(p, (n, 1)))[0]
    bodies = places.reshape(n, -1, 3)
    farthest = np.linalg.norm(np.ptp(bodies, axis=0), axis=1).max(initial=0.0)
    length = max(float(farthest), float(ranges[~turning].max(initial=0.0)))
    return length, float(ranges[turning].max(initial=0.0))


def _angles(d: Dynamics) -> NDArray[np.bool_]:
    """Return which coordinates are angles or Euler parameters, (nq,)."""
    found = np.zeros(d.nq, dtype=bool)
    for block in d.mechanism.generalized_coordinates.blocks:
        found[block.q] = block.ball
    steps = {
        f"{(branch.joint or branch.body).name}.{step.name}": step
        for branch in d.mechanism.tree.branches
        for step in branch.freedom
        if isinstance(step, Axis)
    }
    for k, name in enumerate(d.q_names):
        found[k] |= name in steps and any(steps[name].turn)
    return found
