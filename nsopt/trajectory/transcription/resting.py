"""Direct collocation where it is known when joints slide, which way, and when they rest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from nsopt.mpcc import ConstraintBlock
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.transcription.base import Array, Index, Transcription
from nsopt.trajectory.transcription.collocation import Collocation

OFF = 1e-4
"""Of the speed up to which the grid smooths friction, by how much the velocity of a joint whose way
is known is taken beside its own, so that friction has its sign where it starts and stops too."""

LEAST = 1e-12
"""Of the square of that, what is left of the smoothing."""


@dataclass(frozen=True, eq=False)
class RestingCollocation(Collocation):
    """A motion by polynomials whose dry friction has known signs, and is none where joints rest.

    A joint that rests in a step has neither velocity nor acceleration there; one that slides does
    not turn round, and its friction is that of Coulomb's law. In a node between two steps friction
    is the mean of both.

    Parameters
    ----------
    modes : (steps, number of `JointFriction` elements), by keyword
        1 and -1 where the joint of an element slides with and against its coordinate, 0 where it
        rests, NaN where friction is smoothed as in any other motion by polynomials.
    """

    modes: Array = field(default_factory=lambda: np.zeros((0, 0)), kw_only=True)

    @classmethod
    def of(cls, x: Collocation, modes: Array) -> RestingCollocation:
        """Return a motion of which these modes are known."""
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
        rests, slides = (
            self._beside(self.modes == 0),
            [self._beside(self.modes == s) for s in (1, -1)],
        )
        first = self.node * np.arange(len(rests))
        for k, v in enumerate(friction_columns(self)):
            low[first[slides[0][:, k]] + nv + v] = 0.0
            high[first[slides[1][:, k]] + nv + v] = 0.0
            for column in (nv + v, 2 * nv + v):
                low[first[rests[:, k]] + column] = high[first[rests[:, k]] + column] = 0.0
        return low, high

    def _beside(self, steps: Array) -> Array:
        """Return which nodes and midpoints belong to some of the steps, (2 n + 1, .)."""
        points = np.zeros((2 * len(steps) + 1, steps.shape[1]), dtype=bool)
        points[1::2] = steps
        points[:-1:2] |= steps
        points[2::2] |= steps
        return points

    def _links(self) -> ConstraintBlock:
        """Return the links without those of velocities that are zero all along the step."""
        block, nv = super()._links(), self.dynamics.nv
        lower, upper = block.lower.copy(), block.upper.copy()
        for k, v in enumerate(friction_columns(self)):
            rests = self.modes[:, k] == 0
            for row in (nv + v, 3 * nv + v):
                lower[rests, row], upper[rests, row] = -np.inf, np.inf
        return replace(block, lower=lower, upper=upper)

    def _marks(self, points: Index) -> Array:
        """Return the sign of friction at nodes and midpoints, NaN where it is smoothed."""
        of_nodes = np.concatenate([self.modes[:1], self.modes, self.modes[-1:]])
        middles = points % 2 == 1
        k = points // 2
        nodes = (of_nodes[k] + of_nodes[k + 1]) / 2
        signs = np.where(middles[:, None], of_nodes[np.minimum(k + 1, len(self.modes))], nodes)
        return np.hstack([np.nan_to_num(signs), np.isnan(signs)])

    def _mark(self, t: ca.SX, x: ca.SX, p: ca.SX, marks: ca.SX) -> NodeSample:
        (q, v, a, u), n = self._split(x), len(self.dynamics.parameters)
        own, creep = ca.vertsplit(p, [0, n, n + len(self.creep)])
        slip, widths = ca.SX(v), ca.SX(creep)
        signs, smoothed = ca.vertsplit(marks, len(self.creep))
        for k, column in enumerate(friction_columns(self)):
            off, sign = OFF * creep[k], signs[k]
            slip[column] += off * sign
            # At rest u / sqrt(u^2 + c^2) is the sign that is stated, with u beside it.
            width = off * ca.sqrt(ca.fmax(1 - sign**2, LEAST))
            known = (1 - smoothed[k]) * sign**2
            widths[k] = ca.if_else(known > 0, width, creep[k])
        at = (t, q, v, a, self.with_inputs(own, u))
        return NodeSample(self.dynamics, *at, creep=widths, slip=slip)


def friction_columns(x: Collocation) -> list[int]:
    """Return the velocity of the joint of each `JointFriction` element that the grid smooths.

    Of the others the first velocity, for they have no mode.
    """
    d = x.dynamics
    owners = [d.joint_names[k] for k in d.friction_joints]
    return [
        d.v_owners.index(owner) if speed else 0
        for owner, speed in zip(owners, x.creep, strict=True)
    ]
