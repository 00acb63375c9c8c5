"""Absolute coordinates: each body by its centre of mass and Euler parameters.

q = (r, p) and v = (rdot, w) per body, r and rdot in world axes, w in body axes
[NLP-clearance 2024, eqs. 4-10, 21]; a point mass has r alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import body_rate_matrix, normalise, rotation_matrix, turned
from nsopt.mechanics.bodies import Body
from nsopt.mechanics.frame import Motion
from nsopt.mechanics.parameter import number


@dataclass(frozen=True)
class _Block:
    """Where one body sits in q and v."""

    body: Body
    q: slice
    v: slice


@dataclass(frozen=True)
class AbsoluteCoordinates:
    """The coordinates of free bodies; joints are constraints on them."""

    bodies: tuple[Body, ...]

    def _blocks(self) -> Iterator[_Block]:
        i = j = 0
        for body in self.bodies:
            nq, nv = (3, 3) if body.point_mass else (7, 6)
            yield _Block(body, slice(i, i + nq), slice(j, j + nv))
            i, j = i + nq, j + nv

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates, ``body.x``, ..."""
        tags = {False: ("x", "y", "z", "e0", "e1", "e2", "e3"), True: ("x", "y", "z")}
        return tuple(f"{b.name}.{tag}" for b in self.bodies for tag in tags[b.point_mass])

    @property
    def v_names(self) -> tuple[str, ...]:
        """Names of the velocities, ``body.vx``, ..."""
        tags = {False: ("vx", "vy", "vz", "wx", "wy", "wz"), True: ("vx", "vy", "vz")}
        return tuple(f"{b.name}.{tag}" for b in self.bodies for tag in tags[b.point_mass])

    def motions(self, q: ca.SX, v: ca.SX, move: ca.SX | None = None) -> dict[str, Motion]:
        """Return the motion of each body's centre of mass by name.

        Parameters
        ----------
        q, v : SX (nq,), (nv,)
        move : SX (nv,), optional
            A virtual displacement to add, of first order: derivatives by it are those dual to v.
        """
        found = {}
        for block in self._blocks():
            x, u = q[block.q], v[block.v]
            shift = ca.SX.zeros(u.numel()) if move is None else move[block.v]
            if block.body.point_mass:
                found[block.body.name] = Motion(x + shift, ca.SX.eye(3), u, ca.SX.zeros(3))
            else:
                A = rotation_matrix(x[3:7])
                turned_a_little = A + A @ ca.skew(shift[3:6])
                found[block.body.name] = Motion(
                    x[0:3] + shift[0:3], turned_a_little, u[0:3], A @ u[3:6]
                )
        return found

    def rate_matrix(self, q: ca.SX) -> ca.SX:
        """Return N(q), shape (nq, nv): qdot = N v at |p| = 1."""
        return ca.diagcat(
            *(
                ca.SX.eye(3)
                if block.body.point_mass
                else ca.diagcat(ca.SX.eye(3), body_rate_matrix(q[block.q][3:7]).T / 2)
                for block in self._blocks()
            )
        )

    def velocity(self, q: ca.SX, qdot: ca.SX) -> ca.SX:
        """Return v = (rdot, 2 G(p) pdot) [NLP-clearance 2024, eqs. 21b, 22c], shape (nv,)."""
        parts = []
        for block in self._blocks():
            rate = qdot[block.q]
            parts.append(rate[0:3])
            if not block.body.point_mass:
                parts.append(2 * body_rate_matrix(q[block.q][3:7]) @ rate[3:7])
        return ca.vertcat(*parts)

    def norms(self, q: ca.SX) -> ca.SX:
        """Return p.p of each body that turns, shape (n,)."""
        return ca.vertcat(ca.SX(0, 1), *(ca.sumsqr(p) for p in self.parameters_of(q)))

    def parameters_of(self, q: ca.SX) -> list[ca.SX]:
        """Return the Euler parameters of each body that turns, (4,) each."""
        return [q[b.q][3:7] for b in self._blocks() if not b.body.point_mass]

    def renormalise(self, q: ca.SX) -> ca.SX:
        """Return q with every p divided by its norm."""
        return ca.vertcat(
            *(
                q[b.q] if b.body.point_mass else ca.vertcat(q[b.q][0:3], normalise(q[b.q][3:7]))
                for b in self._blocks()
            )
        )

    def retract(self, q: ca.SX, move: ca.SX) -> ca.SX:
        """Return q after constant velocity v over h, ``move`` = h v; exact, norms kept."""
        parts = []
        for block in self._blocks():
            x, u = q[block.q], move[block.v]
            parts.append(x[0:3] + u[0:3])
            if not block.body.point_mass:
                parts.append(turned(x[3:7], u[3:6]))
        return ca.vertcat(*parts)

    def mass(self, value: Callable[[Any], ca.SX]) -> ca.SX:
        """Return the mass matrix, shape (nv, nv), constant [NLP-clearance 2024, eq. 7]."""
        parts = []
        for body in self.bodies:
            parts.append(value(body.mass) * ca.SX.eye(3))
            if not body.point_mass:
                J = value(body.inertia)
                parts.append(ca.diag(J) if J.is_column() else J)
        return ca.diagcat(*parts)

    def bias(self, v: ca.SX, M: ca.SX) -> ca.SX:
        """Return S = (0, w x J w) per body, shape (nv,) [NLP-clearance 2024, eqs. 6-8]."""
        parts = []
        for block in self._blocks():
            parts.append(ca.SX.zeros(3))
            if not block.body.point_mass:
                turn = slice(block.v.start + 3, block.v.stop)
                w = v[turn]
                parts.append(ca.cross(w, M[turn, turn] @ w))
        return ca.vertcat(*parts)

    def wrench(self, generalized: ca.SX, q: ca.SX, body: Body) -> tuple[ca.SX, ca.SX]:
        """Return force [N] and torque about the centre of mass [N m] on a body, world axes."""
        block = next(b for b in self._blocks() if b.body is body)
        f = generalized[block.v]
        if body.point_mass:
            return f, ca.SX.zeros(3)
        return f[0:3], rotation_matrix(q[block.q][3:7]) @ f[3:6]

    def start(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the stated q (nq,) and v (nv,) of the start."""
        q, v = [], []
        for body in self.bodies:
            turns = not body.point_mass
            p = number(body.orientation)
            q += [number(body.position)] + [p / np.linalg.norm(p)] * turns
            v += [number(body.velocity)] + [number(body.angular_velocity)] * turns
        return np.concatenate(q), np.concatenate(v)
