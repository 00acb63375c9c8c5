"""Functions of the forces of a mechanism: their sums, resistance of joints, outputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca

from nsopt.mechanics.equations.constraints import names_of_gaps
from nsopt.mechanics.equations.symbolic import SymbolicMechanism, VirtualWork
from nsopt.mechanics.model.element import Force, FrictionStep, Pressed
from nsopt.mechanics.model.resistance import resisted_joint


class ForceFunctions:
    """Builds the functions of a `Dynamics` that concern forces; arguments and units as there."""

    def __init__(self, symbolic: SymbolicMechanism) -> None:
        self._symbolic = symbolic

    def all(self, kinetic: ca.SX) -> dict[str, Any]:
        """Return all of them by name, given the kinetic energy."""
        s, m = self._symbolic.state, self._symbolic
        g = s.value(m.gravity)
        of_gravity = ca.SX(0)  # potential [J]
        for body in m.mechanism.bodies:
            of_gravity -= s.value(body.mass) * ca.dot(g, m.motions[body.name].r)
        applied, energy = -m.gradient(of_gravity).T, of_gravity
        # Those of the applied forces that work from outside, and those that answer to deviations.
        external, controlled = ca.SX.zeros(m.v.numel()), ca.SX.zeros(m.v.numel())
        for force, work in m.forces:
            loads = self._generalize(work.velocities)
            applied += loads
            external += loads if force.external else 0
            controlled += loads if force.feedback else 0
            for potential, sign in work.displacements:  # sign -1, by `VirtualWork.from_forces`
                applied += sign * m.gradient(potential).T
                energy -= sign * potential
        return {
            "applied": m.function("applied", "t q v p", applied),
            "scheduled": m.function("scheduled", "t q v p", applied - controlled),
            "external": m.function("external", "t q v p", external),
            "kinetic": m.function("kinetic", "t q v p", kinetic),
            "potential": m.function("potential", "t q v p", energy),
            **self._make_resistance(),
            **self._list_outputs([force for force, _ in m.forces]),
            **self._make_joint_friction(),
            **self._state_surfaces(),
        }

    def _generalize(self, loads: Iterable[tuple[ca.SX, ca.SX]]) -> ca.SX:
        """Return the generalized force (nv,) of pairs of velocity and force."""
        zero = ca.SX.zeros(self._symbolic.v.numel())
        return sum((ca.jacobian(u, self._symbolic.v).T @ force for u, force in loads), zero)

    def _make_resistance(self) -> dict[str, Any]:
        """Return the functions of the wrenches of springs, dampers and friction that resist joints.

        A wrench is force and torque on the body of frame b, (6,), about its origin, in world axes.
        """
        m, joints, h = self._symbolic, self._symbolic.joints(), ca.SX.sym("h")
        wrenches = [ca.SX.zeros(6) for _ in joints]
        for force, work in m.forces:
            if (joint := resisted_joint(force, joints)) is not None:
                wrenches[joints.index(joint)] += m.wrench(joint.frames[-1], work)
        # Of the joint of each friction element, force [N] and torque [N m] on the body of frame b.
        reactions = ca.SX.sym("reactions", 6, len(m.joint_friction))
        creep = ca.SX.sym("creep", len(m.joint_friction))
        for k, (element, joint, states) in enumerate(m.friction_elements()):
            if joint is not None:
                z = m.q[m.n_joint_coordinates :][states]
                over = FrictionStep(h, z, reactions[:, k], creep[k])
                work = VirtualWork.from_forces(ca.SX(0), [element.friction(m.state, over)])
                wrenches[joints.index(joint)] += m.wrench(joint.frames[-1], work)
        known = [m.t, m.q, m.v, m.p, h, reactions]
        total = m.evaluate(ca.horzcat(ca.SX(6, 0), *wrenches))
        names = ["t", "q", "v", "p", "h", "reactions"]
        by_laws = _by_laws(total, creep)
        return {
            "resistance": ca.Function("resistance", known, by_laws, names, ["resistance"]),
            "smoothed_resistance": ca.Function("smoothed_resistance", [*known, creep], total),
        }

    def _list_outputs(self, forces: list[Force]) -> dict[str, Any]:
        """Return names, units, values of what forces record, and the most laws are made for."""
        outputs = [
            (force.name, output)
            for force in forces
            for output in force.outputs(self._symbolic.state)
        ]
        values = ca.vertcat(ca.SX(0, 1), *(output.value for _, output in outputs))
        most = ca.vertcat(ca.SX(0, 1), *(output.most for _, output in outputs))
        return {
            "output_names": tuple(f"{owner}.{output.name}" for owner, output in outputs),
            "output_units": tuple(output.unit for _, output in outputs),
            "outputs": self._symbolic.function("outputs", "t q v p", values),
            "output_limits": self._symbolic.function("output_limits", "p", most),
        }

    def _state_surfaces(self) -> dict[str, Any]:
        """Return the functions of surfaces that forces press apart."""
        m = self._symbolic
        owners = [force for force, surfaces in m.pressed for _ in surfaces]
        surfaces = [surface for _, group in m.pressed for surface in group]
        gaps = [surface.gap for surface in surfaces]
        offsets = [gap.bore.offset if gap.bore is not None else ca.SX.nan(3) for gap in gaps]
        points, forces = [gap.point for gap in gaps], [surface.force for surface in surfaces]
        arms = [  # from the origin of the last frame, about which moments are
            point - m.state.motion(owner.frames[-1]).r
            for owner, point in zip(owners, points, strict=True)
        ]
        moments = [ca.cross(arm, force) for arm, force in zip(arms, forces, strict=True)]
        vectors = (points, offsets, forces, moments)
        columns = [ca.horzcat(ca.SX(3, 0), *x) for x in vectors]
        distance, scale, clearance = (
            ca.vertcat(ca.SX(0, 1), *(getattr(gap, name) for gap in gaps))
            for name in ("distance", "scale", "clearance")
        )
        return {
            "pressed_names": names_of_gaps((f.name, len(group)) for f, group in m.pressed),
            "pressed_owners": tuple(owner.name for owner in owners),
            "pressed": m.function("pressed", "t q v p", distance, *columns),
            "pressed_loss": self._make_losses(surfaces),
            "pressed_scale": m.function("pressed_scale", "p", scale),
            "pressed_clearance": m.function("pressed_clearance", "p", clearance),
        }

    def _make_losses(self, surfaces: list[Pressed]) -> ca.Function:
        """Return `Dynamics.pressed_loss`: forces at v on the velocities that ``mean`` gives."""
        m, mean = self._symbolic, ca.SX.sym("mean", self._symbolic.v.numel())
        powers = [
            sum(
                (ca.dot(ca.jtimes(x.velocity, m.v, mean), x.force) for x in surface.losing),
                ca.SX(0),
            )
            for surface in surfaces
        ]
        losses = m.evaluate(-ca.vertcat(ca.SX(0, 1), *powers))
        names = ["t", "q", "v", "p", "mean"]
        return ca.Function("pressed_loss", [m.t, m.q, m.v, m.p, mean], losses, names, ["loss"])

    def _make_joint_friction(self) -> dict[str, Any]:
        """Return the functions of friction in joints, a mean over a step h, and of its states."""
        m, z = self._symbolic, ca.SX.sym("z", len(self._symbolic.internal_names))
        h, reactions = ca.SX.sym("h"), ca.SX.sym("reactions", 6, len(m.joint_friction))
        creep = ca.SX.sym("creep", len(m.joint_friction))
        friction, friction_joints = ca.SX.zeros(m.v.numel()), []
        for k, (element, joint, states) in enumerate(m.friction_elements()):
            if joint is None:
                raise ValueError(
                    f"{type(element).__name__} {element.name!r} acts in no joint: none connects "
                    "its bodies"
                )
            friction_joints.append(m.joints().index(joint))
            over = FrictionStep(h, z[states], reactions[:, k], creep[k])
            friction += self._generalize([element.friction(m.state, over)])
        known = [m.t, m.q, m.v, m.p, h, z]
        ends = (force.advance_states(m.state, h, z[m.states_of(force)]) for force in m.stateful)
        end, total = ca.vertcat(ca.SX(0, 1), *ends), m.evaluate(friction)
        loaded, by_laws = [*known, reactions], _by_laws(total, creep)
        return {
            "friction_joints": tuple(friction_joints),
            "joint_friction": ca.Function("joint_friction", loaded, by_laws),
            "smoothed_friction": ca.Function("smoothed_friction", [*loaded, creep], total),
            "advance_states": ca.Function("advance_states", known, m.evaluate(end)),
        }


def _by_laws(expressions: list[ca.SX], creep: ca.SX) -> list[ca.SX]:
    """Return expressions with the creep of each law, for which 0 stands in `FrictionStep`."""
    values: list[ca.SX] = ca.substitute(expressions, [creep], [ca.SX.zeros(creep.numel())])
    return values
