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
    """Return the link that each becomes part of, and its pose in that one's frame, by name.

    That is the one nearest the root of those joined to it by fixed joints. Links must be a tree.
    """
    fixed = {h.child: h for h in link_joints if h.kind is Fixed and h.parent is not None}
    return {link.name: _home(link.name, fixed) for link in links}


def merge(
    links: Sequence[Link], link_joints: Sequence[LinkJoint], homes: Mapping[str, tuple[str, Pose]]
) -> tuple[list[Link], list[LinkJoint]]:
    """Return one link for each home, with its name and frame, and the joints between them."""
    parts: dict[str, list[tuple[Link, Pose]]] = {}
    for link in links:
        home, pose = homes[link.name]
        parts.setdefault(home, []).append((link, pose))
    return (
        [_sum(link, parts[link.name]) for link in links if link.name in parts],
        [
            _rehung(h, homes)
            for h in link_joints
            if h.parent is None or homes[h.child][0] == h.child
        ],
    )


def _home(name: str, fixed: dict[str, LinkJoint]) -> tuple[str, Pose]:
    """Return the link a link belongs to and its pose in that one's frame."""
    pose = IDENTITY
    while name in fixed:
        link_joint = fixed[name]
        pose, name = link_joint.pose.then(pose), str(link_joint.parent)
    return name, pose


def _rehung(link_joint: LinkJoint, homes: Mapping[str, tuple[str, Pose]]) -> LinkJoint:
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


def _sum(link: Link, parts: list[tuple[Link, Pose]]) -> Link:
    if len(parts) == 1:
        return link
    masses = np.array([float(number(part.mass)) for part, _ in parts])
    points = np.array([pose.point(part.com) for part, pose in parts])
    com = masses @ points / masses.sum() if masses.any() else link.com
    J = np.zeros((3, 3))
    for (part, pose), mass, point in zip(parts, masses, points, strict=True):
        J += pose.axes @ _matrix(part) @ pose.axes.T + mass * _about(point - com)
    J = (J + J.T) / 2
    return Link(link.name, float(masses.sum()), com, J, is_physical(J))


def _matrix(link: Link) -> Array:
    J = np.asarray(link.inertia, dtype=float)
    return J if J.ndim == 2 else np.diag(J)


def _about(arm: Array) -> Array:
    """Return the inertia of a unit mass at ``arm`` (Huygens, Steiner)."""
    return (arm @ arm) * np.eye(3) - np.outer(arm, arm)
