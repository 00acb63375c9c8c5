"""Everything a result holds, from the accepted steps of a run."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import new_directions
from nsopt.arrays import Array
from nsopt.mechanics import INSTANT, redundant_rows
from nsopt.simulation.record.contact_judge import After, Mask, after_nodes
from nsopt.simulation.record.evaluated_steps import EvaluatedSteps, evaluate_at_times
from nsopt.simulation.record.node_equations import Nodes, body_accelerations
from nsopt.simulation.record.node_forces import NodeForces, node_forces
from nsopt.simulation.record.pressed_surfaces import PressedSurfaces
from nsopt.stored import TIME, VARIABLES

AXES = ("x", "y", "z")


GROUPS = {
    "states": "h q v euler_norm_error",
    "bodies": "body_position body_quaternion body_velocity body_angular_velocity",
    "surfaces": "gap impulse impact_impulse contact_mode contact_force contact_point "
    "contact_offset contact_loss contact_slip complementarity_residual gap_violation",
    "joints": "joint_reaction joint_reaction_torque constraint_violation joint_resistance "
    "joint_resistance_force",
    "freedoms": "joint_coordinate joint_rate",
    "accelerations": "lasting_force acceleration body_acceleration body_angular_acceleration",
    "energies": "kinetic_energy potential_energy total_energy external_work dissipated_energy "
    "projection_work",
    "solver": "motion_residual iterations retries solve_time step_reason tried",
}
"""The variables that each method of a `Record` returns."""


class Record(EvaluatedSteps):
    """Everything a result holds."""

    @cached_property
    def pressed(self) -> PressedSurfaces | None:
        """The surfaces that forces press apart, if any."""
        if not self.dynamics.pressed_names:
            return None
        return PressedSurfaces(self.dynamics, self.t, self.q, self.v, self._at_nodes[0], self.h)

    def coordinates(self) -> dict[str, Any]:
        """Return time, and the labels of the other dimensions."""
        d = self.dynamics
        return {
            "time": self.t,
            # q and v are variables over (time, q) and (time, v), so their labels need other names.
            "q_name": ("q", list(d.q_names)),
            "v_name": ("v", list(d.v_names)),
            "contact": _names(d.contact_names + d.pressed_names),
            "joint": _names(d.joint_names + (self.pressed.joints if self.pressed else ())),
            "body": [body.name for body in d.mechanism.bodies],
            "freedom": _names(d.freedom_names),
            "axis": list(AXES),
            "quaternion": ["e0", "e1", "e2", "e3"],
        }

    def variables(
        self, wanted: Collection[str] = tuple(VARIABLES)
    ) -> dict[str, tuple[tuple[str, ...], Any, dict[str, Any]]]:
        """Return dimensions, values and attributes of the variables wanted, by name."""
        values: dict[str, Array] = {}
        for group, names in GROUPS.items():
            if {*names.split()} & {*wanted}:
                values |= getattr(self, group)()
        stored = {
            name: (dims, values[name], {"units": units, "long_name": text})
            for name, (dims, units, text) in VARIABLES.items()
            if name in wanted
        } | self.outputs()
        return {name: (dims, _equate_nans(x), told) for name, (dims, x, told) in stored.items()}

    def outputs(self) -> dict[str, tuple[tuple[str, ...], Any, dict[str, Any]]]:
        """Return the outputs of forces and the efforts of drives, as variables of their names."""
        d, p = self.dynamics, np.tile(self.p, (len(self.t), 1))
        # Efforts of drives that keep joints are means over the step.
        (efforts,) = evaluate_at_times(d.efforts, self.t, self.q, p, self.mu)
        values = np.hstack([self.over("outputs"), efforts / self.h[:, None]])
        limits = np.asarray(d.output_limits(self.p)).ravel()
        limits = np.append(limits, np.full(len(d.drive_names), np.inf))
        variables: dict[str, tuple[tuple[str, ...], Any, dict[str, Any]]] = {}
        names, units = d.output_names + d.drive_names, d.output_units + d.drive_units
        for k, name in enumerate(names):
            owner, _, quantity = name.rpartition(".")
            attrs = {"units": units[k], "long_name": f"{quantity} of {owner}"}
            variables[name] = (TIME, values[:, k], attrs | {"most": limits[k]})
        return variables

    def states(self) -> dict[str, Array]:
        """Return steps, coordinates and velocities."""
        off = np.max(np.abs(np.sqrt(self.over("norms")) - 1), axis=1, initial=0.0)
        return {"h": self.h, "q": self.q, "v": self.v, "euler_norm_error": off}

    def bodies(self) -> dict[str, Array]:
        """Return poses and velocities of bodies (time, body, 3 or 4)."""
        n = len(self.t)
        values = evaluate_at_times(self.dynamics.poses, self.q, self.v, np.tile(self.p, (n, 1)))
        names = ("position", "quaternion", "velocity", "angular_velocity")
        shaped = (x.reshape(n, -1, k) for x, k in zip(values, (3, 4, 3, 3), strict=True))
        return {f"body_{name}": x for name, x in zip(names, shaped, strict=True)}

    def surfaces(self) -> dict[str, Array]:
        """Return gaps and forces of contacts, then of the surfaces that forces press apart."""
        both = {"contact_loss": self.each("loss"), "contact_slip": self.columns("sliding")}
        values = self.contacts()
        if self.pressed is None:
            return values | both
        more = self.pressed.contacts()
        return {name: np.concatenate([x, more[name]], axis=1) for name, x in values.items()} | both

    def contacts(self) -> dict[str, Array]:
        """Return gaps and contact forces."""
        distance = self.over("distance")
        # The impulse of a step that goes by its start belongs to the gradient of the gap function
        # there, which is the slope times a unit normal.
        slope = np.ones_like(self.lam)
        if self._begun.size:
            slope[self._begun] = self.over("slope", before=True)[self._begun]
        impulse, impact = slope * self.lam, slope * self.each("impact_impulse")
        force = impulse / self.h[:, None]
        push = self.directions("contact_normals") * force[:, :, None]
        return {
            "gap": distance,
            "impulse": impulse,
            "impact_impulse": impact,
            "contact_mode": self.each("contact_mode"),
            "contact_force": push + self.friction(),
            "contact_point": self.columns("contact_points"),
            "contact_offset": self.columns("contact_offsets"),
            "complementarity_residual": np.abs(force * distance),
            "gap_violation": np.maximum(-distance, 0),
        }

    def friction(self) -> Array:
        """Return the tangential contact forces (time, contact, 3) [N]."""
        force = self.each("slip_impulse") / self.h[:, None]
        return self._sum(self.directions("slip_directions") * force[:, :, None])

    def _sum(self, along: Array) -> Array:
        """Return the sums over the slips (time, slip, 3) of each contact."""
        friction = np.zeros((len(self.t), len(self.dynamics.contact_names), 3))
        for k, contact in enumerate(self.dynamics.slip_contacts):
            friction[:, contact] += along[:, k]
        return friction

    def accelerations(self) -> dict[str, Array]:
        """Return accelerations and forces of contacts at the times, impacts left out."""
        d, n = self.dynamics, len(self.t)
        known = self._after.known[:, None]
        a = np.where(known, self._forces.acceleration, np.nan)
        normal = np.where(known, self._forces.normal, np.nan)
        # As impulses do, multipliers belong to gradients, which within a wall are no unit normals.
        normal = self.over("slope") * normal
        push = self.columns("contact_normals") * normal[:, :, None]
        lasting = push + self._sum(self.columns("slip_directions") * self._slip[:, :, None])
        if self.pressed is not None:
            lasting = np.concatenate([lasting, self.pressed.contacts()["contact_force"]], axis=1)
        at = (self.q, self.v, self._at_nodes[0], a)
        linear, angular = evaluate_at_times(body_accelerations(d), *at)
        return {
            "lasting_force": lasting,
            "acceleration": a,
            "body_acceleration": linear.reshape(n, -1, 3),
            "body_angular_acceleration": angular.reshape(n, -1, 3),
        }

    def joints(self) -> dict[str, Array]:
        """Return reactions and closure of joints, those with clearance included."""
        wrench = self._forces.reaction
        resistance, violation = self.resistance(wrench), self.violation(self.over("distance"))
        if self.pressed is not None:
            pressed = self.pressed.wrenches()
            none = np.zeros_like(pressed)
            wrench = np.concatenate([wrench, pressed], axis=1)
            resistance = np.concatenate([resistance, none], axis=1)
            violation = np.concatenate([violation, none[:, :, 0]], axis=1)
        return {
            "joint_reaction": wrench[:, :, :3],
            "joint_reaction_torque": wrench[:, :, 3:],
            "joint_resistance": resistance[:, :, 3:],
            "joint_resistance_force": resistance[:, :, :3],
            "constraint_violation": violation,
        }

    def freedoms(self) -> dict[str, Array]:
        """Return angles and lengths of joints, angles without jumps, and their rates."""
        d, n = self.dynamics, len(self.t)
        if not d.freedom_names:
            return {"joint_coordinate": np.zeros((n, 0)), "joint_rate": np.zeros((n, 0))}
        known = (self.t, self.q, self.v, np.tile(self.p, (n, 1)))
        value, rate = evaluate_at_times(d.freedoms, *known)
        for k, (name, unit) in enumerate(zip(d.freedom_names, d.freedom_units, strict=True)):
            if name in d.q_names:
                value[:, k] = self.q[:, d.q_names.index(name)]
            elif unit == "rad":
                value[:, k] = np.unwrap(value[:, k])
        return {"joint_coordinate": value, "joint_rate": rate}

    def energies(self) -> dict[str, Array]:
        """Return energies and the work from outside."""
        kinetic, potential = self.over("kinetic")[:, 0], self.over("potential")[:, 0]
        total, work = kinetic + potential, np.append(0.0, np.cumsum(self.steps.work))
        return {
            "kinetic_energy": kinetic,
            "potential_energy": potential,
            "total_energy": total,
            "external_work": work,
            "dissipated_energy": total[0] + work - total,
            "projection_work": np.append(0.0, np.cumsum(self.steps.projection_work)),
        }

    def solver(self) -> dict[str, Array]:
        """Return reason, attempts and effort of each step."""
        return {
            "motion_residual": self.each("motion_residual"),
            "iterations": self.each("iterations"),
            "retries": self.each("retries"),
            "solve_time": self.each("solve_time"),
            "step_reason": np.array(["start", *map(str, self.steps.reason)], dtype=object),
            "tried": np.array(["", *map("; ".join, self.steps.tried)], dtype=object),
        }

    @cached_property
    def _after(self) -> After:
        return after_nodes(self.each("contact_mode"), self._follows)

    @cached_property
    def _slip(self) -> Array:
        """Tangential forces of contacts right after the times (time, slip) [N]."""
        force = (self.each("slip_impulse") / self.h[:, None])[self._after.step]
        # The step that tells may end in an impact from which a contact flies off.
        lasting = self._after.pressing[:, list(self.dynamics.slip_contacts)]
        return np.where(self._after.known[:, None], np.where(lasting, force, 0.0), np.nan)

    @cached_property
    def _forces(self) -> NodeForces:
        return node_forces(
            self.dynamics, self._nodes, self._gains, self._slip, self._after.pressing
        )

    @cached_property
    def _nodes(self) -> Nodes:
        d, begun, slip = self.dynamics, self._begun, self.each("slip_impulse")
        t, q = self.t.copy(), self.q.copy()
        t[begun], q[begun] = self.t[begun - 1], self.q[begun - 1]
        p, drive = self._at_nodes
        bent, h = self._rubbing()
        return Nodes(
            t=self.t,
            q=self.q,
            v=self.v,
            p=p,
            drive=drive,
            h=h,
            z=bent[:, d.nq - len(d.internal_names) :],
            lam=self.lam / self.h[:, None],
            slip=slip / self.h[:, None],
            t_contact=t,
            q_contact=q,
        )

    def resistance(self, wrench: Array) -> Array:
        """Return the resistance of each joint (time, joint, 6) under reactions (time, joint, 6)."""
        d, n = self.dynamics, len(self.t)
        reactions = wrench[:, list(d.friction_joints)].reshape(n, 6 * len(d.friction_joints))
        q, h = self._rubbing()
        known = (self.t, q, self.v, self._at_nodes[0], h, reactions)
        return evaluate_at_times(d.resistance, *known)[0].reshape(n, -1, 6)

    @cached_property
    def _follows(self) -> Mask:
        """Whether each row but the first is of the step that begins at the one before."""
        follows: Mask = np.abs(np.diff(self.t) - self.h[1:]) <= 1e-6 * self.h[1:]
        return follows

    def _rubbing(self) -> tuple[Array, Array]:
        """Return coordinates and h of which friction is a mean: bristles at the start of a step."""
        q, h, moving = self.q.copy(), self.h.copy(), self.dynamics.nq
        moving -= len(self.dynamics.internal_names)
        # Where steps were left out, it is not known how they were then.
        known = self._follows
        q[1:][known, moving:], h[0] = self.q[:-1][known, moving:], INSTANT
        return q, h

    def violation(self, distance: Array) -> Array:
        """Return the largest residual of each joint (time, joint): closure, depth, or slip."""
        d = self.dynamics
        count = len(d.nonholonomic_names)
        B = self.over("nonholonomic_matrix").reshape(len(self.t), d.nv, count)
        slips = np.abs(np.einsum("njk,nj->nk", B, self.v) + self.over("nonholonomic_drift"))
        closure = np.abs(self.over("closure"))
        violation = np.zeros((len(self.t), len(d.joint_names)))
        for j, name in enumerate(d.joint_names):
            rows = [k for k, owner in enumerate(d.closure_names) if owner == name]
            gaps = [k for k, owner in enumerate(d.contact_owners) if owner == name]
            depth = np.maximum(-distance[:, gaps], 0)
            own = slips[:, [k for k, x in enumerate(d.nonholonomic_names) if x == name]]
            worst = np.hstack([closure[:, rows], depth, own])
            violation[:, j] = np.max(worst, axis=1, initial=0.0)
        return violation

    def redundant(self) -> dict[str, Any]:
        """Return what is redundant of joints, by joint too, and of contacts; the ways to move."""
        most = 0
        pressed = np.nan_to_num(self.lam) > 0
        changes = np.any(pressed[1:] != pressed[:-1], axis=1)
        begins = np.flatnonzero(np.append(True, changes))
        for k in begins[np.unique(pressed[begins], axis=0, return_index=True)[1]].tolist():
            active = pressed[k]
            node = k - 1 if k in self._begun else k
            at = self.t[node], self.q[node], self.p
            W = np.asarray(self.dynamics.gap_matrix(*at))[:, active]
            joints = np.asarray(self.dynamics.closure_matrix(*at)).reshape(-1, W.shape[0])
            _, gained = new_directions([joints, W.T])
            most = max(most, int(active.sum()) - gained)
        rows = redundant_rows(self.dynamics, self.t[0], self.q[0], self.p)
        at, d = (self.t[0], self.q[0], self.p), self.dynamics
        matrices = (d.closure_matrix, d.nonholonomic_matrix)
        held = new_directions([np.asarray(f(*at)).reshape(-1, d.nv) for f in matrices])
        return {
            "degrees_of_freedom": d.nv - sum(held),
            "redundant_joint_rows": sum(rows.values()),
            "redundant_rows": json.dumps(rows),
            "redundant_contacts": most,
        }


def _names(names: tuple[str, ...]) -> NDArray[np.str_]:
    return np.array(names, dtype=str)


def _equate_nans(values: Array) -> Array:
    """Return values in which all NaN have the same bits, so that equal runs make equal files.

    Which sign a NaN has, and which of two a sum hands on, differs with the code that adds.
    """
    unknown = np.isnan(values) if values.dtype.kind == "f" else np.zeros(1, bool)
    return np.where(unknown, np.nan, values) if unknown.any() else values
