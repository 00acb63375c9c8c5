"""The cost of what joints carry, as a share of what their data sheets allow."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import casadi as ca
import numpy as np

from nsopt.checks import numbers, positive
from nsopt.elements import JointDrives, Prismatic
from nsopt.mechanics import ContactPair, Dynamics, Pair
from nsopt.parameter import Parameter
from nsopt.trajectory.checks import check_joints
from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.node_sample import NodeSample

Rating: TypeAlias = float | Mapping[str, float] | None
"""One for all joints, or by joint; None for what follows from the effort of its actuator."""

FORCE_PER_TORQUE = 20.0
"""Default force rating of a joint that turns, over its effort [1/m]; gears: see `JointLoad`."""


@dataclass(frozen=True, kw_only=True)
class JointLoad(Cost):
    """Integral of the squared loads of joints, each over its rating [s].

    The sum over the joints of (drive / torque)^2 + (resistance / torque)^2 + (bearing force /
    force)^2 + (bending moment / moment)^2: a joint that carries all its ratings throughout costs
    four per second. Resistance is damping, friction and moment beyond the range of motion, as
    one. Bearing force and bending moment are the joint's reaction, about the origin of its frame b.

    Each rating is one number for all joints, or numbers by joint; inf leaves the part out. What is
    not given follows from the ``effort`` E of the joint's `Actuator`, as the outputs of gears of
    172 to 4500 N m take it: moments of 1.1 to 2.7 E, lateral forces of 7 to 37 E per metre
    [Wittenstein SP100 MC, TP010 MF, SP240 MC, by Beckhoff's AG2300 and AG2400].

    Parameters
    ----------
    joints : sequence of str
        By default all that have an actuator. Joints with play that inputs drive, as by
        `nsopt.robots.WithPlay`, have no actuator: a warning names them.
    torque : number or mapping [N m], of joints that slide [N]
        Of drive and resistance; by default E.
    force : number or mapping [N]
        By default 20 E per metre (`FORCE_PER_TORQUE`), of joints that slide E.
    moment : number or mapping [N m]
        By default E, of joints that slide infinite.

    Raises
    ------
    ValueError
        If a rating is not above zero, or names a joint that is not among those that count.
    """

    joints: Sequence[str] | None = None
    torque: Rating = None
    force: Rating = None
    moment: Rating = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("torque", "force", "moment"):
            for joint, size in _by_joint(getattr(self, name)).items():
                what = f"{name} of {joint or 'JointLoad'}"
                if not np.all(np.isposinf(numbers(what, size))):
                    positive(what, size, "give the rating, inf to leave it out")

    def check(self, dynamics: Dynamics) -> None:
        check_joints("JointLoad", self.joints or (), dynamics.joint_names)
        counted = self._list_counted(dynamics)
        if not counted:
            raise ValueError(
                "JointLoad counts no joint, for none has an Actuator: name them, joints=[...]"
            )
        for name in ("torque", "force", "moment"):
            named = [joint for joint in _by_joint(getattr(self, name)) if joint]
            check_joints(f"{name} of JointLoad", named, counted)
        if self.joints is None:
            _warn_of_driven_with_play(dynamics, counted)
        for joint in counted:
            if not np.isfinite(self._find_ratings(dynamics, joint)).any():
                raise ValueError(
                    f"JointLoad has no rating of joint {joint!r}, whose Actuator states no effort: "
                    f"give torque={{{joint!r}: ...}}, or leave it out of joints"
                )

    def rate(self, m: NodeSample) -> ca.SX:
        total = ca.SX(0)
        d = m.dynamics
        driven = set(d.mechanism.driven_joints).intersection(d.v_owners)
        for joint in self._list_counted(d):
            torque, force, moment = self._find_ratings(d, joint)
            if np.isfinite(torque):
                drive = m.drive[d.v_owners.index(joint)] if joint in driven else ca.SX(0)
                resistance = (
                    m.resistance(joint)[:3] if _only_slides(d, joint) else m.resistance(joint)[3:]
                )
                total += (drive**2 + ca.sumsqr(resistance)) / torque**2
            if np.isfinite(force):
                total += ca.sumsqr(m.reaction(joint)[:3]) / force**2
            if np.isfinite(moment):
                total += ca.sumsqr(m.reaction(joint)[3:]) / moment**2
        return total

    def _list_counted(self, dynamics: Dynamics) -> list[str]:
        """Return the joints that count, as stated or all with an actuator."""
        return list(dynamics.mechanism.driven_joints if self.joints is None else self.joints)

    def _find_ratings(self, dynamics: Dynamics, joint: str) -> tuple[float, float, float]:
        """Return torque [N m or N], bearing force [N] and bending moment [N m] that cost one."""
        efforts = {x.joint: x.effort for x in dynamics.mechanism.actuators}
        effort = efforts.get(joint, np.inf)
        slides = _only_slides(dynamics, joint)
        typical = {
            "torque": effort,
            "force": effort if slides else FORCE_PER_TORQUE * effort,
            "moment": np.inf if slides else effort,
        }
        ratings = {}
        for name, default in typical.items():
            stated = getattr(self, name)
            value = stated.get(joint) if isinstance(stated, Mapping) else stated
            ratings[name] = float(default if value is None else value)
        return ratings["torque"], ratings["force"], ratings["moment"]


def _warn_of_driven_with_play(dynamics: Dynamics, counted: Sequence[str]) -> None:
    """Warn of joints with play that have an input in place of an Actuator, and so do not count."""
    for joint, inputs in _list_driven_with_play(dynamics):
        costs = " + ".join(f"InputEffort(input={name!r})" for name in inputs)
        warnings.warn(
            f"JointLoad leaves out {joint!r}, which has play and is driven without an Actuator; "
            f"it counts {', '.join(counted)}: "
            + (f"add {costs} for its torque, and " if costs else "")
            + f"give joints={[*counted]} to say that these are meant",
            stacklevel=5,
        )


def _list_driven_with_play(dynamics: Dynamics) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each joint with play that `JointDrives` turn, and their parameters."""
    pairs = [x for x in (*dynamics.mechanism.joints, *dynamics.contacts) if isinstance(x, Pair)]
    for drives in (x for x in dynamics.elements if isinstance(x, JointDrives)):
        inputs = [x.name for x in drives.gains if isinstance(x, Parameter)]
        for driven in drives.joints:
            same = [x for x in pairs if (x.a, x.b) == (driven.a, driven.b)]
            if any(isinstance(x, ContactPair) for x in same):
                yield same[0].name, inputs


def _by_joint(rating: Rating) -> Mapping[str, float]:
    """Return ratings by joint; a single one, for all joints, under an empty name."""
    if isinstance(rating, Mapping):
        return rating
    return {} if rating is None else {"": rating}


def _only_slides(dynamics: Dynamics, joint: str) -> bool:
    """Return whether a joint slides only."""
    (stated,) = (x for x in (*dynamics.mechanism.joints, *dynamics.contacts) if x.name == joint)
    return isinstance(stated, Prismatic)
