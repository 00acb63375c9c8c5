"""Limits of the loads of joints."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.checks import numbers, positive
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.checks import check_joints
from nsopt.trajectory.conditions.base import Condition
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True)
class JointLoadWithin(Condition):
    """Limits of the reaction of a joint at every node.

    Parameters
    ----------
    joint : str
        Name of a joint, ideal or with clearance.
    axial, normal, torque : float [N], [N], [N m]
        The largest force along z of its frame a, in either direction, the largest across z, and the
        largest torque.

    Raises
    ------
    ValueError
        If one of them is not above zero, or all are infinite.
    """

    joint: str
    axial: float = np.inf
    normal: float = np.inf
    torque: float = np.inf

    def __post_init__(self) -> None:
        of, limits = f"of JointLoadWithin for {self.joint!r}", self._limits
        for name, limit in zip(("axial", "normal", "torque"), limits, strict=True):
            if not np.all(np.isposinf(numbers(f"{name} {of}", limit))):
                positive(f"{name} {of}", limit, "give what the joint bears, inf for any load")
        if not np.isfinite(limits).any():
            raise ValueError(f"limits {of} are all infinite: give axial, normal or torque")

    @property
    def _limits(self) -> tuple[float, float, float]:
        return self.axial, self.normal, self.torque

    def check(self, dynamics: Dynamics) -> None:
        check_joints("JointLoadWithin", [self.joint], dynamics.joint_names)

    def along(self, m: NodeSample) -> list[Bound]:
        axial, normal, torque = m.load(self.joint)
        bounds = []
        if np.isfinite(self.axial):
            most = np.array([self.axial])
            bounds.append(Bound(f"axial load of {self.joint}", axial, -most, most))
        rows = (("normal load", normal, self.normal), ("torque", torque, self.torque))
        for name, part, limit in rows:
            if np.isfinite(limit):
                # The square is smooth without a load too; over the limit it has its unit.
                squared, least = ca.sumsqr(part) / limit, np.full(1, -np.inf)
                bounds.append(Bound(f"{name} of {self.joint}", squared, least, np.array([limit])))
        return bounds
