"""Links, joints, actuators and mimics of a checked URDF file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from nsopt.algebra import without_round_off
from nsopt.arrays import Array
from nsopt.elements import Fixed, Planar, Prismatic, Revolute
from nsopt.mechanics import Actuator, Mimic
from nsopt.robots.tree import JointClass, Link, LinkJoint, Pose, axes_along
from nsopt.robots.urdf_xml import NUMBERS

JOINT_CLASSES: Mapping[str, JointClass | None] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "fixed": Fixed,
    "planar": Planar,
    "floating": None,
}
"""Joints by the types of URDF; a link on a floating one is free."""
DRIVEN = ("revolute", "continuous", "prismatic")  # types of joints of one freedom
LEAST_COMMON = 1e-3
"""Least overlap of the range that a follower states and the one it gets to, over the smaller."""


def actuators_of(robot: Element) -> list[Actuator]:
    """Return the limits and losses of all joints of one freedom."""
    return [
        _read_actuator(joint) for joint in robot.findall("joint") if joint.get("type") in DRIVEN
    ]


def mimics_of(robot: Element) -> list[Mimic]:
    """Return the joints that follow others, each as the follower of a joint that follows none."""
    types = {joint.get("name", ""): joint.get("type") for joint in robot.findall("joint")}
    stated = {
        joint.get("name", ""): _Follower(
            mimic.get("joint"), float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0"))
        )
        for joint in robot.findall("joint")
        if joint.get("type") != "fixed" and (mimic := joint.find("mimic")) is not None
    }
    for name, follower in stated.items():
        if follower.of not in types:
            raise ValueError(
                f"joint {name!r} mimics {follower.of!r}, which is no joint of the file"
            )
        for member in (name, follower.of):
            if types[member] not in DRIVEN:
                raise ValueError(
                    f"joint {name!r} mimics {follower.of!r}, but {member!r} is {types[member]}: "
                    f"both must be one of {', '.join(DRIVEN)}"
                )
    return [_resolve_chain(name, stated) for name in stated]


def leave_out_ranges(
    actuators: Sequence[Actuator], mimics: Sequence[Mimic], stacklevel: int
) -> list[Actuator]:
    """Return the actuators, those of followers without ranges that these never come into.

    Warns of each: files often state the range of a follower with the sign of the other joint.
    """
    ranges = {x.joint: (x.lower, x.upper) for x in actuators}
    chosen = {x.joint: x for x in actuators}
    for mimic in mimics:
        own, of = ranges[mimic.joint], ranges[mimic.of]
        low, high = mimic.range_within(*of)
        common = min(own[1], high) - max(own[0], low)
        if common >= LEAST_COMMON * min(own[1] - own[0], high - low):
            continue
        warnings.warn(
            f"range of joint {mimic.joint!r}, {own[0]:g} to {own[1]:g}, disagrees with its mimic "
            f"tag: while {mimic.of!r} is from {of[0]:g} to {of[1]:g}, it is from {low:g} to "
            f"{high:g}; its range is left out, correct one of them",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
        chosen[mimic.joint] = replace(chosen[mimic.joint], lower=-np.inf, upper=np.inf)
    return list(chosen.values())


class _Follower(NamedTuple):
    """A <mimic> as stated; ``of`` may itself follow another joint."""

    of: str | None
    ratio: float
    offset: float


def _resolve_chain(name: str, stated: Mapping[str, _Follower]) -> Mimic:
    """Return the mimic of a joint in the coordinate of the last joint of its chain of mimics."""
    ratio, offset, chain = 1.0, 0.0, [name]
    while chain[-1] in stated:
        joint = stated[chain[-1]]
        ratio, offset = ratio * joint.ratio, ratio * joint.offset + offset
        if joint.of in chain:
            way = f", by way of {', '.join(chain[1:])}" if chain[1:] else ""
            raise ValueError(f"joint {name!r} mimics itself{way}: name a joint that is free")
        chain.append(str(joint.of))
    return Mimic(name, chain[-1], ratio, offset)


def is_physical(J: Array) -> bool:
    """Return whether an inertia (3, 3) is that of a body, to the tolerance of `Body`."""
    moments = np.linalg.eigvalsh(J)
    slack = 1e-9 * max(moments[-1], 0.0)
    return bool(moments[0] >= -slack and moments[2] <= moments[0] + moments[1] + slack)


def warn_of_unphysical(links: Sequence[Link], stacklevel: int) -> None:
    """Warn of each link with an inertia that no body can have."""
    for link in links:
        if not link.physical:
            moments = ", ".join(f"{x:.4g}" for x in np.linalg.eigvalsh(np.asarray(link.inertia)))
            warnings.warn(
                f"inertia of link {link.name!r} is that of no body, its principal moments are "
                f"{moments} kg m^2: taken as stated",
                UserWarning,
                stacklevel=stacklevel + 1,
            )


def numbers_of(element: Element | None, name: str, default: str) -> Array:
    """Return the numbers of an attribute, or those of ``default`` where it is not stated."""
    text = default if element is None else element.get(name, default)
    return np.array([float(x) for x in text.split()])


def pose_of(origin: Element | None) -> Pose:
    """Return the pose of an <origin>: roll, pitch and yaw about the fixed x, y and z."""
    (si, sj, sk), (ci, cj, ck) = (f(numbers_of(origin, "rpy", "0 0 0")) for f in (np.sin, np.cos))
    axes = np.array(
        [
            [cj * ck, sj * (si * ck) - ci * sk, sj * (ci * ck) + si * sk],
            [cj * sk, sj * (si * sk) + ci * ck, sj * (ci * sk) - si * ck],
            [-sj, cj * si, cj * ci],
        ]
    )
    return Pose(without_round_off(axes), numbers_of(origin, "xyz", "0 0 0") + 0.0)


def read_link(link: Element) -> Link:
    """Return a link, with inertia about the centre of mass in link axes."""
    name, inertial = link.get("name", ""), link.find("inertial")
    if inertial is None:
        return Link(name)
    frame = pose_of(inertial.find("origin"))
    stated = inertial.find("inertia")
    keys = (("ixx", "ixy", "ixz"), ("ixy", "iyy", "iyz"), ("ixz", "iyz", "izz"))
    J = np.array([[numbers_of(stated, key, "0")[0] for key in row] for row in keys])
    J = frame.axes @ J @ frame.axes.T
    J = (J + J.T) / 2  # rotating leaves round-off
    mass = float(numbers_of(inertial.find("mass"), "value", "0")[0])
    return Link(name, mass, frame.origin, J, is_physical(J))


def read_joint(joint: Element) -> LinkJoint:
    """Return a joint, z of its frame along its axis."""
    kind = JOINT_CLASSES[joint.get("type", "")]
    has_axis = kind is not None and kind is not Fixed
    axes = axes_along(numbers_of(joint.find("axis"), "xyz", "1 0 0")) if has_axis else np.eye(3)
    parent, child = (joint.find(tag).get("link", "") for tag in ("parent", "child"))  # type: ignore[union-attr]
    pose = pose_of(joint.find("origin"))
    return LinkJoint(joint.get("name", ""), kind, parent, child, pose, Pose(axes, np.zeros(3)))


def _read_actuator(joint: Element) -> Actuator:
    stated = {
        name: float(text)
        for tag in ("limit", "dynamics")
        if (element := joint.find(tag)) is not None
        for name in NUMBERS[tag]
        if (text := element.get(name)) is not None
    }
    # URDF's default is 0 for either end; a file that states neither is taken to state no range.
    has_range = joint.get("type") != "continuous" and ("lower" in stated or "upper" in stated)
    return Actuator(
        joint.get("name", ""),
        lower=stated.get("lower", 0.0) if has_range else -np.inf,
        upper=stated.get("upper", 0.0) if has_range else np.inf,
        velocity=stated.get("velocity", np.inf),
        effort=stated.get("effort", np.inf),
        damping=stated.get("damping", 0.0),
        friction=stated.get("friction", 0.0),
    )
