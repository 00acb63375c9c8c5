"""Relative coordinates: those of the joints of a spanning tree, by recursions along it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from nsopt.algebra import from_rotation, product, without_round_off
from nsopt.arrays import Array
from nsopt.mechanics.coordinates.base import Block, Coordinates, Value
from nsopt.mechanics.coordinates.circles import find_circles
from nsopt.mechanics.coordinates.links import CoordinateMap, LinkTree, Placement, TreeLink
from nsopt.mechanics.coordinates.posture import (
    check_closed,
    check_velocities,
    joint_coordinates,
    joint_velocities,
)
from nsopt.mechanics.coordinates.recursion import Recursion
from nsopt.mechanics.coordinates.spanning_tree import Branch
from nsopt.mechanics.coordinates.steady_move import SteadyMove, body_momenta
from nsopt.mechanics.model.actuator import Actuator, Mimic
from nsopt.mechanics.model.bodies import Body
from nsopt.mechanics.model.element import Constraint
from nsopt.mechanics.model.frame import Frame, Motion
from nsopt.mechanics.model.freedom import Axis, Ball
from nsopt.parameter import constant


class RelativeMotions:
    """The motions of frames as seen from others, along the path in the tree between them.

    By world axes the links that carry both frames would be in the expressions, and cancel in
    numbers only: across one joint these are expressions of its own coordinates.
    """

    def __init__(
        self, tree: LinkTree, q: ca.SX, v: ca.SX, displacement: ca.SX, value: Value
    ) -> None:
        self._tree, self._value = tree, value
        self._q, self._v, self._displacement = q, v, displacement

    def __call__(self, a: Frame, b: Frame) -> Motion:
        """Return the motion of frame b as seen from frame a, in the axes of a."""
        (ka, at_a), (kb, at_b) = (self._place(frame) for frame in (a, b))
        from_a, from_b = self._list_up(ka), self._list_up(kb)
        common = next(k for k in from_a if k in from_b)
        if ka == common:  # the link of a carries b
            return self._relate(at_a, self._list_between(from_b, common), at_b)
        # Else by the motions of both in the link that carries both.
        origin = Placement(np.eye(3), ca.SX.zeros(3))
        ra, A, va, wa = self._relate(origin, self._list_between(from_a, common), at_a)
        rb, B, vb, wb = self._relate(origin, self._list_between(from_b, common), at_b)
        apart = rb - ra
        speed = vb - va - ca.cross(wa, apart)
        return Motion(A.T @ apart, A.T @ B, A.T @ speed, A.T @ (wb - wa))

    def _place(self, frame: Frame) -> tuple[int, Placement]:
        """Return the link that a frame is on, and where."""
        k, placement = self._tree.placements[frame.body.name if frame.body else None]
        return k, placement.of_frame(frame, self._value)

    def _list_up(self, k: int) -> list[int]:
        """Return a link and all that carry it, down to the ground."""
        chain = [k]
        while chain[-1] >= 0:
            chain.append(self._tree.links[chain[-1]].parent)
        return chain

    def _list_between(self, chain: Sequence[int], common: int) -> list[TreeLink]:
        """Return the links from below a common one to the first of a chain."""
        return [self._tree.links[k] for k in chain[: chain.index(common)][::-1]]

    def _relate(self, begin: Placement, links: Sequence[TreeLink], end: Placement) -> Motion:
        """Return the motion of ``end`` in the last of the links, as seen from ``begin``.

        ``begin`` is a placement in the parent of the first link.
        """
        A: ca.SX | np.ndarray = np.asarray(begin.A).T  # numbers up to the first freedom
        r = -ca.SX(A) @ begin.c
        v = w = ca.SX.zeros(3)
        for link in links:
            r, v = _shift(r, v, w, A, link.placement.c)
            A = _multiply(A, link.placement.A)
            R, slide = link.move(self._q, self._displacement)
            way = ca.SX(A) @ slide
            r, v = r + way, v + ca.cross(w, way)
            A, rates = ca.SX(A) @ R, link.rates(self._v)
            w, v = w + A @ (link.turn @ rates), v + A @ (link.slide @ rates)
        r, v = _shift(r, v, w, A, end.c)
        return Motion(r, ca.SX(_multiply(A, end.A)), v, w)


def _shift(r: ca.SX, v: ca.SX, w: ca.SX, A: ca.SX | np.ndarray, c: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return position and velocity of the point at c in axes A, whose origin r has velocity v."""
    arm = ca.SX(A) @ c
    return r + arm, v + ca.cross(w, arm)


