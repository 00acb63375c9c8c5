"""Direct collocation with given modes of joints with dry friction: in which steps they rest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mpcc import ConstraintBlock
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.transcription.base import Index, Transcription
from nsopt.trajectory.transcription.collocation import Collocation

OFFSET = 1e-4
"""Shift of the slip in its known direction, as a share of the creep of the joint: friction then has
its sign at zero speed, too, where the joint starts and stops."""

LEAST_WIDTH = 1e-12  # least (width / shift)^2 of `_sample_with`: the root has no slope at zero


@dataclass(frozen=True, eq=False)
class RestingCollocation(Collocation):
    """A motion by polynomials whose dry friction has known signs, and is zero where joints rest.

    A joint that rests in a step has neither velocity nor acceleration there; one that slides does
    not reverse, and its friction is that of Coulomb's law. At a node between two steps friction is
    the mean of both.
    """

    # (steps, number of `JointFriction` elements): 1 and -1 where its joint slides with and against
    # its coordinate, 0 where it rests, NaN where friction is smoothed as in any other motion.
    modes: Array = field(default_factory=lambda: np.zeros((0, 0)), kw_only=True)

    @classmethod
    def of(cls, x: Collocation, modes: Array) -> RestingCollocation:
        """Return the motion x with these modes."""
        stated = (x.dynamics, x.horizon, x.costs, x.conditions, x.inputs)
        return cls(*stated, creep=x.creep, modes=modes)

    def is_alike(self, other: Transcription) -> bool:
        """Return whether another motion has the same modes."""
        known = other.friction_modes
        return known is not None and np.array_equal(self.modes, known, equal_nan=True)

    @property
    def friction_modes(self) -> Array:
        return self.modes

    def limits(self) -> tuple[Array, Array]:
        (low, high), nv = super().limits(), self.dynamics.nv
        rests, forwards, backwards = (_find_points(self.modes == mode) for mode in (0, 1, -1))
        first = self.node_size * np.arange(len(rests))  # unknown of each point
        for k, v in enumerate(find_friction_columns(self)):
            velocity, acceleration = nv + v, 2 * nv + v  # nq is nv here
            low[first[forwards[:, k]] + velocity] = 0.0
            high[first[backwards[:, k]] + velocity] = 0.0
            for column in (velocity, acceleration):
                low[first[rests[:, k]] + column] = high[first[rests[:, k]] + column] = 0.0
        return low, high

    def _state_links(self) -> ConstraintBlock:
        """Return the links without those of velocities that are zero all along the step."""
        block, nv = super()._state_links(), self.dynamics.nv
        lower, upper = block.lower.copy(), block.upper.copy()
        for k, v in enumerate(find_friction_columns(self)):
            rests = self.modes[:, k] == 0
            for row in (nv + v, 3 * nv + v):  # of nodes, of midpoints
                lower[rests, row], upper[rests, row] = -np.inf, np.inf
        return replace(block, lower=lower, upper=upper)

    def _read_friction(self, points: Index) -> Array:
        """Return signs of slips at points, zero where smoothed; then whether they are, 0 or 1."""
        padded = np.concatenate([self.modes[:1], self.modes, self.modes[-1:]])
        k, are_middles = points // 2, points % 2 == 1
        at_nodes = (padded[k] + padded[k + 1]) / 2
        in_steps = padded[np.minimum(k + 1, len(self.modes))]
        signs = np.where(are_middles[:, None], in_steps, at_nodes)
        return np.hstack([np.nan_to_num(signs), np.isnan(signs)])

    def _sample_with(self, t: ca.SX, x: ca.SX, p: ca.SX, friction: ca.SX) -> NodeSample:
        m = self.sample(t, x, p)
        creep, slip, widths = m.creep, ca.SX(m.v), ca.SX(m.creep)
        signs, is_smoothed = ca.vertsplit(friction, len(self.creep))
        for k, column in enumerate(find_friction_columns(self)):
            offset, sign = OFFSET * creep[k], signs[k]
            slip[column] += offset * sign
            # Friction is u / sqrt(u^2 + c^2) of slip u and width c. At rest u is offset times sign:
            # with c = offset sqrt(1 - sign^2) friction is the sign.
            width = offset * ca.sqrt(ca.fmax(1 - sign**2, LEAST_WIDTH))
            is_known = (1 - is_smoothed[k]) * sign**2 > 0
            widths[k] = ca.if_else(is_known, width, creep[k])
        return NodeSample(self.dynamics, t, m.q, m.v, m.a, m.p, creep=widths, slip=slip)


def _find_points(steps: Array) -> Array:
    """Return which nodes and midpoints are in any of the steps (n, k), (2 n + 1, k)."""
    points = np.zeros((2 * len(steps) + 1, steps.shape[1]), dtype=bool)
    points[1::2] = steps
    points[:-1:2] |= steps
    points[2::2] |= steps
    return points


def find_friction_columns(x: Collocation) -> list[int]:
    """Return the index of the velocity of each `JointFriction` element.

    Zero for those that the grid does not smooth, which have no mode.
    """
    d = x.dynamics
    joints = [d.joint_names[k] for k in d.friction_joints]
    return [
        d.v_owners.index(joint) if speed else 0
        for joint, speed in zip(joints, x.creep, strict=True)
    ]
