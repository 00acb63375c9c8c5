"""What forces become in a Dynamics: their sums, what joints resist with, what is recorded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import casadi as ca

from nsopt.mechanics.element import Force, Rub
from nsopt.mechanics.reactions import Push
from nsopt.mechanics.resistance import resisted

if TYPE_CHECKING:
    from nsopt.mechanics.assembly import Symbols


class ForceFunctions:
    """The functions of a Dynamics that concern forces, from the symbols of an assembly."""

    def __init__(self, symbols: Symbols) -> None:
        self._of = symbols

    def all(self, M: ca.SX) -> dict[str, Any]:
        """Return them by name."""
        s, of = self._of.state, self._of
        g = s.value(of.gravity)
        weight = ca.SX(0)
        for body in of.mechanism.bodies:
            weight -= s.value(body.mass) * ca.dot(g, of.motions[body.name].r)
        applied, external, energy = -of.gradient(weight).T, ca.SX.zeros(of.v.numel()), weight
        controlled = ca.SX.zeros(of.v.numel())
        for force, push in of.pushes:
            loads = self._of_loads(push.velocities)
            applied += loads
            external += loads if force.external else 0
            controlled += loads if force.feedback else 0
            for potential, sign in push.displacements:
                applied += sign * of.gradient(potential).T
                energy -= sign * potential
        return {
            "applied": of.function("applied", "t q v p", applied),
            "scheduled": of.function("scheduled", "t q v p", applied - controlled),
            "external": of.function("external", "t q v p", external),
            "kinetic": of.function("kinetic", "t q v p", of.v.T @ M @ of.v / 2),
            "potential": of.function("potential", "t q v p", energy),
            "resistance": self._resistance(),
            **self._readings([force for force, _ in of.pushes]),
            **self._rubbing(),
        }

    def _of_loads(self, loads: Iterable[tuple[ca.SX, ca.SX]]) -> ca.SX:
        zero = ca.SX.zeros(self._of.v.numel())
        return sum((ca.jacobian(u, self._of.v).T @ force for u, force in loads), zero)

    def _resistance(self) -> ca.Function:
        of, joints, h = self._of, self._of.joints(), ca.SX.sym("h")
        found = [ca.SX.zeros(6) for _ in joints]
        for force, push in of.pushes:
            if (joint := resisted(force, joints)) is not None:
                found[joints.index(joint)] += of.wrench(joint.frames[-1], push)
        reactions = ca.SX.sym("reactions", 6, len(of.rubbing))
        for k, (element, joint, states) in enumerate(of.rubbers()):
            if joint is not None:
                over = Rub(h, of.q[of.placed :][states], reactions[:, k])
                push = Push.of(ca.SX(0), [element.rub(of.state, over)])
                found[joints.index(joint)] += of.wrench(joint.frames[-1], push)
        return ca.Function(
            "resistance",
            [of.t, of.q, of.v, of.p, h, reactions],
            of.in_place(ca.horzcat(ca.SX(6, 0), *found)),
            ["t", "q", "v", "p", "h", "reactions"],
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
        of, z = self._of, ca.SX.sym("z", len(self._of.internal_names))
        h, reactions = ca.SX.sym("h"), ca.SX.sym("reactions", 6, len(of.rubbing))
        push, settled, rubbed = ca.SX.zeros(of.v.numel()), [], []
        for k, (element, joint, states) in enumerate(of.rubbers()):
            if joint is None:
                raise ValueError(
                    f"{type(element).__name__} {element.name!r} rubs in no joint: none connects "
                    "its bodies"
                )
            rubbed.append(of.joints().index(joint))
            over = Rub(h, z[states], reactions[:, k])
            push += self._of_loads([element.rub(of.state, over)])
            settled.append(element.settled(of.state, over))
        known = [of.t, of.q, of.v, of.p, h, z]
        end = ca.vertcat(ca.SX(0, 1), *settled)
        return {
            "rubbed": tuple(rubbed),
            "rubbing": ca.Function("rubbing", [*known, reactions], of.in_place(push)),
            "settled": ca.Function("settled", known, of.in_place(end)),
        }
