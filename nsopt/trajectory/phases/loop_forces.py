"""Forces of cut joints, in a phase whose loops they close: `LoopForces`.

Cut joints are constraints, of which polynomials know nothing. So their multipliers are inputs of
the phase, as forces of contacts are. `loops` states what they do to the motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Constraint, Dynamics, Force, Frame, Mechanism, State
from nsopt.parameter import Parameter


@dataclass(frozen=True, eq=False)
class LoopForces(Force):
    """The forces of all cut joints: multipliers of independent combinations of their rows."""

    name: str
    joints: tuple[Constraint, ...]
    rows: Array  # (k, nc) orthonormal combinations of the rows of `Dynamics.closure`
    multipliers: tuple[Parameter, ...]  # (k,), inputs of the phase

    @property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(frame for joint in self.joints for frame in joint.frames)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its inputs."""
        return tuple(x.name for x in self.multipliers)

    def energy(self, s: State) -> ca.SX:
        # The gradient of this is minus the forces; it is zero where loops are closed.
        residual = ca.vertcat(*(joint.residual(s) for joint in self.joints))
        return -ca.dot(ca.DM(self.rows) @ residual, ca.vertcat(*map(s.value, self.multipliers)))


def make_loop_forces(d: Dynamics) -> LoopForces | None:
    """Return the forces of the cut joints of a mechanism; None if it has none.

    Refuses joints that move with time, that drives keep, or that have friction.
    """
    joints = d.constraints
    if not joints:
        return None
    if d.timed_rows:
        raise ValueError(
            f"joint {d.closure_names[d.timed_rows[0]]!r} moves with time: phases have times of "
            "their own"
        )
    if kept := [x.name for x in joints if x.drives]:
        raise ValueError(f"joint {kept[0]!r} is kept by drives, which phases do not know")
    of_friction = {d.joint_names[k] for k in d.friction_joints}
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
    multipliers = tuple(Parameter(f"loops_{k}", 0.0) for k in range(count))
    return LoopForces("loops", joints, rows, multipliers)


def open_loops(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism without its cut joints, in the same coordinates."""
    cut = {joint.name for joint in mechanism.cut}
    joints = [joint for joint in mechanism.joints if joint.name not in cut]
    kind = "relative" if mechanism.is_relative else "absolute"
    return replace(mechanism, joints=joints, coordinates=kind)


def find_loop_forces(d: Dynamics) -> LoopForces | None:
    """Return the loop forces among the elements of the mechanism of a phase; None if none are."""
    return next((x for x in d.elements if isinstance(x, LoopForces)), None)
