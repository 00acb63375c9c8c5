"""What forces become in a Dynamics: their sums, what joints resist with, what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca

from nsopt.mechanics.element import Element, Force, Load, Rub

if TYPE_CHECKING:
    from nsopt.mechanics.assembly import Symbols

NOW = 1e-12
"""A time [s] over which a mean is the value."""


class ForceFunctions:
    """The functions of a Dynamics that concern forces, from the symbols of an assembly."""

    def __init__(self, symbols: Symbols) -> None:
        self._of = symbols

    def all(self, M: ca.SX) -> dict[str, Any]:
        """Return them by name."""
        s, zero = self._of.state, ca.SX.zeros(self._of.v.numel())
        g = s.value(self._of.gravity)
        forces = [e for e in self._of.elements if isinstance(e, Force)]
        weight = ca.SX(0)
        for body in self._of.mechanism.bodies:
            weight -= s.value(body.mass) * ca.dot(g, self._of.motions[body.name].r)
        energies = [force.energy(s) for force in forces]
        pushes = [
            self._of_loads(force.loads(s)) - self._of.gradient(energy).T
            for force, energy in zip(forces, energies, strict=True)
        ]
        applied = sum(pushes, -self._of.gradient(weight).T)
        external = sum((self._of_loads(force.loads(s)) for force in forces if force.external), zero)
        return {
            "applied": self._of.function("applied", "t q v p", applied),
            "external": self._of.function("external", "t q v p", external),
            "kinetic": self._of.function("kinetic", "t q v p", self._of.v.T @ M @ self._of.v / 2),
            "potential": self._of.function("potential", "t q v p", sum(energies, weight)),
            "resistance": self._resistance(forces, pushes),
            **self._readings(forces),
            **self._rubbing(),
        }

    def _of_loads(self, loads: list[Load]) -> ca.SX:
        zero = ca.SX.zeros(self._of.v.numel())
        return sum((ca.jacobian(x.velocity, self._of.v).T @ x.force for x in loads), zero)

    def _resistance(self, forces: list[Force], pushes: list[ca.SX]) -> ca.Function:
        joints = self._of.joints()
        parts = [ca.SX.zeros(self._of.v.numel()) for _ in joints]
        for force, push in zip(forces, pushes, strict=True):
            if (joint := resisted(force, joints)) is not None:
                parts[joints.index(joint)] += push
        reactions, at = ca.SX.sym("reactions", 6, len(self._of.rubbing)), self._of.placed
        for k, element in enumerate(self._of.rubbing):
            z = self._of.q[at : at + len(element.states)]
            now = Rub(ca.SX(NOW), z, reactions[:, k])
            joint = resisted(element, joints)
            if joint is not None:
                parts[joints.index(joint)] += self._of_loads([element.rub(self._of.state, now)])
            at += len(element.states)
        return ca.Function(
            "resistance",
            [self._of.t, self._of.q, self._of.v, self._of.p, reactions],
            self._of.in_place(self._of.wrenches(parts)),
            ["t", "q", "v", "p", "reactions"],
            ["resistance"],
        )

    def _readings(self, forces: list[Force]) -> dict[str, Any]:
        found = [
            (force.name, reading) for force in forces for reading in force.readings(self._of.state)
        ]
        values = ca.vertcat(ca.SX(0, 1), *(reading.value for _, reading in found))
        most = ca.vertcat(ca.SX(0, 1), *(reading.most for _, reading in found))
        return {
            "reading_names": tuple(f"{owner}.{reading.name}" for owner, reading in found),
            "reading_units": tuple(reading.unit for _, reading in found),
            "readings": self._of.function("readings", "t q v p", values),
            "reading_limits": self._of.function("reading_limits", "p", most),
        }

    def _rubbing(self) -> dict[str, Any]:
        s, joints, z = (
            self._of.state,
            self._of.joints(),
            ca.SX.sym("z", len(self._of.internal_names)),
        )
        h, reactions = ca.SX.sym("h"), ca.SX.sym("reactions", 6, len(self._of.rubbing))
        push, settled, at, rubbed = ca.SX.zeros(self._of.v.numel()), [], 0, []
        for k, element in enumerate(self._of.rubbing):
            joint = resisted(element, joints)
            if joint is None:
                raise ValueError(
                    f"{type(element).__name__} {element.name!r} rubs in no joint: none connects "
                    "its bodies"
                )
            rubbed.append(joints.index(joint))
            n = len(element.states)
            over = Rub(h, z[at : at + n], reactions[:, k])
            push += self._of_loads([element.rub(s, over)])
            settled.append(element.settled(s, over))
            at += n
        known = [self._of.t, self._of.q, self._of.v, self._of.p, h, z]
        end = ca.vertcat(ca.SX(0, 1), *settled)
        return {
            "rubbed": tuple(rubbed),
            "rubbing": ca.Function("rubbing", [*known, reactions], self._of.in_place(push)),
            "settled": ca.Function("settled", known, self._of.in_place(end)),
        }


def resisted(force: Force, joints: Sequence[Element]) -> Element | None:
    """Return the joint whose resistance a force is part of, if any.

    Raises
    ------
    ValueError
        If the joint named is unknown, or none is named and several connect the same bodies.
    """
    if force.joint is None:
        return None
    named = [joint for joint in joints if joint.name == force.joint]
    if force.joint and not named:
        raise ValueError(
            f"{type(force).__name__} {force.name!r} names the joint {force.joint!r}, which is not "
            f"there: one of {', '.join(joint.name for joint in joints) or 'none'}"
        )
    bodies = {frame.body for frame in force.frames}
    if named and {frame.body for frame in named[0].frames} != bodies:
        raise ValueError(
            f"{type(force).__name__} {force.name!r} names the joint {force.joint!r}, which "
            "connects other bodies"
        )
    found = named or [joint for joint in joints if {frame.body for frame in joint.frames} == bodies]
    if len(found) > 1:
        raise ValueError(
            f"{type(force).__name__} {force.name!r} may resist {found[0].name!r} or "
            f"{found[1].name!r}: name one by joint=..."
        )
    return found[0] if found else None
