"""Angles and lengths of joints, and their rates, whatever the coordinates of the mechanism."""

from __future__ import annotations

from typing import Any

import casadi as ca

from nsopt.mechanics.equations.symbolic import SymbolicMechanism
from nsopt.mechanics.model.element import Constraint
from nsopt.mechanics.model.freedom import Axis, X, Y, Z

SLIDES = (X, Y, Z)


def joint_coordinate_functions(s: SymbolicMechanism) -> dict[str, Any]:
    """Return the functions of a `Dynamics` that concern freedoms of joints, by name.

    Of joints that slide along axes of frame a and turn about its z; joints that turn in other ways
    have none.
    """
    names: list[str] = []
    units: list[str] = []
    values: list[ca.SX] = []
    rates: list[ca.SX] = []
    for joint in s.mechanism.joints:
        for axis in _axes(joint):
            names.append(f"{joint.name}.{axis.name}")
            units.append("rad" if any(axis.turn) else "m")
            value, rate = _coordinate(s, joint, axis)
            values.append(value)
            rates.append(rate)
    columns = (ca.vertcat(ca.SX(0, 1), *x) for x in (values, rates))
    return {
        "freedom_names": tuple(names),
        "freedom_units": tuple(units),
        "freedoms": s.function("freedoms", "t q v p", *columns),
    }


def _axes(joint: Constraint) -> list[Axis]:
    """Return the freedoms of a joint that has slides and at most one turn, about z of frame a."""
    freedom = joint.freedom() or ()
    axes = [axis for axis in freedom if isinstance(axis, Axis)]
    turning = [axis for axis in axes if any(axis.turn)]
    if len(axes) < len(freedom) or any(axis.turn != Z for axis in turning) or len(turning) > 1:
        return []
    return axes


def _coordinate(s: SymbolicMechanism, joint: Constraint, axis: Axis) -> tuple[ca.SX, ca.SX]:
    """Return an angle [rad] or length [m] and its rate, from the motions of both frames."""
    a, b = (s.state.motion(frame) for frame in joint.frames)
    if any(axis.turn):
        x = b.A[:, 0]
        angle = ca.atan2(ca.dot(a.A[:, 1], x), ca.dot(a.A[:, 0], x))
        return angle, ca.dot(a.A[:, 2], b.w - a.w)
    along = a.A[:, SLIDES.index(axis.slide)]
    return ca.dot(along, b.r - a.r), ca.dot(along, b.v - a.velocity_at(b.r))
