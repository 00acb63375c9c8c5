"""The contract of coordinates of a mechanism: vectors and Euler parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import body_rate_matrix, normalise, turned, turned_matrix
from nsopt.mechanics.model.frame import Frame, Motion

Array = NDArray[np.float64]
Value = Callable[[Any], ca.SX]
"""From stated numbers to an expression, `State.value`."""


class Block(NamedTuple):
    """The entries of q and v of a part of the coordinates."""

    q: slice
    v: slice
    ball: bool  # Euler parameters and an angular velocity, else as many velocities as coordinates


class Coordinates(ABC):
    """Coordinates q and velocities v that describe a mechanism.

    Rates and displacements follow from the blocks; derived classes state the rest.
    """

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

        Parameters
        ----------
        q, v : SX (nq,), (nv,)
        value : callable
        displacement : SX (nv,), optional
            A virtual one to add, of first order: derivatives by it are those dual to v.
        """

    def between(
        self, q: ca.SX, v: ca.SX, value: Value, displacement: ca.SX
    ) -> Callable[[Frame, Frame], Motion] | None:
        """Return (a, b) -> the motion of frame b as seen from a, in its axes, where that is short.

        Arguments as for `motions`. None by default: then it is taken from world axes.
        """
        del q, v, value, displacement
        return None

    def find_counted_angle(self, a: Frame, b: Frame, q: ca.SX, displacement: ca.SX) -> ca.SX | None:
        """Return the angle of frame b about z of a by a coordinate, which counts full turns [rad].

        None where there is no coordinate of a turn about z of both, as by default.
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
        """Return the velocities of all bodies that go from q to q (+) h v in a steady move.

        Each centre of mass at constant velocity in world axes, each body turning at constant
        angular velocity in its own. Those of the move that ends at q have -h.

        Parameters
        ----------
        q, v : SX (nq,), (nv,)
        h : SX scalar [s]
            Any number; at zero they are those at q.
        value : callable
        """

    @abstractmethod
    def momentum(self, q: ca.SX, twists: ca.SX, h: ca.SX, value: Value) -> ca.SX:
        """Return the momentum of bodies at q that leave with ``twists``, (nv,) [N s, N m s].

        That of the discrete Lagrangian of a step of h: what the gyroscopic torque w x J w takes in
        its first half is still in it. With -h it is that of bodies that arrive. At h = 0 the
        momentum of the twists at q is M v.
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

        Parameters
        ----------
        refuse : bool
            Whether a start that has no such coordinates is refused; else they are near it.

        Raises
        ------
        ValueError
            If there are none, naming the joint.
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
        """Return p.p of all Euler parameters, shape (n,)."""
        return ca.vertcat(ca.SX(0, 1), *(ca.sumsqr(q[b.q]) for b in self.blocks if b.ball))

    def renormalise(self, q: ca.SX) -> ca.SX:
        """Return q with every p divided by its norm."""
        parts = [normalise(q[b.q]) if b.ball else q[b.q] for b in self.blocks]
        return ca.vertcat(ca.SX(0, 1), *parts)

    def retract(self, q: ca.SX, displacement: ca.SX) -> ca.SX:
        """Return q after constant velocity v over h, ``displacement`` = h v; exact, norms kept."""
        parts = [
            turned(q[b.q], displacement[b.v]) if b.ball else q[b.q] + displacement[b.v]
            for b in self.blocks
        ]
        return ca.vertcat(ca.SX(0, 1), *parts)

    def retract_matrix(self, displacement: ca.SX) -> ca.SX:
        """Return T, shape (nv, nv): by T d(displacement) the end of `retract` is displaced."""
        parts = [
            turned_matrix(displacement[b.v]) if b.ball else ca.SX.eye(b.v.stop - b.v.start)
            for b in self.blocks
        ]
        return ca.diagcat(ca.SX(0, 0), *parts)
