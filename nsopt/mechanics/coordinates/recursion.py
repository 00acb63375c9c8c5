"""Recursions over the links of a tree: motions, loads, mass matrix.

All vectors are in the axes of their link, which makes the shortest expressions: the recursive
Newton-Euler algorithm [CHARMIE 2023, eqs. 28-34, errata for 30 and 31] with free axes in place of
x, y, z, screws and balls beside turns and slides, and accelerations of link origins instead of
joints. Gravity enters as an acceleration -g of the ground. Below, ``up`` is the parent of a link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import casadi as ca

from nsopt.algebra import state_once
from nsopt.mechanics.coordinates.links import Inertia, LinkTree, TreeLink
from nsopt.mechanics.coordinates.spanning_tree import Branch
from nsopt.mechanics.model.frame import STILL, Motion
from nsopt.mechanics.model.freedom import Freedom

Wrench = tuple[ca.SX, ca.SX]
"""Force [N] and torque about the origin of a link [N m], in its axes."""


class LinkPose(NamedTuple):
    """The pose of a link in its parent."""

    R: ca.SX  # (3, 3) its axes
    p: ca.SX  # (3,) [m] its origin


class _Acceleration(NamedTuple):
    """Rates of a link in its own axes; a point r from its origin has acceleration a + B r."""

    w: ca.SX  # (3,) [rad/s]
    wdot: ca.SX  # (3,) [rad/s^2]
    a: ca.SX  # (3,) [m/s^2]
    B: ca.SX  # (3, 3) [1/s^2]


class Recursion:
    """The recursions over the links of a tree at one configuration.

    Parameters
    ----------
    tree : LinkTree
    q : SX (nq,)
    displacement : SX (nv,), optional
        A virtual displacement to add to q, to first order.

    Attributes
    ----------
    poses : list of LinkPose
        Of each link in its parent.
    """

    def __init__(self, tree: LinkTree, q: ca.SX, displacement: ca.SX | None = None) -> None:
        self.tree = tree
        self.poses = [_find_pose(link, q, displacement) for link in tree.links]

    @cached_property
    def axes(self) -> list[ca.SX]:
        """The axes of each link in world axes, (3, 3)."""
        axes: list[ca.SX] = []
        for link, (R, _) in zip(self.tree.links, self.poses, strict=True):
            axes.append(axes[link.parent] @ R if link.parent >= 0 else R)
        return axes

    def motions(self, v: ca.SX) -> list[Motion]:
        """Return the motion of each link's frame in world axes, at velocities v (nv,)."""
        motions: list[Motion] = []
        zero = ca.SX.zeros(3)
        ground = Motion(zero, ca.SX.eye(3), zero, zero)
        links = zip(self.tree.links, self.poses, self.axes, strict=True)
        for link, (_, p), A in links:
            up = motions[link.parent] if link.parent >= 0 else ground
            r, origin, w = _move_frame(link.turn, link.slide, link.rates(v), p, A, *up)
            motions.append(Motion(r, A, origin, w))
        return motions

    def newton_euler(
        self,
        v: ca.SX,
        vdot: ca.SX,
        gravity: ca.SX,
        loads: Mapping[int, Wrench] | None = None,
    ) -> tuple[ca.SX, list[Wrench]]:
        """Return the generalized forces (nv,) that a motion takes, and the wrench on each link.

        Parameters
        ----------
        v, vdot : SX (nv,)
        gravity : SX (3,) [m/s^2]
        loads : mapping of link to Wrench
            External ones, which take their part in moving it.

        Returns
        -------
        tau : SX (nv,)
        wrenches : list of Wrench
            By which the parent of each link moves it and all that it carries.
        """
        wrenches = self._find_inertial_wrenches(v, vdot, gravity)
        for k, (force, torque) in (loads or {}).items():
            f, n = wrenches[k]
            wrenches[k] = (f - force, n - torque)
        return self.generalize(wrenches, vdot), wrenches

    def generalize(self, wrenches: list[Wrench], rates: ca.SX) -> ca.SX:
        """Return generalized forces (nv,) of wrenches on links, and of rotors at rates (nv,).

        Forces of accelerations, or momenta of velocities. In ``wrenches`` that of all that a link
        carries is added to its own.
        """
        tau = [ca.SX(0)] * rates.numel()
        for k in reversed(range(len(self.tree.links))):
            link, (f, n) = self.tree.links[k], wrenches[k]
            coordinate, (R, p) = link.coordinate, self.poses[k]
            felt, force, torque = _hand_on(link.turn, link.slide, R, p, f, n)
            felt += link.rotor * link.rates(rates)
            for i, j in enumerate(range(coordinate.v.start, coordinate.v.stop)):
                tau[j] += coordinate.ratio * felt[i]
            if link.parent >= 0:
                up = wrenches[link.parent]
                wrenches[link.parent] = (up[0] + force, up[1] + torque)
        return ca.vertcat(ca.SX(0, 1), *tau)

    def _find_inertial_wrenches(self, v: ca.SX, vdot: ca.SX, gravity: ca.SX) -> list[Wrench]:
        """Return rate of momentum and angular momentum of each link, less its weight."""
        accelerations = self._find_accelerations(v, vdot, gravity)
        wrenches = (
            _find_inertial_wrench(*inertia, *acceleration)
            for inertia, acceleration in zip(self.tree.inertias, accelerations, strict=True)
        )
        return [(f, n) for f, n in wrenches]

    def _find_accelerations(self, v: ca.SX, vdot: ca.SX, gravity: ca.SX) -> list[_Acceleration]:
        """Return rates and accelerations of each link [CHARMIE 2023, eqs. 29-31]."""
        zero = ca.SX.zeros(3)
        ground = _Acceleration(zero, zero, -gravity, ca.SX.zeros(3, 3))
        accelerations: list[_Acceleration] = []
        for link, (R, p) in zip(self.tree.links, self.poses, strict=True):
            up = accelerations[link.parent] if link.parent >= 0 else ground
            rates = link.rates(v), link.rates(vdot)
            found = _accelerate(link.turn, link.slide, *rates, R, p, *up)
            accelerations.append(_Acceleration(*found))
        return accelerations

    def kinetic(self, v: ca.SX) -> ca.SX:
        """Return the kinetic energy [J], in half the operations of v^T M v / 2 by the matrix."""
        energy, twists, zero = ca.SX(0), list[tuple[ca.SX, ca.SX]](), ca.SX.zeros(3)
        links = zip(self.tree.links, self.poses, self.tree.inertias, strict=True)
        for link, pose, inertia in links:
            up = twists[link.parent] if link.parent >= 0 else (zero, zero)
            rates = link.rates(v)
            u, w, twice = _move_origin(link.turn, link.slide, rates, *pose, *inertia, *up)
            energy += (twice + ca.sum1(link.rotor * rates**2)) / 2
            twists.append((u, w))
        return energy

    def mass_matrix(self, nv: int) -> ca.SX:
        """Return M (nv, nv) by composite rigid bodies; freedoms on different branches have none."""
        composite = [*self.tree.inertias]
        M = ca.SX(nv, nv)
        for k in reversed(range(len(self.tree.links))):
            link, own = self.tree.links[k], composite[k]
            self._add_column(M, k, *_find_momenta_per_rate(link.turn, link.slide, *own))
            if link.parent >= 0:
                m, h, J = _carry(*self.poses[k], *own, *composite[link.parent])
                composite[link.parent] = m, h, J
        return M

    def _add_column(self, M: ca.SX, k: int, f: ca.SX, n: ca.SX) -> None:
        """Add to M the entries of the freedom of link k with itself and with those that carry it.

        ``f`` and ``n`` are momentum and angular momentum of link k and all that it carries, per
        rate, (3, rates).
        """
        mine, j = self.tree.links[k].coordinate, k
        rotor = self.tree.links[k].rotor * ca.SX.eye(mine.v.stop - mine.v.start)
        while j >= 0:
            link = self.tree.links[j]
            ratio = mine.ratio * link.coordinate.ratio
            part, f, n = _hand_on(link.turn, link.slide, *self.poses[j], f, n)
            part = ratio * (part + rotor if j == k else part)
            if part.numel():
                M[link.coordinate.v, mine.v] += part
                if j != k:
                    M[mine.v, link.coordinate.v] += part.T
            j = link.parent


