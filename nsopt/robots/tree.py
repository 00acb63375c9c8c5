"""Bodies and joints from trees of links, the form in which files and tables state robots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nsopt.algebra import ROUND_OFF, axes_from_z, without_round_off
from nsopt.arrays import Array
from nsopt.checks import check_names, finite
from nsopt.elements import Fixed, Planar, Prismatic, Revolute
from nsopt.mechanics import Body, Frame
from nsopt.parameter import Numbers, Scalar, parameters_in


class Pose(NamedTuple):
    """Axes and origin of a frame, seen from another."""

    axes: Array  # (3, 3) columns are x, y, z
    origin: Array  # (3,) [m]

    def then(self, other: Pose) -> Pose:
        """Return the pose of a frame that has the pose ``other`` in this one."""
        return Pose(without_round_off(self.axes @ other.axes), self.point(other.origin))

    def inverse(self) -> Pose:
        """Return the pose of the other frame seen from this one."""
        return Pose(self.axes.T, -self.axes.T @ self.origin)

    def point(self, r: ArrayLike) -> Array:
        """Return a point of this frame, (3,) [m], as the other frame sees it."""
        moved: Array = self.axes @ np.asarray(r, dtype=float) + self.origin
        return moved


def axes_along(direction: ArrayLike) -> Array:
    """Return a rotation matrix, (3, 3), whose z column is along ``direction``, (3,), not zero.

    For a direction along a coordinate axis a permutation of the axes; backwards, with two negative.
    """
    z = np.asarray(direction, dtype=float)
    z = z / np.linalg.norm(z)
    k = int(np.argmax(np.abs(z)))
    if np.any(np.abs(np.delete(z, k)) > ROUND_OFF):
        return without_round_off(axes_from_z(z))
    cyclic: Array = np.eye(3)[:, [(k + 1) % 3, (k + 2) % 3, k]]
    cyclic[:, 1:] *= np.sign(z[k])
    return cyclic + 0.0


def turn_x(angle: float) -> Array:
    """Return the rotation about x, (3, 3), angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return without_round_off(np.array([[1, 0, 0], [0, c, -s], [0, s, c]]))


def turn_z(angle: float) -> Array:
    """Return the rotation about z, (3, 3), angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return without_round_off(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]))


JointClass = type[Fixed] | type[Revolute] | type[Prismatic] | type[Planar]

IDENTITY = Pose(np.eye(3), np.zeros(3))
"""The pose of a frame in itself."""


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body in the axes of a link frame, whose origin may be anywhere on it."""

    name: str
    mass: Scalar = 0.0  # [kg]
    com: Array = field(default_factory=lambda: np.zeros(3))  # (3,) [m] in the link frame
    inertia: Numbers = (0.0, 0.0, 0.0)  # [kg m^2] about the centre of mass, link axes
    physical: bool = True  # as in Body


@dataclass(frozen=True, eq=False)
class LinkJoint:
    """The joint of a link to its parent; it turns about or slides along z of its frame."""

    name: str
    kind: JointClass | None  # None: the link is free, the pose is where it starts
    parent: str | None  # None is the ground
    child: str
    pose: Pose  # of the child's frame in the parent's, at zero joint coordinate
    frame: Pose = IDENTITY  # of the joint in the child's frame
    coordinate: float = 0.0  # [rad] or [m] in the stated posture, of joints of one freedom

    def find_stated_pose(self) -> Pose:
        """Return the pose of the child's frame in the parent's at the stated coordinate."""
        if not self.coordinate:
            return self.pose
        turns, x = self.kind is Revolute, self.coordinate
        moved = Pose(turn_z(x), np.zeros(3)) if turns else Pose(np.eye(3), np.array([0, 0, x]))
        return self.pose.then(self.frame).then(moved).then(self.frame.inverse())


Joint = Fixed | Revolute | Prismatic | Planar


def build_tree(
    links: Sequence[Link], link_joints: Sequence[LinkJoint]
) -> tuple[list[Body], list[Joint]]:
    """Return bodies, posed at the stated coordinates, parents first, and joints in their order."""
    known = {link.name: link for link in links}
    if len(known) < len(links):
        (name, _), *_ = Counter(link.name for link in links).most_common()
        raise ValueError(f"the name {name!r} is used twice: rename one of the two")
    bodies = {
        name: Body(
            name,
            known[name].mass,
            known[name].inertia,
            position=tuple(pose.point(known[name].com)),
            orientation=pose.axes,
            physical=known[name].physical,
        )
        for name, pose in place_links(known, link_joints).items()
    }
    joints = [_make_joint(x, x.kind, known, bodies) for x in link_joints if x.kind is not None]
    return list(bodies.values()), joints


def place_links(names: Iterable[str], link_joints: Sequence[LinkJoint]) -> dict[str, Pose]:
    """Return poses of link frames in the world at the stated coordinates, parents first."""
    by_child = _index_by_child(set(names), link_joints)
    poses: dict[str, Pose] = {}
    waiting = list(by_child.values())
    while waiting:
        ready = [x for x in waiting if x.parent is None or x.parent in poses]
        if not ready:
            raise ValueError(
                f"joints {', '.join(repr(x.name) for x in waiting)} hang on each other in a cycle: "
                "state a tree, and close loops by further joints of the Mechanism"
            )
        for x in ready:
            pose = x.find_stated_pose()
            poses[x.child] = pose if x.parent is None else poses[x.parent].then(pose)
        waiting = [x for x in waiting if x.child not in poses]
    return poses


def check_plain(what: str, value: Any, shape: tuple[int, ...] = (3,)) -> Array:
    """Return stated lengths or angles as an array; refuse Parameters and what is not finite."""
    for name in parameters_in(value):
        raise ValueError(
            f"{what} must be plain numbers, got the Parameter {name!r}: of a tree, masses, "
            "inertias and rotors may be Parameters"
        )
    return finite(what, value, shape)


def _index_by_child(names: set[str], link_joints: Sequence[LinkJoint]) -> dict[str, LinkJoint]:
    """Return the joints by their child; refuse unknown links, and two joints of one child."""
    by_child: dict[str, LinkJoint] = {}
    for x in link_joints:
        for role, name in (("parent", x.parent), ("child", x.child)):
            if name is not None:
                why = f" of joint {x.name!r} is unknown"
                check_names(role, [name], sorted(names), why)
        if x.child in by_child:
            raise ValueError(
                f"{x.child!r} hangs on two joints, {by_child[x.child].name!r} and {x.name!r}: "
                "state a tree, and close loops by further joints of the Mechanism"
            )
        by_child[x.child] = x
    return by_child


def _make_joint(
    link_joint: LinkJoint, kind: JointClass, links: Mapping[str, Link], bodies: Mapping[str, Body]
) -> Joint:
    """Return a joint between frames of bodies, whose origins are their centres of mass."""
    on_parent, on_child = link_joint.pose.then(link_joint.frame), link_joint.frame
    parent, child = link_joint.parent, link_joint.child
    com = np.zeros(3) if parent is None else links[parent].com
    a = Frame(None if parent is None else bodies[parent], on_parent.origin - com, on_parent.axes)
    b = Frame(bodies[child], on_child.origin - links[child].com, on_child.axes)
    return kind(link_joint.name, a, b)
