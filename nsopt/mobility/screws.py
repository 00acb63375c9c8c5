"""Joint screws of a spanning tree, at a posture and along a motion [mobility 2016, section 3].

Motions near a posture q have coordinates u (n,), zero at q [rad or m]: a turn or slide is q + u; a
ball turns by u about its x, y and z, one after another, as three revolutes at right angles. A body
that only higher pairs hold is free: in the tree by three slides and three turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import Scalars, bracket, cross, leibniz, product
from nsopt.mechanics import Axis, Mechanism, Recursion

Array = NDArray[Any]  # of numbers, or of objects such as polynomials: what `Scalars` works on


class ScrewLink(NamedTuple):
    """A link that moves by one screw against the one before it."""

    parent: int  # -1 is the ground
    coordinate: int  # of u; -1 for none
    ratio: float  # of its motion over that of the coordinate; 1 but for joints that follow others


@dataclass(frozen=True, eq=False)
class ScrewTree:
    """A spanning tree as links of one screw each.

    ``screws_and_poses`` is (q, p) -> Y (6, number of links), poses (12, number of bodies): screws
    in world axes at joint coordinates q (nq,) and Parameters p (np,). A screw is a unit vector e
    along the axis, then s x e + h e with s a point of the axis [m] and h the pitch [m/rad]; of a
    slide it is zeros, then e. A pose is the centre of mass [m], then the columns of the body's
    axes.
    """

    links: tuple[ScrewLink, ...]  # each after its parent
    body_links: dict[str | None, int]  # the one that carries each body; None, the ground, is at -1
    names: tuple[str, ...]  # of the coordinates u: those of velocities, ``joint.rate``
    is_length: NDArray[np.bool_]  # (n,) which coordinates are lengths [m]; others are angles [rad]
    screws_and_poses: ca.Function


def build_screw_tree(mechanism: Mechanism, value: Any, p: ca.SX) -> ScrewTree:
    """Return the screws of a mechanism's spanning tree.

    ``value`` is from numbers as stated, a `Parameter` or a float, to expressions of p, the symbols
    of Parameters.
    """
    coordinates = mechanism.tree
    q = ca.SX.sym("q", len(coordinates.q_names))
    tree, n = coordinates.links(value), len(coordinates.v_names)
    motions = Recursion(tree, q).motions(ca.SX.zeros(n))
    links, screws = list[ScrewLink](), list[ca.SX]()
    last = {-1: -1}  # of each link of `tree`, the last of the screw links that it becomes
    is_length = np.zeros(n, dtype=bool)
    for k, (link, motion) in enumerate(zip(tree.links, motions, strict=True)):
        parent = last[link.parent]
        entries = range(link.coordinate.v.start, link.coordinate.v.stop)
        for i, entry in enumerate(entries):
            turn, slide = motion.A @ link.turn[:, i], motion.A @ link.slide[:, i]
            screws.append(ca.vertcat(turn, ca.cross(motion.r, turn) + slide))
            links.append(ScrewLink(parent, entry, link.coordinate.ratio))
            # Or: one coordinate may move several links, those of joints that follow it.
            is_length[entry] |= isinstance(link.step, Axis) and not any(link.step.turn)
            parent = len(links) - 1
        last[k] = parent
    bodies = coordinates.motions(q, ca.SX.zeros(n), value)
    poses = [ca.vertcat(m.r, ca.vec(m.A)) for m in bodies.values()]
    body_links = {name: last[tree.placements[name][0]] for name in (None, *bodies)}
    screws_and_poses = ca.Function(
        "screws_and_poses",
        [q, p],
        [ca.densify(ca.horzcat(ca.SX(6, 0), *screws)), ca.densify(ca.horzcat(*poses))],
    )
    return ScrewTree(tuple(links), body_links, coordinates.v_names, is_length, screws_and_poses)


def move_joints(mechanism: Mechanism, q: ca.SX, u: ca.SX) -> ca.SX:
    """Return the joint coordinates (nq,) of the tree that are u (n,) away from q (nq,)."""
    parts = [ca.SX(0, 1)]
    for block in mechanism.tree.blocks:
        if not block.ball:
            parts.append(q[block.q] + u[block.v])
            continue
        # Euler parameters (4,), three angles.
        turned, turns = q[block.q], ca.vertsplit(u[block.v])
        for k, turn in enumerate(turns):
            axis = ca.SX(ca.DM(np.eye(3)[k]))
            by_turn = ca.vertcat(ca.cos(turn / 2), axis * ca.sin(turn / 2))
            turned = product(turned, by_turn)
        parts.append(turned)
    return ca.vertcat(*parts)


def differentiate_twists(tree: ScrewTree, Y: Array, u: Array, scalars: Scalars) -> list[Array]:
    """Return the twist of each link and its derivatives [mobility 2016, eqs. 11, 15, 16, 31, 32].

    From Y (6, number of links, 1), the screws at the posture, and u (order + 1, n, count), the
    derivatives of the coordinates of ``count`` motions, that of order zero first, though it is not
    used; entries are of the arithmetic ``scalars``. Y is the same for all motions. Twists
    (order, 6, count) are (w, velocity of the body's point in the origin), with derivatives up to
    ``order - 1``.

    Eq. 15, with exponent nu + r in place of k + r (erratum), is Leibniz' rule for screw S_j times
    the rate of q_j, summed over the joints before: so it is computed. S_j moves with the link
    before it, dS_j/dt = [twist of that link, S_j], the Lie bracket of se(3).
    """
    order, count = len(u) - 1, u.shape[2]
    found: list[Array] = []
    for k, link in enumerate(tree.links):
        still = np.zeros((order, 6, count), dtype=u.dtype)
        before = found[link.parent] if link.parent >= 0 else still
        if link.coordinate < 0 or not order:
            found.append(before)
            continue
        S = still.copy()
        S[0] = np.broadcast_to(Y[:, k], (6, count))
        for r in range(1, order):
            S[r] = leibniz(before, S, r - 1, partial(bracket, axis=1))
        rate = u[1:, link.coordinate : link.coordinate + 1]
        if link.ratio != 1:
            rate = rate * scalars.constant(link.ratio)
        found.append(before + np.stack([leibniz(S, rate, r) for r in range(order)]))
    return found


def differentiate_poses(twist: Array, pose: Array) -> Array:
    """Return the pose (order + 1, 12, count) of a body, with derivatives [mobility 2016, eq. 19].

    From the twist (order, 6, count) of its link, by `differentiate_twists`, and its position and
    columns of the axes at the posture (12, 1).
    """
    order, _, count = twist.shape
    found = np.zeros((order + 1, 12, count), dtype=twist.dtype)
    found[0] = np.broadcast_to(pose, (12, count))
    w, v = twist[:, :3], twist[:, 3:]
    for i in range(1, order + 1):
        for column in range(4):  # r' = w x r + v, and x' = w x x of the three axes
            part = slice(3 * column, 3 * column + 3)
            found[i, part] = leibniz(w, found[:, part], i - 1, partial(cross, axis=1))
        found[i, :3] = found[i, :3] + v[i - 1]
    return found
