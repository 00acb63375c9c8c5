"""Forces of cut joints and of constraints on velocities, in a phase: `ConstraintForces`.

Polynomials know neither. So their multipliers are inputs of the phase, as forces of contacts are.
`constraints` states what they do to the motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import (
    Constraint,
    Dynamics,
    Force,
    Frame,
    Load,
    Mechanism,
    RateConstraint,
    State,
)
from nsopt.parameter import Parameter


@dataclass(frozen=True, eq=False)
class ConstraintForces(Force):
    """The forces of all cut joints and of all constraints on velocities, such as wheels.

    Multipliers of independent combinations of their rows: of those of joints, then of those of
    constraints on velocities, each by itself.
    """

    name: str
    joints: tuple[Constraint, ...]
    rolling: tuple[RateConstraint, ...]
    loop_rows: Array  # (i, nc) orthonormal combinations of the rows of `Dynamics.closure`
    multipliers: tuple[Parameter, ...]  # (k,), inputs of the phase

    @property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(frame for x in (*self.joints, *self.rolling) for frame in x.frames)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its inputs."""
        return tuple(x.name for x in self.multipliers)

    @property
    def rows(self) -> Array:
        """Combinations (k, nc + nr) of all rows, those of joints first."""
        (i, nc), k = self.loop_rows.shape, len(self.multipliers)
        found = np.zeros((k, nc + k - i))
        found[:i, :nc], found[i:, nc:] = self.loop_rows, np.eye(k - i)
        return found

    def energy(self, s: State) -> ca.SX:
        # The gradient of this is minus the forces; it is zero where loops are closed.
        residual = ca.vertcat(ca.SX(0, 1), *(joint.residual(s) for joint in self.joints))
        of_loops = self.multipliers[: len(self.loop_rows)]
        multipliers = ca.vertcat(ca.SX(0, 1), *map(s.value, of_loops))
        return -ca.dot(ca.DM(self.loop_rows) @ residual, multipliers)

    def loads(self, s: State) -> list[Load]:
        if not self.rolling:
            return []
        of_rates = map(s.value, self.multipliers[len(self.loop_rows) :])
        return [Load(ca.vertcat(*(x.rate(s) for x in self.rolling)), ca.vertcat(*of_rates))]


def make_constraint_forces(d: Dynamics) -> ConstraintForces | None:
    """Return the forces of the constraints of a mechanism; None if it has none.

    Refuses those that move with time, and joints that drives keep, or that have friction.
    """
    joints, rolling = d.constraints, tuple(x for x in d.elements if isinstance(x, RateConstraint))
    if not joints and not rolling:
        return None
    timed = [d.closure_names[k] for k in d.timed_rows]
    timed += [d.nonholonomic_names[k] for k in d.nonholonomic_drift.sparsity_out(0).row()]
    if timed:
        raise ValueError(
            f"{timed[0]!r} moves with time, or at a given speed: phases have times of their own"
        )
    if kept := [x.name for x in joints if x.drives]:
        raise ValueError(f"joint {kept[0]!r} is kept by drives, which phases do not know")
    of_friction = {d.joint_names[k] for k in d.friction_joints}
    if driven := [x.name for x in joints if x.name in d.mechanism.driven_joints]:
        raise ValueError(
            f"joint {driven[0]!r} has an actuator and no coordinate of its own, which phases need: "
            'state coordinates="relative" and inertias of bodies that are point masses, or give '
            "optimize a scheme"
        )
    if rubbing := [x.name for x in joints if x.name in of_friction]:
        raise ValueError(
            f"joint {rubbing[0]!r} has friction and closes a loop, where phases do not know it: "
            "cut another joint, by coordinates=Relative(cut=[...]), or give optimize a scheme"
        )
    q, p = d.stated_start(refuse=False)[0], d.values()
    count = len(d.closure_names) - d.redundant
    rows = np.eye(len(d.closure_names))
    if d.redundant:
        rows = np.linalg.svd(np.asarray(d.closure_matrix(0, q, p)))[0].T[:count]
    count += len(d.nonholonomic_names)
    multipliers = tuple(Parameter(f"constraint_{k}", 0.0) for k in range(count))
    return ConstraintForces("constraints", joints, rolling, rows, multipliers)


def open_loops(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism without its cut joints, in the same coordinates."""
    cut = {joint.name for joint in mechanism.cut}
    joints = [joint for joint in mechanism.joints if joint.name not in cut]
    kind = "relative" if mechanism.is_relative else "absolute"
    return replace(mechanism, joints=joints, coordinates=kind)


def find_constraint_forces(d: Dynamics) -> ConstraintForces | None:
    """Return these forces among the elements of the mechanism of a phase; None if none are."""
    return next((x for x in d.elements if isinstance(x, ConstraintForces)), None)
