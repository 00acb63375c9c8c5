"""Everything a result holds, from the accepted steps of a run."""

from __future__ import annotations

import json
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import rank
from nsopt.mechanics import INSTANT, Dynamics, Start, redundant_rows
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.record.evaluation import evaluate_at_times
from nsopt.simulation.record.node_reactions import NodeReactions, Nodes
from nsopt.simulation.record.pressed_surfaces import PressedSurfaces
from nsopt.stored import TIME, VARIABLES

Array = NDArray[np.float64]
AXES = ("x", "y", "z")


class Record:
    """Everything a result holds, evaluated at all times at once.

    Parameters
    ----------
    dynamics : Dynamics
    start : Start
    p : (np,)
    steps : AcceptedSteps
    thinned : bool
        Whether steps were left out.
    at_nodes : (n, np), (n, nv), optional
        Parameters, inputs among them, and forces of drives at the nodes [N, N m], where they are
        not those given to a simulation.
    gains : float, float [1/s], optional
        `Scheme.gains`.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        start: Start,
        p: Array,
        steps: AcceptedSteps,
        thinned: bool = False,
        at_nodes: tuple[Array, Array] | None = None,
        gains: tuple[float, float] | None = None,
    ) -> None:
        self.dynamics, self.p, self.steps = dynamics, p, steps
        self._gains = gains
        n = len(steps) + 1
        self._at_nodes = at_nodes or (np.tile(p, (n, 1)), np.zeros((n, dynamics.nv)))
        at_end = np.append(True, steps.at_end | thinned)
        self._begun = np.flatnonzero(~at_end)  # steps whose forces belong to their start
        self.t = np.append(start.t, steps.t)
        self.q, self.v = np.vstack([start.q, steps.q]), np.vstack([start.v, steps.v])
        self.h = self.each("h")
        self.lam, self.mu = self.each("impulse"), self.each("joint_impulse")
        known = (self.t, self.q, self.v, p, self.h)
        self.pressed = PressedSurfaces(dynamics, *known) if dynamics.pressed_names else None

    def each(self, name: str) -> Array:
        """Return a step variable over time, NaN at the start."""
        rows: Array = getattr(self.steps, name)
        return np.concatenate([np.full((1, *rows.shape[1:]), np.nan), rows])

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
            "axis": list(AXES),
            "quaternion": ["e0", "e1", "e2", "e3"],
        }

    def variables(self) -> dict[str, tuple[tuple[str, ...], Any, dict[str, Any]]]:
        """Return dimensions, values and attributes of every variable, by name."""
        values = self.states() | self.surfaces() | self.joints() | self.energies() | self.solver()
        return {
            name: (dims, values[name], {"units": units, "long_name": text})
            for name, (dims, units, text) in VARIABLES.items()
        } | self.outputs()

    def outputs(self) -> dict[str, tuple[tuple[str, ...], Any, dict[str, Any]]]:
        """Return the outputs of forces and the efforts of drives, as variables of their names."""
        d, values = self.dynamics, np.hstack([self.over("outputs"), self.efforts()])
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
        """Return coordinates, velocities and poses."""
        position, quaternion, velocity, angular_velocity = self.poses()
        return {
            "h": self.h,
            "q": self.q,
            "v": self.v,
            "body_position": position,
            "body_quaternion": quaternion,
            "body_velocity": velocity,
            "body_angular_velocity": angular_velocity,
            "euler_norm_error": self.norm_error(),
        }

    def surfaces(self) -> dict[str, Array]:
        """Return gaps and forces of contacts, then of the surfaces that forces press apart."""
        values, loss = self.contacts(), {"contact_loss": self.each("loss")}
        if self.pressed is None:
            return values | loss
        more = self.pressed.contacts()
        return {name: np.concatenate([x, more[name]], axis=1) for name, x in values.items()} | loss

    def contacts(self) -> dict[str, Array]:
        """Return gaps and contact forces."""
        distance = self.over("distance")
        # The impulse of a step that goes by its start belongs to the gradient of the gap function
        # there, which is the slope times a unit normal.
        impulse = self.lam.copy()
        impulse[self._begun] *= self.over("slope", before=True)[self._begun]
        force = impulse / self.h[:, None]
        push = self.directions("contact_normals") * force[:, :, None]
        return {
            "gap": distance,
            "impulse": impulse,
            "contact_force": push + self.friction(),
            "contact_point": self.columns("contact_points"),
            "contact_offset": self.columns("contact_offsets"),
            "complementarity_residual": np.abs(force * distance),
            "gap_violation": np.maximum(-distance, 0),
        }

    def friction(self) -> Array:
        """Return the tangential contact forces (time, contact, 3) [N]."""
        force = self.each("slip_impulse") / self.h[:, None]
        along = self.directions("slip_directions") * force[:, :, None]
        friction = np.zeros((len(self.t), len(self.dynamics.contact_names), 3))
        for k, contact in enumerate(self.dynamics.slip_contacts):
            friction[:, contact] += along[:, k]
        return friction

    def joints(self) -> dict[str, Array]:
        """Return reactions and closure of joints, those with clearance included."""
        wrench = self.reactions()
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

    def energies(self) -> dict[str, Array]:
        """Return energies and the work from outside."""
        kinetic, potential = self.over("kinetic")[:, 0], self.over("potential")[:, 0]
        total, work = kinetic + potential, self.external_work()
        return {
            "kinetic_energy": kinetic,
            "potential_energy": potential,
            "total_energy": total,
            "external_work": work,
            "dissipated_energy": total[0] + work - total,
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

    def over(self, name: str, before: bool = False) -> Array:
        """Return a function of the dynamics at all times (or at the start of each step)."""
        function: ca.Function = getattr(self.dynamics, name)
        known = {"t": self.t, "q": self.q, "v": self.v}
        arguments = [
            np.tile(self.p, (len(self.t), 1)) if n == "p" else known[n].reshape(len(self.t), -1)
            for n in function.name_in()
        ]
        if before:
            arguments = [np.vstack([a[:1], a[:-1]]) for a in arguments]
        return evaluate_at_times(function, *arguments)[0]

    def columns(self, name: str, before: bool = False) -> Array:
        """Return a function whose value is (3, n) as an array (time, n, 3)."""
        values = self.over(name, before)
        return values.reshape(len(self.t), -1, 3)

    def directions(self, name: str) -> Array:
        """Return a function whose value is (3, n), where each step takes directions."""
        directions = self.columns(name)
        if self._begun.size:
            directions[self._begun] = self.columns(name, before=True)[self._begun]
        return directions

    def efforts(self) -> Array:
        """Return efforts of drives that keep joints (time, drive), means over the step."""
        p = np.tile(self.p, (len(self.t), 1))
        (impulses,) = evaluate_at_times(self.dynamics.efforts, self.t, self.q, p, self.mu)
        return impulses / self.h[:, None]

    def reactions(self) -> Array:
        """Return force and torque of each joint (time, joint, 6); of contacts over the step."""
        d, n = self.dynamics, len(self.t)
        if not d.joint_names:
            return np.zeros((n, 0, 6))
        begun, slip = self._begun, self.each("slip_impulse")
        t, q = self.t.copy(), self.q.copy()
        t[begun], q[begun] = self.t[begun - 1], self.q[begun - 1]
        p, drive = self._at_nodes
        bent, h = self._rubbing()
        nodes = Nodes(
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
        return NodeReactions(d, n, self._gains).wrenches(nodes)

    def resistance(self, wrench: Array) -> Array:
        """Return the resistance of each joint (time, joint, 6) under reactions (time, joint, 6)."""
        d, n = self.dynamics, len(self.t)
        reactions = wrench[:, list(d.friction_joints)].reshape(n, 6 * len(d.friction_joints))
        q, h = self._rubbing()
        known = (self.t, q, self.v, self._at_nodes[0], h, reactions)
        return evaluate_at_times(d.resistance, *known)[0].reshape(n, -1, 6)

    def _rubbing(self) -> tuple[Array, Array]:
        """Return coordinates and h of which friction is a mean: bristles at the start of a step."""
        q, h, moving = self.q.copy(), self.h.copy(), self.dynamics.nq
        moving -= len(self.dynamics.internal_names)
        # Where steps were left out, it is not known how they were then.
        known = np.abs(np.diff(self.t) - self.h[1:]) <= 1e-6 * self.h[1:]
        q[1:][known, moving:], h[0] = self.q[:-1][known, moving:], INSTANT
        return q, h

    def external_work(self) -> Array:
        """Return the work of applied loads since the start (time,) [J]."""
        return np.append(0.0, np.cumsum(self.steps.work))

    def violation(self, distance: Array) -> Array:
        """Return the largest residual of each joint (time, joint): closure, or depth in a wall."""
        d = self.dynamics
        closure = np.abs(self.over("closure"))
        violation = np.zeros((len(self.t), len(d.joint_names)))
        for j, name in enumerate(d.joint_names):
            rows = [k for k, owner in enumerate(d.closure_names) if owner == name]
            gaps = [k for k, owner in enumerate(d.contact_owners) if owner == name]
            depth = np.maximum(-distance[:, gaps], 0)
            violation[:, j] = np.max(np.hstack([closure[:, rows], depth]), axis=1, initial=0.0)
        return violation

    def norm_error(self) -> Array:
        """Return by how much a norm of Euler parameters is off one (time,)."""
        norms = np.sqrt(self.over("norms"))
        error: Array = np.max(np.abs(norms - 1), axis=1, initial=0.0)
        return error

    def poses(self) -> tuple[Array, ...]:
        """Return positions, Euler parameters and both velocities (time, body, 3 or 4)."""
        n = len(self.t)
        values = evaluate_at_times(self.dynamics.poses, self.q, self.v, np.tile(self.p, (n, 1)))
        return tuple(x.reshape(n, -1, k) for x, k in zip(values, (3, 4, 3, 3), strict=True))

    def redundant(self) -> dict[str, Any]:
        """Return the number of redundant joint rows, by joint too, and of redundant contacts."""
        most = 0
        pressed = np.nan_to_num(self.lam) > 0
        for active in np.unique(pressed, axis=0):
            k = int(np.flatnonzero(np.all(pressed == active, axis=1))[0])
            node = k - 1 if k in self._begun else k
            W = np.asarray(self.dynamics.gap_matrix(self.t[node], self.q[node], self.p))
            most = max(most, int(active.sum()) - rank(W[:, active]))
        rows = redundant_rows(self.dynamics, self.t[0], self.q[0], self.p)
        return {
            "redundant_joint_rows": sum(rows.values()),
            "redundant_rows": json.dumps(rows),
            "redundant_contacts": most,
        }


def _names(names: tuple[str, ...]) -> NDArray[np.str_]:
    return np.array(names, dtype=str)
