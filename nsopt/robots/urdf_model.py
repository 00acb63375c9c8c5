"""Links, joints, actuators and mimics of a parsed URDF file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nsopt.elements.joints import Fixed, Planar, Prismatic, Revolute
from nsopt.mechanics.actuator import Actuator, Mimic
from nsopt.robots.pose import Array, Pose, axes_along, tidy
from nsopt.robots.tree import HERE, Hinge, JointClass, Link

KINDS: Mapping[str, JointClass | None] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "fixed": Fixed,
    "planar": Planar,
    "floating": None,
}
DRIVEN = ("revolute", "continuous", "prismatic")
"""Joints of one freedom."""


def links_of(robot: Any) -> list[Link]:
    """Return the links, with inertia about the centre of mass in link axes."""
    return [_link(link) for link in robot.links]


def hinges_of(robot: Any) -> list[Hinge]:
    """Return the joints in the order of the file, z of each along its axis."""
    return [_hinge(joint) for joint in robot.joints]


def actuators_of(robot: Any) -> list[Actuator]:
    """Return the limits and losses of all joints of one freedom."""
    return [_actuator(joint) for joint in robot.joints if joint.type in DRIVEN]


def mimics_of(robot: Any) -> list[Mimic]:
    """Return the joints that follow others, each of a free one.

    Raises
    ------
    ValueError
        If a joint follows itself, or one that is unknown or has not one freedom.
    """
    stated = {j.name: j.mimic for j in robot.joints if j.mimic is not None and j.type != "fixed"}
    types = {joint.name: joint.type for joint in robot.joints}
    for name, mimic in stated.items():
        if mimic.joint not in types:
            raise ValueError(
                f"joint {name!r} mimics {mimic.joint!r}, which is no joint of the file"
            )
        for member in (name, mimic.joint):
            if types[member] not in DRIVEN:
                raise ValueError(
                    f"joint {name!r} mimics {mimic.joint!r}, but {member!r} is {types[member]}: "
                    f"both must be one of {', '.join(DRIVEN)}"
                )
    return [_resolved(name, stated) for name in stated]


def _resolved(name: str, stated: Mapping[str, Any]) -> Mimic:
    """Return a mimic of a joint that mimics none, by way of those between."""
    ratio, offset, chain = 1.0, 0.0, [name]
    while chain[-1] in stated:
        link = stated[chain[-1]]
        ratio, offset = ratio * link.multiplier, ratio * link.offset + offset
        if link.joint in chain:
            way = f", by way of {', '.join(chain[1:])}" if chain[1:] else ""
            raise ValueError(f"joint {name!r} mimics itself{way}: name a joint that is free")
        chain.append(link.joint)
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


def _pose(origin: Array | None) -> Pose:
    if origin is None:
        return HERE
    return Pose(tidy(origin[:3, :3]), origin[:3, 3] + 0.0)


def _link(link: Any) -> Link:
    if link.inertial is None:
        return Link(link.name)
    at = _pose(link.inertial.origin)
    J = at.axes @ link.inertial.inertia @ at.axes.T
    J = (J + J.T) / 2  # rotating leaves round-off
    return Link(link.name, float(link.inertial.mass), at.origin, J, is_physical(J))


def _hinge(joint: Any) -> Hinge:
    kind = KINDS[joint.type]
    turned = kind is not None and kind is not Fixed
    axes = axes_along(joint.axis) if turned else np.eye(3)
    pose = _pose(joint.origin)
    return Hinge(joint.name, kind, joint.parent, joint.child, pose, Pose(axes, np.zeros(3)))


def _actuator(joint: Any) -> Actuator:
    limit, dynamics = joint.limit, joint.dynamics
    stated = {} if limit is None else {k: v for k, v in vars(limit).items() if v is not None}
    ranged = joint.type != "continuous" and ("lower" in stated or "upper" in stated)
    return Actuator(
        joint.name,
        lower=stated.get("lower", 0.0) if ranged else -np.inf,
        upper=stated.get("upper", 0.0) if ranged else np.inf,
        velocity=stated.get("velocity", np.inf),
        effort=stated.get("effort", np.inf),
        damping=float((dynamics and dynamics.damping) or 0.0),
        friction=float((dynamics and dynamics.friction) or 0.0),
    )
