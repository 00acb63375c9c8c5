"""The contract of coordinates of a mechanism, absolute or relative."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca

from nsopt.algebra import body_rate_matrix, normalise, turn, turn_jacobian
from nsopt.arrays import Array
from nsopt.mechanics.model.frame import Frame, Motion

Value = Callable[[Any], ca.SX]
"""From a number, Parameter or function of time, as stated, to an expression: `State.value`."""


class Block(NamedTuple):
    """A part of the coordinates, and its entries of q and v."""

    q: slice
    v: slice
    ball: bool  # Euler parameters (4,) and an angular velocity (3,); else v = qdot


class Coordinates(ABC):
    """Coordinates q and velocities v of a mechanism, whose rates follow from their blocks."""

    @property
    @abstractmethod
    def blocks(self) -> Sequence[Block]:
        """The parts of q and v, in order and without gaps."""

    @property
    @abstractmethod
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates, ``owner.component``."""

    @property
    @abstractmethod
    def v_names(self) -> tuple[str, ...]:
        """Names of the velocities, ``owner.component``."""

    @abstractmethod
    def motions(
        self, q: ca.SX, v: ca.SX, value: Value, displacement: ca.SX | None = None
    ) -> dict[str, Motion]:
        """Return the motion of each body's centre of mass by name.

        ``displacement`` (nv,) are symbols of a virtual displacement to add to q, to first order:
        derivatives by it are dual to v, as generalized forces are.
        """

    def between(
        self, q: ca.SX, v: ca.SX, value: Value, displacement: ca.SX
    ) -> Callable[[Frame, Frame], Motion] | None:
        """Return (a, b) -> the motion of frame b as seen from frame a, in the axes of a.

        Arguments as for `motions`. None by default: there is no shorter way than by world axes.
        """
        del q, v, value, displacement
        return None

    def find_counted_angle(self, a: Frame, b: Frame, q: ca.SX, displacement: ca.SX) -> ca.SX | None:
        """Return the angle of x of frame b from x of a about z of a [rad], full turns counted.

        It is a coordinate but for a constant and a sign; None where none turns about z of both
        frames, as by default.
        """
        del a, b, q, displacement
        return None

    @abstractmethod
    def quaternions(self, q: ca.SX) -> dict[str, ca.SX]:
        """Return Euler parameters of each body (4,), body to world, by name."""

    @abstractmethod
    def mass(self, q: ca.SX, value: Value) -> ca.SX:
        """Return the mass matrix, shape (nv, nv)."""

    @abstractmethod
    def bias(self, q: ca.SX, v: ca.SX, value: Value) -> ca.SX:
        """Return gyroscopic and Coriolis terms, shape (nv,)."""

    @abstractmethod
    def twists(self, q: ca.SX, v: ca.SX, h: ca.SX, value: Value) -> ca.SX:
        """Return the velocities of all bodies that go from q to q (+) h v in a steady move, (nu,).

        Each centre of mass goes at constant velocity in world axes, each body turns at constant
        angular velocity in its own. With -h the move ends at q instead; with h = 0 the result is
        the velocities at q. Of a body that turns about an axis fixed in the ground (`find_circles`)
        there is a further entry, how far the chord of its arc lags behind w (`find_lag`), so that
        nu is not nv. In which order they are `momentum` of the same class alone knows.
        """

    @abstractmethod
    def momentum(self, q: ca.SX, twists: ca.SX, h: ca.SX, value: Value) -> ca.SX:
        """Return the generalized momentum of bodies that leave q with ``twists``, (nv,).

        [N s, N m s], that of the discrete Lagrangian of a step of h: the gyroscopic torque w x J w
        over h / 2 is added. With -h the bodies arrive at q instead. At h = 0 it is M v.
        """

    def inertial(self, q: ca.SX, v: ca.SX, a: ca.SX, value: Value) -> ca.SX:
        """Return M a + bias, shape (nv,)."""
        return self.mass(q, value) @ a + self.bias(q, v, value)

    def kinetic(self, q: ca.SX, v: ca.SX, value: Value) -> ca.SX:
        """Return the kinetic energy [J]."""
        return ca.dot(v, self.mass(q, value) @ v) / 2

    @abstractmethod
    def start(self, refuse: bool = True) -> tuple[Array, Array]:
        """Return q (nq,) and v (nv,) of the poses and velocities that the bodies state.

        Those that the joints of the tree do not allow are refused, by a ValueError that names the
        joint; unless ``refuse``, q and v are near them.
        """

    def rate_matrix(self, q: ca.SX) -> ca.SX:
        """Return N(q), shape (nq, nv): qdot = N v at |p| = 1."""
        parts = [
            body_rate_matrix(q[b.q]).T / 2 if b.ball else ca.SX.eye(b.v.stop - b.v.start)
            for b in self.blocks
        ]
        return ca.diagcat(ca.SX(0, 0), *parts)

    def velocity(self, q: ca.SX, qdot: ca.SX) -> ca.SX:
        """Return v, angular velocities 2 G(p) pdot [NLP-clearance 2024, eqs. 21b, 22c], (nv,)."""
        parts = [
            2 * body_rate_matrix(q[b.q]) @ qdot[b.q] if b.ball else qdot[b.q] for b in self.blocks
        ]
        return ca.vertcat(ca.SX(0, 1), *parts)

    def norms(self, q: ca.SX) -> ca.SX:
        """Return the squared norms p.p of all Euler parameters, shape (number of balls,)."""
        return ca.vertcat(ca.SX(0, 1), *(ca.sumsqr(q[b.q]) for b in self.blocks if b.ball))

    def renormalise(self, q: ca.SX) -> ca.SX:
        """Return q with every p divided by its norm."""
        parts = [normalise(q[b.q]) if b.ball else q[b.q] for b in self.blocks]
        return ca.vertcat(ca.SX(0, 1), *parts)

    def retract(self, q: ca.SX, displacement: ca.SX) -> ca.SX:
        """Return q after constant velocity v over h, ``displacement`` = h v.

        Exact: turns by the exponential map, which keeps the norms of Euler parameters.
        """
        parts = [
            turn(q[b.q], displacement[b.v]) if b.ball else q[b.q] + displacement[b.v]
            for b in self.blocks
        ]
        return ca.vertcat(ca.SX(0, 1), *parts)

    def retract_matrix(self, displacement: ca.SX) -> ca.SX:
        """Return T, (nv, nv): the end of `retract` is displaced by T d(displacement), dual to v."""
        parts = [
            turn_jacobian(displacement[b.v]) if b.ball else ca.SX.eye(b.v.stop - b.v.start)
            for b in self.blocks
        ]
        return ca.diagcat(ca.SX(0, 0), *parts)
