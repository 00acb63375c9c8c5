"""Everything a result holds, from the accepted steps of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics, redundancy
from nsopt.mechanics.rank import rank
from nsopt.stepping.initial import Start
from nsopt.stepping.taken import Taken

Array = NDArray[np.float64]
AXES = ("x", "y", "z")


class Record:
    """Everything a result holds, evaluated at all times at once."""

    def __init__(self, dynamics: Dynamics, start: Start, p: Array, steps: Sequence[Taken]):
        self.dynamics, self.p, self.steps = dynamics, p, steps
        self.t = np.array([start.t, *(s.t for s in self.steps)])
        self.q = np.array([start.q, *(s.q for s in self.steps)])
        self.v = np.array([start.v, *(s.v for s in self.steps)])
        self.h = self.each("h")
        self.lam, self.mu = self.each("impulse"), self.each("joint_impulse")

    def each(self, name: str) -> Array:
        """Return a step variable over time, NaN at the start."""
        rows = [np.asarray(getattr(s, name), dtype=float) for s in self.steps]
        shape = rows[0].shape if rows else np.shape(self._empty(name))
        return np.array([np.full(shape, np.nan), *rows])

    def _empty(self, name: str) -> Array:
        d = self.dynamics
        sizes = {
            "impulse": len(d.contact_names),
            "gap": len(d.contact_names),
            "joint_impulse": len(d.closure_names),
        }
        return np.zeros(sizes[name]) if name in sizes else np.zeros(())

    def coordinates(self) -> dict[str, Any]:
        """Return time, and the labels of the other dimensions."""
        d = self.dynamics
        return {
            "time": self.t,
            # q and v are variables over (time, q) and (time, v), so their labels need other names.
            "q_name": ("q", list(d.q_names)),
            "v_name": ("v", list(d.v_names)),
            "contact": _names(d.contact_names),
            "joint": _names(d.joint_names),
            "body": [body.name for body in d.mechanism.bodies],
            "axis": list(AXES),
            "quaternion": ["e0", "e1", "e2", "e3"],
        }

    def rows(self) -> list[tuple[str, tuple[str, ...], Any, str, str]]:
        """Return name, dimensions, values, units and meaning of every variable."""
        kinetic, potential = self.over("kinetic")[:, 0], self.over("potential")[:, 0]
        work = self.external_work()
        total = kinetic + potential
        distance = self.over("distance")
        force = self.lam / self.h[:, None]
        time, contact, joint = ("time",), ("time", "contact"), ("time", "joint")
        position, quaternion = self.poses()
        return [
            ("h", time, self.h, "s", "step size"),
            ("q", ("time", "q"), self.q, "m, 1", "coordinates"),
            ("v", ("time", "v"), self.v, "m/s, rad/s", "velocities, angular ones in body axes"),
            ("gap", contact, distance, "m", "distance of the surfaces"),
            ("impulse", contact, self.lam, "N s", "contact impulse over the step"),
            (
                "contact_force",
                (*contact, "axis"),
                self.contact_force(force),
                "N",
                "contact force on the body of frame b, mean over the step",
            ),
            (
                "contact_point",
                (*contact, "axis"),
                self.columns("contact_points"),
                "m",
                "where the surfaces touch or would touch",
            ),
            (
                "contact_offset",
                (*contact, "axis"),
                self.columns("contact_offsets"),
                "m",
                "place inside a bore, in the axes of frame a; NaN for planes",
            ),
            (
                "joint_reaction",
                (*joint, "axis"),
                self.reactions()[:, :, :3],
                "N",
                "force of the joint on the body of frame b, mean over the step",
            ),
            (
                "joint_reaction_torque",
                (*joint, "axis"),
                self.reactions()[:, :, 3:],
                "N m",
                "torque of the joint about the origin of frame b",
            ),
            ("kinetic_energy", time, kinetic, "J", "kinetic energy"),
            ("potential_energy", time, potential, "J", "energy of gravity and springs"),
            ("total_energy", time, total, "J", "kinetic and potential energy"),
            ("external_work", time, work, "J", "work of applied loads since the start"),
            (
                "dissipated_energy",
                time,
                total[0] + work - total,
                "J",
                "energy lost in impacts, dampers and the step equations",
            ),
            (
                "motion_residual",
                time,
                self.each("motion_residual"),
                "N",
                "largest residual of the equations of motion",
            ),
            (
                "complementarity_residual",
                contact,
                np.abs(force * self.each("gap")),
                "N m",
                "contact force times gap",
            ),
            ("gap_violation", contact, np.maximum(-distance, 0), "m", "depth inside the wall"),
            (
                "constraint_violation",
                joint,
                self.violation(distance),
                "m",
                "largest residual of each joint (directions: rad)",
            ),
            ("euler_norm_error", time, self.norm_error(), "1", "largest | |p| - 1 |"),
            ("iterations", time, self.each("iterations"), "1", "solver iterations"),
            ("retries", time, self.retries(), "1", "attempts beyond the first"),
            ("solve_time", time, self.each("solve_time"), "s", "time in the solver"),
            (
                "step_reason",
                time,
                np.array(["start", *(s.reason for s in self.steps)]),
                "",
                "why h is what it is, and how the step was found",
            ),
            ("body_position", ("time", "body", "axis"), position, "m", "centres of mass"),
            (
                "body_quaternion",
                ("time", "body", "quaternion"),
                quaternion,
                "1",
                "Euler parameters, body to world",
            ),
        ]

    def retries(self) -> Array:
        """Return how many attempts failed before each step (time,)."""
        return np.array([np.nan, *(len(s.tried) for s in self.steps)])

    def retry_log(self) -> list[dict[str, Any]]:
        """Return when steps were retried, and what each failed attempt fell short of."""
        return [{"t": s.t, "tried": s.tried} for s in self.steps if s.tried]

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
        values = function.map(len(self.t))(*(a.T for a in arguments))
        return np.asarray(ca.densify(values)).T

    def columns(self, name: str, before: bool = False) -> Array:
        """Return a function whose value is (3, n) as an array (time, n, 3)."""
        values = self.over(name, before)
        return values.reshape(len(self.t), -1, 3)

    def contact_force(self, force: Array) -> Array:
        """Return the force vectors (time, contact, 3) from their sizes (time, contact)."""
        # W, and so the direction of the force, was taken at the start of the step.
        size = force * self.over("slope", before=True)
        return self.columns("contact_normals", before=True) * size[:, :, None]

    def reactions(self) -> Array:
        """Return force and torque of each joint (time, joint, 6), means over the step."""
        d, n = self.dynamics, len(self.t)
        if not d.joint_names:
            return np.zeros((n, 0, 6))
        q = np.vstack([self.q[:1], self.q[:-1]])
        t = np.append(self.t[:1], self.t[:-1])
        p = np.tile(self.p, (n, 1))
        values = d.reactions.map(n)(t[None], q.T, p.T, self.mu.T, self.lam.T)
        wrenches = np.asarray(ca.densify(values)).T.reshape(n, -1, 6)
        wrenches[0] = np.nan
        return wrenches / self.h[:, None, None]

    def external_work(self) -> Array:
        """Return the work of applied loads since the start (time,) [J]."""
        # Load at the start of the step times mean velocity is the work that the step equations do.
        load = self.over("external", before=True)
        mean = (self.v + np.vstack([self.v[:1], self.v[:-1]])) / 2
        return np.cumsum(np.nan_to_num(self.h) * np.sum(load * mean, axis=1))

    def violation(self, distance: Array) -> Array:
        """Return the largest residual of each joint (time, joint): closure, or depth in a wall."""
        d = self.dynamics
        closure = np.abs(self.over("closure"))
        found = np.zeros((len(self.t), len(d.joint_names)))
        for j, name in enumerate(d.joint_names):
            rows = [k for k, owner in enumerate(d.closure_names) if owner == name]
            gaps = [k for k, owner in enumerate(d.contact_owners) if owner == name]
            depth = np.maximum(-distance[:, gaps], 0)
            found[:, j] = np.max(np.hstack([closure[:, rows], depth]), axis=1)
        return found

    def norm_error(self) -> Array:
        """Return by how much a norm of Euler parameters is off one (time,)."""
        norms = np.sqrt(self.over("norms"))
        error: Array = np.max(np.abs(norms - 1), axis=1, initial=0.0)
        return error

    def poses(self) -> tuple[Array, Array]:
        """Return positions (time, body, 3) and Euler parameters (time, body, 4)."""
        n = len(self.t)
        r, e = self.dynamics.poses.map(n)(self.q.T)
        return np.asarray(r).T.reshape(n, -1, 3), np.asarray(e).T.reshape(n, -1, 4)

    def redundant(self) -> dict[str, int]:
        """Return how many joint rows, and at most contacts at once, others imply."""
        most = 0
        pressed = np.nan_to_num(self.lam) > 0
        for active in np.unique(pressed, axis=0):
            k = int(np.flatnonzero(np.all(pressed == active, axis=1))[0])
            W = np.asarray(self.dynamics.gap_matrix(self.t[k - 1], self.q[k - 1], self.p))
            most = max(most, int(active.sum()) - rank(W[:, active]))
        rows = redundancy(self.dynamics)
        return {"redundant_joint_rows": rows, "redundant_contacts": most}


def _names(names: tuple[str, ...]) -> NDArray[np.str_]:
    return np.array(names, dtype=str)
