"""Circles of bodies that turn about an axis fixed in the ground.

In a step the centre of mass of a free body goes straight. On such a hinge it goes along an arc,
which is longer than its chord: with distance D from the axis and angular velocity w about it, its
angular momentum is m D^2 w, that of the chord m D^2 sin(h w) / h, too little by about (h w)^2 / 6.
With the difference added, the kinetic energy of a step of h is that along the arc, and the body
turns at its rate for every h.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.algebra import without_round_off
from nsopt.arrays import Array
from nsopt.mechanics.coordinates.base import Value
from nsopt.mechanics.coordinates.spanning_tree import is_usable
from nsopt.mechanics.model.bodies import Body
from nsopt.mechanics.model.element import Constraint
from nsopt.mechanics.model.frame import Frame
from nsopt.mechanics.model.freedom import Axis, Freedom


class Circle(NamedTuple):
    """The circle of a centre of mass about an axis that is fixed in its body and in the ground."""

    axis: Array  # (3,) unit vector, in the axes of the body
    origin: ca.SX  # (3,) [m] a point on the axis, from the centre of mass

    @property
    def square(self) -> ca.SX:
        """The square of the radius [m^2]."""
        return ca.sumsqr(ca.cross(ca.SX(self.axis), self.origin))

    def carry(self, at: Frame, other: Frame, value: Value) -> Circle:
        """Return the circle of the body of a frame that is fixed to a frame ``at`` of this one."""
        A = without_round_off(np.asarray(other.axes) @ np.asarray(at.axes).T)
        return Circle(A @ self.axis, value(other.origin) + A @ (self.origin - value(at.origin)))


def find_lag(axis: ca.SX | Array, w: ca.SX, e0: ca.SX, e: ca.SX) -> ca.SX:
    """Return w - sin(h w) / h about an axis [rad/s], from (e0, e) = `turn_over` (w, h)."""
    return ca.dot(axis, w - 2 * e0 * e)


def find_circles(joints: Iterable[Constraint], value: Value) -> dict[str, Circle]:
    """Return the circles by body name: of bodies hinged to the ground, and of those fixed to them.

    The hinge may slide along its axis. Bodies whose centre of mass is on the axis are left out.
    """
    pairs = [(joint.frames, joint.freedom() or ()) for joint in joints if is_usable(joint)]
    held: dict[Body | None, Circle | None] = {None: None}  # None is at rest
    known = 0
    while known < len(held):
        known = len(held)
        for (a, b), freedom in pairs:
            if (a.body in held) == (b.body in held):
                continue
            at, other = (a, b) if a.body in held else (b, a)
            circle, axis = held[at.body], _find_axis(freedom)
            if not freedom:
                held[other.body] = circle and circle.carry(at, other, value)
            elif circle is None and axis is not None:
                held[other.body] = Circle(np.asarray(other.axes) @ axis, value(other.origin))
    circles = {body.name: x for body, x in held.items() if body is not None and x is not None}
    return {name: circle for name, circle in circles.items() if not circle.square.is_zero()}


def _find_axis(freedom: Freedom) -> Array | None:
    """Return the axis (3,) of a freedom that is one turn about it, with slides along it."""
    axes = [step for step in freedom if isinstance(step, Axis)]
    lines = {step.turn if any(step.turn) else step.slide for step in axes}
    turns = sum(any(step.turn) for step in axes)
    return np.array(lines.pop()) if len(axes) == len(freedom) and turns == len(lines) == 1 else None
