"""Reactions of the joints of a tree, from the wrenches on its links."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from nsopt.mechanics.coordinates.links import LinkTree
from nsopt.mechanics.coordinates.recursion import Recursion, Wrench
from nsopt.mechanics.coordinates.spanning_tree import Branch
from nsopt.mechanics.model.frame import STILL, Motion
from nsopt.mechanics.model.freedom import Freedom

Twist = tuple[ca.SX, ca.SX]
"""Angular and linear velocity per rate, (3, k) each, in the axes of a link."""


def tree_reactions(
    branches: Sequence[Branch],
    recursion: Recursion,
    motions: Sequence[Motion],
    wrenches: Sequence[Wrench],
) -> dict[str, ca.SX]:
    """Return the reaction of each joint of a tree by name: (6,) on the body of its frame b.

    Force [N] and torque [N m] about the origin of frame b, world axes, without the part along the
    freedoms of the joint, which drives or resists it.

    Parameters
    ----------
    branches : sequence of Branch
    recursion : Recursion
        Over links that are not welded.
    motions : sequence of Motion
        Of the links, by `Recursion.motions`.
    wrenches : sequence of Wrench
        On the links, by `Recursion.newton_euler`; impulses in, impulses out.
    """
    tree = recursion.tree
    reactions = {}
    for branch in branches:
        if branch.joint is None:
            continue
        k = tree.placements[branch.body.name][0]
        f, n = wrenches[k]
        free = _subspace(recursion, k, branch.freedom)
        reversed_joint = branch.child_frame is not branch.joint.frames[-1]
        if reversed_joint:
            # About frame b, where slides and turns of a joint are perpendicular.
            arm = motions[k].A.T @ (_origin(tree, motions, k, branch.freedom) - motions[k].r)
            n = n - ca.cross(arm, f)
            free = [(turn, slide - ca.skew(arm) @ turn) for turn, slide in free]
        f, n = (motions[k].A @ part for part in _without(free, f, n))
        if reversed_joint:
            f, n = -f, -n
        reactions[branch.joint.name] = ca.vertcat(f, n)
    return reactions


def _origin(tree: LinkTree, motions: Sequence[Motion], k: int, freedom: Freedom) -> ca.SX:
    """Return the origin of a joint on its parent link, (3,) [m] in world axes."""
    for _ in range(len(freedom) - 1):
        k = tree.links[k].parent
    link = tree.links[k]
    up = motions[link.parent] if link.parent >= 0 else STILL
    return up.r + up.A @ link.placement.c


def _subspace(recursion: Recursion, k: int, freedom: Freedom) -> list[Twist]:
    """Return the twist of each freedom of a joint, in its last link k."""
    twists: list[Twist] = []
    R, p = ca.SX.eye(3), ca.SX.zeros(3)  # the last link in the k-th
    for _ in freedom:
        link, pose = recursion.tree.links[k], recursion.poses[k]
        twists.append((R.T @ link.turn, R.T @ (link.slide - ca.skew(p) @ link.turn)))
        R, p, k = pose.R @ R, pose.p + pose.R @ p, link.parent
    return twists


def _without(free: list[Twist], f: ca.SX, n: ca.SX) -> Wrench:
    """Return the part of a wrench that does no work on the freedoms of its joint.

    The rest drives or resists the joint: it is known otherwise, and is no reaction.
    """
    for turn, slide in free:
        power = turn.T @ n + slide.T @ f
        if not turn.is_zero():  # also of a screw: a sum with its slide would mix m and rad
            n -= turn @ (power / ca.sum1(turn**2).T)
        else:
            f -= slide @ (power / ca.sum1(slide**2).T)
    return f, n