@state_once
def _move_frame(
    turn: ca.SX, slide: ca.SX, u: ca.SX, p: ca.SX, A: ca.SX, *up: ca.SX
) -> tuple[ca.SX, ...]:
    """Return position, velocity and angular velocity of a link from the motion of its parent."""
    r, up_A, v, w = up
    arm = up_A @ p
    return r + arm, v + ca.cross(w, arm) + A @ (slide @ u), w + A @ (turn @ u)


@state_once
def _accelerate(
    turn: ca.SX, slide: ca.SX, u: ca.SX, udot: ca.SX, R: ca.SX, p: ca.SX, *up: ca.SX
) -> tuple[ca.SX, ...]:
    """Return the `_Acceleration` of a link from that of its parent."""
    up_w, up_wdot, up_a, up_B = up
    carried, spin, slip = R.T @ up_w, turn @ u, slide @ u
    w = carried + spin
    wdot = R.T @ up_wdot + turn @ udot + ca.cross(carried, spin)
    a = R.T @ (up_a + up_B @ p) + slide @ udot + 2 * ca.cross(carried, slip)
    return w, wdot, a, ca.skew(wdot) + w @ w.T - ca.sumsqr(w) * ca.SX.eye(3)


@state_once
def _find_inertial_wrench(
    m: ca.SX, h: ca.SX, J: ca.SX, w: ca.SX, wdot: ca.SX, a: ca.SX, B: ca.SX
) -> Wrench:
    """Return rate of momentum and angular momentum of a link."""
    return m * a + B @ h, J @ wdot + ca.cross(w, J @ w) + ca.cross(h, a)


