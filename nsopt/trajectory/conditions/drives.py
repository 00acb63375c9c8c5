"""Limits of actuators: range, speed, force, power; and of the loads of joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.checks import numbers, positive
from nsopt.mechanics import Actuator, Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.checks import check_joints, find_followers
from nsopt.trajectory.conditions.base import Condition, check_limits, limit
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True)
class ActuatorLimits(Condition):
    """Limits of range, speed and force that the actuators of the mechanism state.

    Parameters
    ----------
    joints : sequence of str
        By default all that have an actuator. Joints that follow others (`Mimic`) keep their range
        and speed; no drive acts on them, so they have no force.
    """

    joints: Sequence[str] | None = None

    def check(self, dynamics: Dynamics) -> None:
        drives = dynamics.mechanism.actuators
        check_joints("ActuatorLimits", self.joints or (), [x.joint for x in drives])
        chosen = [x for x in drives if not self.joints or x.joint in self.joints]
        followers = find_followers(dynamics)
        for x in chosen:
            if self.joints and x.joint not in {*dynamics.v_owners, *followers}:
                raise ValueError(
                    f"ActuatorLimits names the joint {x.joint!r}, which has no coordinate: use "
                    "relative coordinates that do not cut it, Relative(cut=...)"
                )
            _check_not_zero(x, has_force=x.joint not in followers)
        _check_common_ranges(dynamics, chosen)
        if not np.isfinite([(x.lower, x.upper, x.velocity, x.effort) for x in chosen]).any():
            raise ValueError(
                "ActuatorLimits limits nothing: no actuator of "
                f"{', '.join(x.joint for x in chosen) or 'the mechanism'} states a range, a speed "
                "or a force; give Actuator(joint, effort=...), or leave ActuatorLimits out"
            )

    def along(self, m: NodeSample) -> list[Bound]:
        bounds = []
        d = m.dynamics
        followers = find_followers(d)
        for x in d.mechanism.actuators:
            has_coordinate = x.joint in d.v_owners or x.joint in followers
            if not has_coordinate or (self.joints and x.joint not in self.joints):
                continue
            coordinate, velocity = m.coordinate(x.joint)
            limits = [
                ("range", coordinate, x.lower, x.upper),
                ("speed", velocity, -x.velocity, x.velocity),
            ]
            if x.joint not in followers:
                force = _find_force_and_velocity(m, x.joint)[0]
                limits.append(("force", force, -x.effort, x.effort))
            bounds += [
                limit(f"{what} of {x.joint}", value, low, high)
                for what, value, low, high in limits
                if np.isfinite([low, high]).any()
            ]
        return bounds


@dataclass(frozen=True)
class DriveWithin(Condition):
    """Limits of the force of one actuator.

    Parameters
    ----------
    joint : str
        Name of a joint with an actuator.
    lower, upper : float [N m] or [N]
    """

    joint: str
    lower: float = -np.inf
    upper: float = np.inf

    def check(self, dynamics: Dynamics) -> None:
        check_joints("DriveWithin", [self.joint], dynamics.mechanism.driven_joints)
        _check_driven("DriveWithin", [self.joint], dynamics)
        check_limits(f"the drive of {self.joint!r}", self.lower, self.upper)

    def along(self, m: NodeSample) -> list[Bound]:
        force = _find_force_and_velocity(m, self.joint)[0]
        return [limit(f"force of {self.joint}", force, self.lower, self.upper)]


class JointLimits(Condition):
    """A limit that is the same for each of some joints with an actuator, by default for all."""

    joints: Sequence[str] | None

    def check(self, dynamics: Dynamics) -> None:
        """Refuse a mechanism without actuators, and joints that have none."""
        what, known = type(self).__name__, list(dynamics.mechanism.driven_joints)
        if not known:
            raise ValueError(f"{what}: the mechanism has no actuators; add an Actuator")
        check_joints(what, self.joints or (), known)

    def find_rates(self, d: Dynamics) -> dict[str, tuple[int, float]]:
        """Return which velocity each of the joints turns or slides by, and times what.

        Joints without a coordinate are left out.
        """
        followers, rates = find_followers(d), dict[str, tuple[int, float]]()
        for joint in d.mechanism.driven_joints:
            mimic = followers.get(joint)
            owner, ratio = (joint, 1.0) if mimic is None else (mimic.of, mimic.ratio)
            if owner in d.v_owners and (self.joints is None or joint in self.joints):
                rates[joint] = d.v_owners.index(owner), ratio
        return rates


@dataclass(frozen=True)
class PowerLimits(JointLimits):
    """Largest power of actuators, driving or braking.

    Parameters
    ----------
    power : float [W]
        Limit of each actuator.
    joints : sequence of str
        By default all that have an actuator.
    """

    power: float
    joints: Sequence[str] | None = None

    def __post_init__(self) -> None:
        positive("power of PowerLimits", self.power)

    def check(self, dynamics: Dynamics) -> None:
        super().check(dynamics)
        _check_driven("PowerLimits", self.joints or (), dynamics)

    def along(self, m: NodeSample) -> list[Bound]:
        followers = find_followers(m.dynamics)
        every = [x for x in m.dynamics.mechanism.driven_joints if x not in followers]
        joints = every if self.joints is None else self.joints
        powers = {joint: ca.times(*_find_force_and_velocity(m, joint)) for joint in joints}
        most = self.power
        return [limit(f"power of {joint}", power, -most, most) for joint, power in powers.items()]


@dataclass(frozen=True)
class AccelerationLimits(JointLimits):
    """Largest accelerations of joints, impacts left out: these change velocities at once.

    Parameters
    ----------
    acceleration : float [rad/s^2 or m/s^2]
        Limit of each coordinate.
    joints : sequence of str
        By default all that have an actuator.
    """

    acceleration: float
    joints: Sequence[str] | None = None

    def __post_init__(self) -> None:
        positive("acceleration of AccelerationLimits", self.acceleration)

    def along(self, m: NodeSample) -> list[Bound]:
        chosen, most = self.find_rates(m.dynamics), self.acceleration
        return [
            limit(f"acceleration of {joint}", ratio * m.a[k], -most, most)
            for joint, (k, ratio) in chosen.items()
        ]


@dataclass(frozen=True)
class JerkLimits(JointLimits):
    """Largest rate of change of accelerations, for motions without contacts.

    Over a step jerk is linear in time, so it is limited everywhere by its values at both ends.

    Parameters
    ----------
    jerk : float [rad/s^3 or m/s^3]
        Limit of each coordinate.
    joints : sequence of str
        By default all that have an actuator.
    """

    jerk: float
    joints: Sequence[str] | None = None

    def __post_init__(self) -> None:
        positive("jerk of JerkLimits", self.jerk)

    def along(self, m: NodeSample) -> list[Bound]:
        if m.stepped is not None:
            raise ValueError(
                "JerkLimits needs accelerations that are functions of time, which a time-stepped "
                "motion does not have: leave it out"
            )
        return []

    def over_step(self, dynamics: Dynamics, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> list[Bound]:
        bounds = []
        for joint, (k, ratio) in self.find_rates(dynamics).items():
            first, middle, last = (ratio * x[k] for x in a)
            # h times the slopes at both ends of the parabola through the three accelerations.
            for change in (-3 * first + 4 * middle - last, first - 4 * middle + 3 * last):
                bounds.append(limit(f"jerk of {joint}", change / h, -self.jerk, self.jerk))
        return bounds


def _check_not_zero(x: Actuator, has_force: bool) -> None:
    """Refuse limits of exactly zero, which files state where they mean none."""
    limits = [
        ("speed", x.velocity == 0, "velocity=..."),
        ("force", x.effort == 0 and has_force, "effort=..."),
        ("range", x.lower == x.upper == 0, "lower=..., upper=..."),
    ]
    for what, zero, remedy in limits:
        if zero:
            raise ValueError(
                f"ActuatorLimits: the {what} of joint {x.joint!r} is limited to 0 (files state 0 "
                f"as a placeholder): give Actuator({x.joint!r}, {remedy}), where np.inf is no "
                "limit, by dataclasses.replace(mechanism, actuators=...), or leave the joint out "
                "of ActuatorLimits(joints=...)"
            )


def _check_common_ranges(dynamics: Dynamics, chosen: Sequence[Actuator]) -> None:
    """Refuse a follower that leaves its own range wherever the joint it follows is in its range."""
    ranges = {x.joint: (x.lower, x.upper) for x in chosen}
    for mimic in dynamics.mechanism.mimics:
        if not {mimic.joint, mimic.of} <= {*ranges}:
            continue
        low, high = mimic.range_within(*ranges[mimic.of])
        lower, upper = ranges[mimic.joint]
        if low > upper or high < lower:
            raise ValueError(
                f"ActuatorLimits: joint {mimic.joint!r} follows {mimic.of!r} from {low:g} to "
                f"{high:g}, outside of its own range, {lower:g} to {upper:g}: correct its Mimic or "
                "one of the two ranges"
            )


def _check_driven(what: str, joints: Sequence[str], dynamics: Dynamics) -> None:
    """Refuse followers, on which no drive acts."""
    followers = find_followers(dynamics)
    for joint in joints:
        if joint in followers:
            raise ValueError(
                f"{what} names the joint {joint!r}, which follows {followers[joint].of!r} and has "
                f"no drive of its own: name {followers[joint].of!r}"
            )


def _find_force_and_velocity(m: NodeSample, joint: str) -> tuple[ca.SX, ca.SX]:
    """Return the force of a drive [N m or N] and the velocity of its joint [rad/s or m/s]."""
    k = m.dynamics.v_owners.index(joint)
    return m.drive[k], m.v[k]


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
        of = f"of JointLoadWithin for {self.joint!r}"
        for name in ("axial", "normal", "torque"):
            what, most = f"{name} {of}", getattr(self, name)
            if not np.all(np.isposinf(numbers(what, most))):
                positive(what, most, "give what the joint bears, inf for any load")
        if not np.isfinite([self.axial, self.normal, self.torque]).any():
            raise ValueError(f"limits {of} are all infinite: give axial, normal or torque")

    def check(self, dynamics: Dynamics) -> None:
        check_joints("JointLoadWithin", [self.joint], dynamics.joint_names)

    def along(self, m: NodeSample) -> list[Bound]:
        axial, normal, torque = m.load(self.joint)
        bounds = []
        if np.isfinite(self.axial):
            bounds.append(limit(f"axial load of {self.joint}", axial, -self.axial, self.axial))
        rows = (("normal load", normal, self.normal), ("torque", torque, self.torque))
        for name, part, most in rows:
            if np.isfinite(most):
                # The square is smooth without a load too; over the limit it has its unit.
                squared = ca.sumsqr(part) / most
                bounds.append(limit(f"{name} of {self.joint}", squared, -np.inf, most))
        return bounds
