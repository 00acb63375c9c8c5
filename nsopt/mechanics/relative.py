"""Relative coordinates: those of the joints of a spanning tree, by recursions along it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from nsopt.algebra import from_rotation, product
from nsopt.mechanics.actuator import Actuator, Mimic
from nsopt.mechanics.bodies import Body
from nsopt.mechanics.coordinates import Array, Block, Coordinates, Value
from nsopt.mechanics.element import Constraint
from nsopt.mechanics.frame import Motion
from nsopt.mechanics.freedom import Axis, Ball
from nsopt.mechanics.links import Entry, Links
from nsopt.mechanics.posture import posture, stated
from nsopt.mechanics.recursion import kinematics, mass_matrix, newton_euler, places
from nsopt.mechanics.spanning_tree import Branch

BALL_COORDINATES = ("e0", "e1", "e2", "e3")
BALL_RATES = ("wx", "wy", "wz")
Step = Axis | Ball


@dataclass(frozen=True, eq=False)
class RelativeCoordinates(Coordinates):
    """Free bodies first, then the joints of the tree in the order stated.

    A free body has its centre of mass in world axes and Euler parameters, a ball joint Euler
    parameters, every other joint one coordinate per freedom; mimics have none of their own.
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
    def entries(self) -> Mapping[str, tuple[Entry, ...]]:
        """Where the freedoms by which each body hangs take their coordinates, by body name."""
        found: dict[str, tuple[Entry, ...]] = {}
        i = j = 0
        for branch in self.owners:
            own = []
            for step in branch.stated:
                nq, nv = (4, 3) if isinstance(step, Ball) else (1, 1)
                own.append(Entry(slice(i, i + nq), slice(j, j + nv)))
                i, j = i + nq, j + nv
            outward = branch.stated is branch.freedom
            found[branch.body.name] = tuple(own if outward else own[::-1])
        hung = {b.joint.name: b.body.name for b in self.branches if b.joint is not None}
        for mimic in self.mimics:
            (of,) = found[hung[mimic.of]]
            found[hung[mimic.joint]] = (Entry(of.q, of.v, mimic.ratio, mimic.offset),)
        return found

    @cached_property
    def blocks(self) -> Sequence[Block]:
        found = [
            Block(entry.q, entry.v, isinstance(step, Ball))
            for branch in self.owners
            for step, entry in zip(branch.freedom, self.entries[branch.body.name], strict=True)
        ]
        return tuple(sorted(found, key=lambda block: block.q.start))

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
            for step in branch.stated
            for name in of(step)
        )

    def links(self, value: Value, weld: bool = True) -> Links:
        """Return the tree as `Links`; unless ``weld``, with one for each body on a fixed joint."""
        rotors = {
            a.joint: value(a.rotor_inertia) * value(a.gear_ratio) ** 2 for a in self.actuators
        }
        return Links(self.branches, self.entries, rotors, value, weld)

    def motions(
        self, q: ca.SX, v: ca.SX, value: Value, move: ca.SX | None = None
    ) -> dict[str, Motion]:
        tree = self.links(value)
        moving = kinematics(tree, places(tree, q, move), v)
        found = {}
        for body in self.bodies:
            k, seat = tree.seats[body.name]
            r, A, u, w = moving[k]
            arm = A @ seat.c
            found[body.name] = Motion(r + arm, A @ seat.A, u + ca.cross(w, arm), w)
        return found

    def quaternions(self, q: ca.SX) -> dict[str, ca.SX]:
        tree = self.links(stated)
        turned: list[ca.SX] = []
        for link in tree.links:
            p = ca.SX(from_rotation(link.place.A))
            if isinstance(link.step, Ball):
                p = product(p, q[link.entry.q])
            elif isinstance(link.step, Axis) and any(link.step.turn):
                half = (link.entry.ratio * q[link.entry.q] + link.entry.offset) / 2
                p = product(p, ca.vertcat(ca.cos(half), link.turn * ca.sin(half)))
            turned.append(product(turned[link.parent], p) if link.parent >= 0 else p)
        found = {}
        for body in self.bodies:
            k, seat = tree.seats[body.name]
            found[body.name] = product(turned[k], ca.SX(from_rotation(seat.A)))
        return found

    def mass(self, q: ca.SX, value: Value) -> ca.SX:
        tree = self.links(value)
        return mass_matrix(tree, places(tree, q), len(self.v_names), value)

    def bias(self, q: ca.SX, v: ca.SX, value: Value) -> ca.SX:
        return self.inertial(q, v, ca.SX.zeros(v.numel()), value)

    def inertial(self, q: ca.SX, v: ca.SX, a: ca.SX, value: Value) -> ca.SX:
        tree = self.links(value)
        return newton_euler(tree, places(tree, q), v, a, ca.SX.zeros(3), value)[0]

    def start(self, refuse: bool = True) -> tuple[Array, Array]:
        return posture(self, refuse)