def _multiply(A: ca.SX | np.ndarray, B: np.ndarray) -> ca.SX | np.ndarray:
    """Return A B; numbers are cleared of round-off, so that terms which cancel vanish from code."""
    return without_round_off(A @ B) if isinstance(A, np.ndarray) else A @ ca.SX(B)


BALL_COORDINATES = ("e0", "e1", "e2", "e3")
BALL_RATES = ("wx", "wy", "wz")
ALIGNED = 1e-12  # by how much the cosine between axes that coincide may be off
Step = Axis | Ball


@dataclass(frozen=True, eq=False)
class RelativeCoordinates(Coordinates):
    """The coordinates of the joints of a tree: free bodies first, then joints in the order stated.

    A free body has its centre of mass in world axes and Euler parameters, a ball joint Euler
    parameters, every other joint one coordinate per freedom; joints that mimic have none.
    """

    bodies: tuple[Body, ...]
    joints: tuple[Constraint, ...]
    branches: tuple[Branch, ...]
    mimics: tuple[Mimic, ...] = ()
    actuators: tuple[Actuator, ...] = ()

    @cached_property
    def owners(self) -> tuple[Branch, ...]:
        """The branches that have coordinates, in the order of q."""
        order = {id(joint): k for k, joint in enumerate(self.joints)}
        followers = {mimic.joint for mimic in self.mimics}
        own = [b for b in self.branches if not (b.joint and b.joint.name in followers)]
        return tuple(sorted(own, key=lambda b: -1 if b.joint is None else order[id(b.joint)]))

    @cached_property
    def entries(self) -> Mapping[str, tuple[CoordinateMap, ...]]:
        """The coordinates of `Branch.freedom`, from parent to body, by body name."""
        entries: dict[str, tuple[CoordinateMap, ...]] = {}
        i = j = 0
        for branch in self.owners:
            own = []  # in the order of coordinates, from frame a to frame b
            for step in branch.freedom_a_to_b:
                nq, nv = (4, 3) if isinstance(step, Ball) else (1, 1)
                own.append(CoordinateMap(slice(i, i + nq), slice(j, j + nv)))
                i, j = i + nq, j + nv
            outward = branch.freedom_a_to_b is branch.freedom
            entries[branch.body.name] = tuple(own if outward else own[::-1])
        child = {b.joint.name: b.body.name for b in self.branches if b.joint is not None}
        for mimic in self.mimics:
            (led,) = entries[child[mimic.of]]
            entries[child[mimic.joint]] = (CoordinateMap(led.q, led.v, mimic.ratio, mimic.offset),)
        return entries

    @cached_property
    def blocks(self) -> Sequence[Block]:
        blocks = [
            Block(entry.q, entry.v, isinstance(step, Ball))
            for branch in self.owners
            for step, entry in zip(branch.freedom, self.entries[branch.body.name], strict=True)
        ]
        return tuple(sorted(blocks, key=lambda block: block.q.start))

    @property
    def q_names(self) -> tuple[str, ...]:
        return self._names(lambda s: BALL_COORDINATES if isinstance(s, Ball) else (s.name,))

    @property
    def v_names(self) -> tuple[str, ...]:
        return self._names(lambda s: BALL_RATES if isinstance(s, Ball) else (s.rate,))

    def _names(self, of: Callable[[Step], tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(
            f"{(branch.joint or branch.body).name}.{name}"
            for branch in self.owners
            for step in branch.freedom_a_to_b
            for name in of(step)
        )

    def links(self, value: Value, weld: bool = True) -> LinkTree:
        """Return the links, as `LinkTree` has them; those of the last call, if it was the same."""
        trees: dict[bool, LinkTree] = self.__dict__.setdefault("_trees", {})
        if weld not in trees or value != trees[weld].value:
            rotors = {
                a.joint: value(a.rotor_inertia) * value(a.gear_ratio) ** 2 for a in self.actuators
            }
            trees[weld] = LinkTree(self.branches, self.entries, rotors, value, weld)
        return trees[weld]

    def __getstate__(self) -> dict[str, Any]:
        """Return all but expressions, which cannot be sent to other processes."""
        return {k: x for k, x in vars(self).items() if k not in ("_last", "_stated", "_trees")}

    def _recursion(self, q: ca.SX, value: Value) -> Recursion:
        """Return the recursions at q: those of the last call, if it was the same."""
        last: tuple[ca.SX, Value, Recursion] | None = self.__dict__.get("_last")
        if last is None or q is not last[0] or value != last[1]:
            last = self.__dict__["_last"] = q, value, Recursion(self.links(value), q)
        return last[2]

    def motions(
        self, q: ca.SX, v: ca.SX, value: Value, displacement: ca.SX | None = None
    ) -> dict[str, Motion]:
        tree = self.links(value)
        of_links = Recursion(tree, q, displacement).motions(v)
        placed = {body.name: tree.placements[body.name] for body in self.bodies}
        return {name: place.motion(of_links[k]) for name, (k, place) in placed.items()}

    def between(
        self, q: ca.SX, v: ca.SX, value: Value, displacement: ca.SX
    ) -> Callable[[Frame, Frame], Motion]:
        return RelativeMotions(self.links(value), q, v, displacement, value)

    def find_counted_angle(self, a: Frame, b: Frame, q: ca.SX, displacement: ca.SX) -> ca.SX | None:
        for branch in self.branches:
            axes = branch.freedom_a_to_b
            if branch.joint is None or len(axes) != 1 or not isinstance(axes[0], Axis):
                continue
            begin, end = branch.joint.frames
            forward = (a.body, b.body) == (begin.body, end.body)
            if not forward and (a.body, b.body) != (end.body, begin.body):
                continue
            on_a, on_b = (begin, end) if forward else (end, begin)
            to_joint = np.asarray(a.axes).T @ np.asarray(on_a.axes)
            # Axes of b in those of a where the joint is at zero, and the axis of the joint.
            at_zero = to_joint @ np.asarray(on_b.axes).T @ np.asarray(b.axes)
            turn = to_joint @ axes[0].turn * (1 if forward else -1)
            if not np.allclose([abs(turn[2]), at_zero[2, 2]], 1, rtol=0, atol=ALIGNED):
                continue
            entry = self.entries[branch.body.name][0]
            u = entry.ratio * (q[entry.q] + displacement[entry.v]) + entry.offset
            return float(np.arctan2(at_zero[1, 0], at_zero[0, 0])) + float(np.sign(turn[2])) * u
        return None

    def quaternions(self, q: ca.SX) -> dict[str, ca.SX]:
        tree = self.links(constant)
        turned: list[ca.SX] = []  # Euler parameters of each link
        for link in tree.links:
            p = ca.SX(from_rotation(link.placement.A))
            if isinstance(link.step, Ball):
                p = product(p, q[link.coordinate.q])
            elif isinstance(link.step, Axis) and any(link.step.turn):
                half = (link.coordinate.ratio * q[link.coordinate.q] + link.coordinate.offset) / 2
                p = product(p, ca.vertcat(ca.cos(half), link.turn * ca.sin(half)))
            turned.append(product(turned[link.parent], p) if link.parent >= 0 else p)
        quaternions = {}
        for body in self.bodies:
            k, placement = tree.placements[body.name]
            quaternions[body.name] = product(turned[k], ca.SX(from_rotation(placement.A)))
        return quaternions

    def mass(self, q: ca.SX, value: Value) -> ca.SX:
        return self._recursion(q, value).mass_matrix(len(self.v_names))

    def bias(self, q: ca.SX, v: ca.SX, value: Value) -> ca.SX:
        return self.inertial(q, v, ca.SX.zeros(v.numel()), value)

    def twists(self, q: ca.SX, v: ca.SX, h: ca.SX, value: Value) -> ca.SX:
        move = SteadyMove(self._recursion(q, value), v, h, find_circles(self.joints, value))
        return ca.vertcat(move.twists(), v)

    def momentum(self, q: ca.SX, twists: ca.SX, h: ca.SX, value: Value) -> ca.SX:
        recursion, n = self._recursion(q, value), twists.numel() - len(self.v_names)
        momenta = body_momenta(recursion, twists[:n], h, find_circles(self.joints, value))
        return recursion.generalize(momenta, twists[n:])

    def inertial(self, q: ca.SX, v: ca.SX, a: ca.SX, value: Value) -> ca.SX:
        return self._recursion(q, value).newton_euler(v, a, ca.SX.zeros(3))[0]

    def kinetic(self, q: ca.SX, v: ca.SX, value: Value) -> ca.SX:
        return self._recursion(q, value).kinetic(v)

    def start(self, refuse: bool = True) -> tuple[Array, Array]:
        q, rates, motions, misfits = self._stated
        if refuse:
            check_closed(self.branches, motions)
            check_velocities(self.branches, misfits)
        return q.copy(), rates.copy()

    @cached_property
    def _stated(self) -> tuple[Array, Array, dict[str, Motion], dict[str, float]]:
        """The stated start q, v, the motions of bodies there, and their misfits by name."""
        q, v = joint_coordinates(self.owners), ca.SX.sym("v", len(self.v_names))
        motions = self.motions(ca.SX(q), v, constant)
        rates, misfits = joint_velocities(self.bodies, motions, v)
        names = (body.name for body in self.bodies)
        return q, rates, motions, dict(zip(names, misfits, strict=True))
