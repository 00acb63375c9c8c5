"""Everything a result holds, from the accepted steps of a run: `Record`."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import has_independent_rows, new_directions
from nsopt.arrays import Array
from nsopt.mechanics import INSTANT, redundant_rows
from nsopt.simulation.record.contact_judge import After, find_after
from nsopt.simulation.record.evaluated_steps import EvaluatedSteps, evaluate_at_times
from nsopt.simulation.record.node_equations import Nodes, body_accelerations
from nsopt.simulation.record.node_forces import Mask, NodeForces, find_node_forces
from nsopt.simulation.record.pressed_surfaces import PressedSurfaces
from nsopt.stored import TIME, VARIABLES

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
"""The variables that each method of this name of a `Record` returns."""


class Record(EvaluatedSteps):
    """The variables of a result; those of a group are computed where one of them is wanted.

    Arrays are over (time, ...); what belongs to a step is at its end, NaN at the first time.
    """

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
            "axis": ["x", "y", "z"],
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
        return {name: (dims, _equate_nans(x), attrs) for name, (dims, x, attrs) in stored.items()}

    def outputs(self) -> dict[str, tuple[tuple[str, ...], Any, dict[str, Any]]]:
        """Return the outputs of forces and the efforts of drives, as variables of their names."""
        d, p = self.dynamics, np.tile(self.p, (len(self.t), 1))
        # Efforts of drives that keep joints are means over the step.
        (efforts,) = evaluate_at_times(d.efforts, self.t, self.q, p, self.mu)
        values = np.hstack([self.evaluate("outputs"), efforts / self.h[:, None]])
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
        off = np.max(np.abs(np.sqrt(self.evaluate("norms")) - 1), axis=1, initial=0.0)
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
        slip = self.evaluate_vectors("sliding")
        both = {"contact_loss": self.column("loss"), "contact_slip": slip}
        values = self.contacts()
        if self.pressed is None:
            return values | both
        more = self.pressed.contacts()
        return {name: np.concatenate([x, more[name]], axis=1) for name, x in values.items()} | both

    def contacts(self) -> dict[str, Array]:
        """Return gaps and contact forces."""
        distance = self.evaluate("distance")
        # The impulse of a step that goes by its start belongs to the gradient of the gap function
        # there, which is the slope times a unit normal.
        slope = np.ones_like(self.lam)
        if self._by_start.size:
            slope[self._by_start] = self.evaluate("slope", before=True)[self._by_start]
        impulse, impact = slope * self.lam, slope * self.column("impact_impulse")
        force = impulse / self.h[:, None]
        push = self.evaluate_directions("contact_normals") * force[:, :, None]
        return {
            "gap": distance,
            "impulse": impulse,
            "impact_impulse": impact,
            "contact_mode": self.column("contact_mode"),
            "contact_force": push + self.friction(),
            "contact_point": self.evaluate_vectors("contact_points"),
            "contact_offset": self.evaluate_vectors("contact_offsets"),
            "complementarity_residual": np.abs(force * distance),
            "gap_violation": np.maximum(-distance, 0),
        }

    def friction(self) -> Array:
        """Return the tangential contact forces (time, contact, 3) [N]."""
        force = self.column("slip_impulse") / self.h[:, None]
        return self._sum_slips(self.evaluate_directions("slip_directions") * force[:, :, None])

    def _sum_slips(self, along: Array) -> Array:
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
        normal = self.evaluate("slope") * normal
        push = self.evaluate_vectors("contact_normals") * normal[:, :, None]
        along = self.evaluate_vectors("slip_directions") * self._slip[:, :, None]
        lasting = push + self._sum_slips(along)
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
        resistance, violation = self.resistance(wrench), self.violation(self.evaluate("distance"))
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
        kinetic, potential = self.evaluate("kinetic")[:, 0], self.evaluate("potential")[:, 0]
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
            "motion_residual": self.column("motion_residual"),
            "iterations": self.column("iterations"),
            "retries": self.column("retries"),
            "solve_time": self.column("solve_time"),
            "step_reason": np.array(["start", *map(str, self.steps.reason)], dtype=object),
            "tried": np.array(["", *map("; ".join, self.steps.tried)], dtype=object),
        }

    @cached_property
    def _after(self) -> After:
        return find_after(self.column("contact_mode"), self._follows)

    @cached_property
    def _slip(self) -> Array:
        """Tangential forces of contacts right after the times (time, slip) [N]."""
        if self._contact_forces:
            force = self._contact_forces[1]
        else:
            force = (self.column("slip_impulse") / self.h[:, None])[self._after.step]
        # The step that decides may end in an impact from which a contact flies off.
        lasting = self._after.pressing[:, list(self.dynamics.slip_contacts)]
        return np.where(self._after.known[:, None], np.where(lasting, force, 0.0), np.nan)

    @cached_property
    def _forces(self) -> NodeForces:
        return find_node_forces(
            self.dynamics, self._nodes, self._gains, self._slip, self._after.pressing
        )

    @cached_property
    def _nodes(self) -> Nodes:
        d, rows = self.dynamics, self._by_start
        t, q = self.t.copy(), self.q.copy()
        if self._contact_forces:
            lam, slip = self._contact_forces
        else:
            lam, slip = (x / self.h[:, None] for x in (self.lam, self.column("slip_impulse")))
            t[rows], q[rows] = self.t[rows - 1], self.q[rows - 1]
        p, drive = self._at_nodes
        q_of_friction, h = self._find_friction_state()
        return Nodes(
            t=self.t,
            q=self.q,
            v=self.v,
            p=p,
            drive=drive,
            h=h,
            z=q_of_friction[:, d.nq - len(d.internal_names) :],
            lam=lam,
            slip=slip,
            t_contact=t,
            q_contact=q,
        )

    def resistance(self, wrench: Array) -> Array:
        """Return the resistance of each joint (time, joint, 6) under reactions (time, joint, 6)."""
        d, n = self.dynamics, len(self.t)
        reactions = wrench[:, list(d.friction_joints)].reshape(n, 6 * len(d.friction_joints))
        q, h = self._find_friction_state()
        known = (self.t, q, self.v, self._at_nodes[0], h, reactions)
        return evaluate_at_times(d.resistance, *known)[0].reshape(n, -1, 6)

    @cached_property
    def _follows(self) -> Mask:
        """Whether each row but the first is of the step that begins at the one before."""
        follows: Mask = np.abs(np.diff(self.t) - self.h[1:]) <= 1e-6 * self.h[1:]
        return follows

    def _find_friction_state(self) -> tuple[Array, Array]:
        """Return coordinates, and the h over which friction is a mean.

        Internal states of friction, the last coordinates, are those at the start of each step.
        """
        q, h = self.q.copy(), self.h.copy()
        internal = slice(self.dynamics.nq - len(self.dynamics.internal_names), None)
        # Where steps were left out, their starts are not known.
        known = self._follows
        q[1:][known, internal], h[0] = self.q[:-1][known, internal], INSTANT
        return q, h

    def violation(self, distance: Array) -> Array:
        """Return the largest residual of each joint (time, joint): closure, depth, or slip."""
        d = self.dynamics
        count = len(d.nonholonomic_names)
        B = self.evaluate("nonholonomic_matrix").reshape(len(self.t), d.nv, count)
        slips = np.abs(np.einsum("njk,nj->nk", B, self.v) + self.evaluate("nonholonomic_drift"))
        closure = np.abs(self.evaluate("closure"))
        violation = np.zeros((len(self.t), len(d.joint_names)))
        for j, name in enumerate(d.joint_names):
            rows = [k for k, owner in enumerate(d.closure_names) if owner == name]
            gaps = [k for k, owner in enumerate(d.contact_owners) if owner == name]
            depth = np.maximum(-distance[:, gaps], 0)
            slip = slips[:, [k for k, x in enumerate(d.nonholonomic_names) if x == name]]
            residuals = np.hstack([closure[:, rows], depth, slip])
            violation[:, j] = np.max(residuals, axis=1, initial=0.0)
        return violation

    def redundant(self) -> dict[str, Any]:
        """Return the redundant rows of joints and of contacts, and the degrees of freedom."""
        most = 0  # redundant contacts, of all sets that press at once
        pressed = np.nan_to_num(self.lam) > 0
        changes = np.any(pressed[1:] != pressed[:-1], axis=1)
        begins = np.flatnonzero(np.append(True, changes))
        _, first_of_each_set = np.unique(pressed[begins], axis=0, return_index=True)
        for k in begins[first_of_each_set].tolist():
            active = pressed[k]
            node = k - 1 if k in self._by_start else k
            at = self.t[node], self.q[node], self.p
            W = np.asarray(self.dynamics.gap_matrix(*at))[:, active]
            joints = np.asarray(self.dynamics.closure_matrix(*at)).reshape(-1, W.shape[0])
            if has_independent_rows(np.concatenate([joints, W.T])):
                continue
            _, independent = new_directions([joints, W.T])
            most = max(most, int(active.sum()) - independent)
        at, d = (self.t[0], self.q[0], self.p), self.dynamics
        rows = redundant_rows(d, *at)
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

    The sign of a NaN, and which of two a sum passes on, differ with the machine code.
    """
    unknown = np.isnan(values) if values.dtype.kind == "f" else np.zeros(1, bool)
    return np.where(unknown, np.nan, values) if unknown.any() else values
