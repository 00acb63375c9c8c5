"""Merging of links that fixed joints connect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nsopt.elements import Fixed
from nsopt.parameter import number
from nsopt.robots.pose import Array, Pose
from nsopt.robots.tree import IDENTITY, Link, LinkJoint
from nsopt.robots.urdf_model import is_physical


def homes_of(
    links: Sequence[Link], link_joints: Sequence[LinkJoint]
) -> dict[str, tuple[str, Pose]]:
    """Return the home of each link, by name: the link it becomes part of, and its pose in there.

    That is the one nearest the root of those joined to it by fixed joints, maybe itself. Links must
    be a tree.
    """
    fixed = {h.child: h for h in link_joints if h.kind is Fixed and h.parent is not None}
    return {link.name: _find_home(link.name, fixed) for link in links}


def merge(
    links: Sequence[Link], link_joints: Sequence[LinkJoint], homes: Mapping[str, tuple[str, Pose]]
) -> tuple[list[Link], list[LinkJoint]]:
    """Return one link for each home, with its name and frame, and the joints between them."""
    parts: dict[str, list[tuple[Link, Pose]]] = {}
    for link in links:
        home, pose = homes[link.name]
        parts.setdefault(home, []).append((link, pose))
    return (
        [_sum_inertia(link, parts[link.name]) for link in links if link.name in parts],
        [
            _move_to_home(h, homes)
            for h in link_joints
            if h.parent is None or homes[h.child][0] == h.child
        ],
    )


def _find_home(name: str, fixed: dict[str, LinkJoint]) -> tuple[str, Pose]:
    """Return the home of a link; ``fixed`` are the fixed joints by the names of their children."""
    pose = IDENTITY
    while name in fixed:
        link_joint = fixed[name]
        pose, name = link_joint.pose.then(pose), str(link_joint.parent)
    return name, pose


def _move_to_home(link_joint: LinkJoint, homes: Mapping[str, tuple[str, Pose]]) -> LinkJoint:
    """Return a joint as one on the home of its parent."""
    if link_joint.parent is None:
        return link_joint
    home, pose = homes[link_joint.parent]
    return LinkJoint(
        link_joint.name,
        link_joint.kind,
        home,
        link_joint.child,
        pose.then(link_joint.pose),
        link_joint.frame,
    )


def _sum_inertia(link: Link, parts: list[tuple[Link, Pose]]) -> Link:
    """Return a link with the masses of its parts, each a link and its pose in this one."""
    if len(parts) == 1:
        return link
    masses = np.array([float(number(part.mass)) for part, _ in parts])
    points = np.array([pose.point(part.com) for part, pose in parts])
    com = masses @ points / masses.sum() if masses.any() else link.com
    J = np.zeros((3, 3))
    for (part, pose), mass, point in zip(parts, masses, points, strict=True):
        J += pose.axes @ _inertia_matrix(part) @ pose.axes.T + mass * _inertia_of_point(point - com)
    J = (J + J.T) / 2  # rotating leaves round-off
    return Link(link.name, float(masses.sum()), com, J, is_physical(J))


def _inertia_matrix(link: Link) -> Array:
    J = np.asarray(link.inertia, dtype=float)
    return J if J.ndim == 2 else np.diag(J)


def _inertia_of_point(arm: Array) -> Array:
    """Return the inertia of a unit mass at ``arm`` (Huygens, Steiner)."""
    return (arm @ arm) * np.eye(3) - np.outer(arm, arm)