@state_once
def _hand_on(
    turn: ca.SX, slide: ca.SX, R: ca.SX, p: ca.SX, f: ca.SX, n: ca.SX
) -> tuple[ca.SX, ...]:
    """Return the generalized force of a wrench on a link, and the same wrench on its parent."""
    force = R @ f
    moment = ca.cross(p, force) if force.is_column() else ca.skew(p) @ force  # of each column
    return turn.T @ n + slide.T @ f, force, R @ n + moment


@state_once
def _move_origin(
    turn: ca.SX, slide: ca.SX, rates: ca.SX, R: ca.SX, p: ca.SX, *more: ca.SX
) -> tuple[ca.SX, ...]:
    """Return velocity and angular velocity of a link in its axes, and twice its energy.

    ``more`` are its inertia, and the velocity and angular velocity of its parent.
    """
    m, h, J, up_u, up_w = more
    w = R.T @ up_w + turn @ rates
    u = R.T @ (up_u + ca.cross(up_w, p)) + slide @ rates
    return u, w, ca.dot(u, m * u + 2 * ca.cross(w, h)) + ca.dot(w, J @ w)


@state_once
def _find_momenta_per_rate(turn: ca.SX, slide: ca.SX, m: ca.SX, h: ca.SX, J: ca.SX) -> Wrench:
    """Return momentum and angular momentum of a link per rate of its freedom."""
    return m * slide - ca.skew(h) @ turn, J @ turn + ca.skew(h) @ slide


@state_once
def _carry(R: ca.SX, p: ca.SX, m: ca.SX, h: ca.SX, J: ca.SX, *up: ca.SX) -> Inertia:
    """Return the inertia ``up`` of a link with that of one that it carries at R, p."""
    up_m, up_h, up_J = up
    moment = R @ h
    S, T = ca.skew(p), ca.skew(moment)
    carried = R @ J @ R.T - T @ S - S @ T - m * S @ S
    return up_m + m, up_h + moment + m * p, up_J + carried


def _find_pose(link: TreeLink, q: ca.SX, displacement: ca.SX | None) -> LinkPose:
    A = ca.SX(link.placement.A)
    if link.step is None:
        return LinkPose(A, link.placement.c)
    R, slide = link.move(q, displacement)
    return LinkPose(A @ R, link.placement.c + A @ slide)


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
        free = _list_twists(recursion, k, branch.freedom)
        reversed_joint = branch.child_frame is not branch.joint.frames[-1]
        if reversed_joint:
            # About frame b, where slides and turns of a joint are perpendicular.
            arm = motions[k].A.T @ (_find_origin(tree, motions, k, branch.freedom) - motions[k].r)
            n = n - ca.cross(arm, f)
            free = [(turn, slide - ca.skew(arm) @ turn) for turn, slide in free]
        f, n = (motions[k].A @ part for part in _drop_along(free, f, n))
        if reversed_joint:
            f, n = -f, -n
        reactions[branch.joint.name] = ca.vertcat(f, n)
    return reactions


def _find_origin(tree: LinkTree, motions: Sequence[Motion], k: int, freedom: Freedom) -> ca.SX:
    """Return the origin of a joint on its parent link, (3,) [m] in world axes."""
    for _ in range(len(freedom) - 1):
        k = tree.links[k].parent
    link = tree.links[k]
    up = motions[link.parent] if link.parent >= 0 else STILL
    return up.r + up.A @ link.placement.c


def _list_twists(recursion: Recursion, k: int, freedom: Freedom) -> list[Twist]:
    """Return the twist of each freedom of a joint, in its last link k."""
    twists: list[Twist] = []
    R, p = ca.SX.eye(3), ca.SX.zeros(3)  # the last link in the k-th
    for _ in freedom:
        link, pose = recursion.tree.links[k], recursion.poses[k]
        twists.append((R.T @ link.turn, R.T @ (link.slide - ca.skew(p) @ link.turn)))
        R, p, k = pose.R @ R, pose.p + pose.R @ p, link.parent
    return twists


def _drop_along(free: list[Twist], f: ca.SX, n: ca.SX) -> Wrench:
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
