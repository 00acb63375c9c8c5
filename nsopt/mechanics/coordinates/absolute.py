"""Absolute coordinates: each body by its centre of mass and Euler parameters.

q = (r, p) and v = (rdot, w) per body, r and rdot in world axes, w in body axes
[NLP-clearance 2024, eqs. 4-10, 21]; a point mass has r alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.algebra import rotation_matrix, turn_over
from nsopt.arrays import Array
from nsopt.mechanics.coordinates.base import Block, Coordinates, Value
from nsopt.mechanics.coordinates.circles import Circle, find_circles, find_lag
from nsopt.mechanics.model.bodies import Body
from nsopt.mechanics.model.element import Constraint
from nsopt.mechanics.model.frame import Motion
from nsopt.parameter import number

STILL = ca.SX([1, 0, 0, 0])
"""Euler parameters of no turn."""


@dataclass(frozen=True)
class AbsoluteCoordinates(Coordinates):
    """The coordinates of free bodies; joints are constraints on them."""

    bodies: tuple[Body, ...]
    joints: tuple[Constraint, ...] = ()

    def _list_entries(self) -> Iterator[tuple[Body, slice, slice]]:
        """Yield each body with its entries of q and v."""
        i = j = 0
        for body in self.bodies:
            nq, nv = (3, 3) if body.point_mass else (7, 6)
            yield body, slice(i, i + nq), slice(j, j + nv)
            i, j = i + nq, j + nv

    @property
    def blocks(self) -> Sequence[Block]:
        blocks = []
        for body, q, v in self._list_entries():
            blocks.append(Block(slice(q.start, q.start + 3), slice(v.start, v.start + 3), False))
            if not body.point_mass:
                blocks.append(Block(slice(q.start + 3, q.stop), slice(v.start + 3, v.stop), True))
        return blocks

    @property
    def q_names(self) -> tuple[str, ...]:
        tags = {False: ("x", "y", "z", "e0", "e1", "e2", "e3"), True: ("x", "y", "z")}
        return tuple(f"{b.name}.{tag}" for b in self.bodies for tag in tags[b.point_mass])

    @property
    def v_names(self) -> tuple[str, ...]:
        tags = {False: ("vx", "vy", "vz", "wx", "wy", "wz"), True: ("vx", "vy", "vz")}
        return tuple(f"{b.name}.{tag}" for b in self.bodies for tag in tags[b.point_mass])

    def motions(
        self, q: ca.SX, v: ca.SX, value: Value, displacement: ca.SX | None = None
    ) -> dict[str, Motion]:
        del value
        motions = {}
        for body, in_q, rate in self._list_entries():
            x, u = q[in_q], v[rate]
            shift = ca.SX.zeros(u.numel()) if displacement is None else displacement[rate]
            if body.point_mass:
                motions[body.name] = Motion(x + shift, ca.SX.eye(3), u, ca.SX.zeros(3))
            else:
                A = rotation_matrix(x[3:7])
                turned = A + A @ ca.skew(shift[3:6])
                motions[body.name] = Motion(x[0:3] + shift[0:3], turned, u[0:3], A @ u[3:6])
        return motions

    def quaternions(self, q: ca.SX) -> dict[str, ca.SX]:
        return {
            body.name: STILL if body.point_mass else q[in_q][3:7]
            for body, in_q, _ in self._list_entries()
        }

    def mass(self, q: ca.SX, value: Value) -> ca.SX:
        """Return the mass matrix, shape (nv, nv), constant [NLP-clearance 2024, eq. 7]."""
        del q
        parts = []
        for body in self.bodies:
            parts.append(value(body.mass) * ca.SX.eye(3))
            if not body.point_mass:
                J = value(body.inertia)
                parts.append(ca.diag(J) if J.is_column() else J)
        return ca.diagcat(*parts)

    def bias(self, q: ca.SX, v: ca.SX, value: Value) -> ca.SX:
        """Return S = (0, w x J w) per body, shape (nv,) [NLP-clearance 2024, eqs. 6-8]."""
        M, parts = self.mass(q, value), []
        for body, _, rate in self._list_entries():
            parts.append(ca.SX.zeros(3))
            if not body.point_mass:
                turn = slice(rate.start + 3, rate.stop)
                parts.append(ca.cross(v[turn], M[turn, turn] @ v[turn]))
        return ca.vertcat(*parts)

    def twists(self, q: ca.SX, v: ca.SX, h: ca.SX, value: Value) -> ca.SX:
        del q
        turning = [(circle.axis, v[turn]) for _, turn, circle in self._list_circles(value)]
        return ca.vertcat(v, *(find_lag(axis, w, *turn_over(w, h)) for axis, w in turning))

    def momentum(self, q: ca.SX, twists: ca.SX, h: ca.SX, value: Value) -> ca.SX:
        v, lags = ca.vertsplit(twists, [0, len(self.v_names), twists.numel()])
        momentum = self.mass(q, value) @ v + h / 2 * self.bias(q, v, value)
        for k, (body, turn, circle) in enumerate(self._list_circles(value)):
            momentum[turn] += value(body.mass) * circle.square * lags[k] * circle.axis
        return momentum

    def _list_circles(self, value: Value) -> Iterator[tuple[Body, slice, Circle]]:
        """Yield each body that turns about an axis fixed in the ground, with w among v."""
        circles = find_circles(self.joints, value)
        for body, _, rate in self._list_entries():
            if body.name in circles:
                yield body, slice(rate.start + 3, rate.stop), circles[body.name]

    def start(self, refuse: bool = True) -> tuple[Array, Array]:
        del refuse  # free bodies start anywhere
        q, v = [], []
        for body in self.bodies:
            turns = not body.point_mass
            p = number(body.orientation)
            q += [number(body.position)] + [p / np.linalg.norm(p)] * turns
            v += [number(body.velocity)] + [number(body.angular_velocity)] * turns
        return np.concatenate(q), np.concatenate(v)
