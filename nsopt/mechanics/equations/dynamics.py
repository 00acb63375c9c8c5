"""The dynamics of a mechanism: CasADi functions of its state, from `assemble`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from nsopt.algebra import rank
from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.mechanics.equations.inertia import check_inertia
from nsopt.mechanics.equations.least_norm import PASSES, least_norm_impulses, self_stresses
from nsopt.mechanics.equations.made_together import MadeTogether
from nsopt.mechanics.model.element import Constraint, Contact, Element, JointFriction
from nsopt.mechanics.model.gap import Drag
from nsopt.mechanics.model.mechanism import Mechanism
from nsopt.mechanics.model.state import State
from nsopt.parameter import Numbers, Parameter, substitute

CLOSED = 1e-9  # residual of a joint [m, 1] up to which the stated start counts as closed


@dataclass(frozen=True, eq=False)
class Dynamics(MadeTogether):
    """A mechanism as functions of (t, q, v, p); p are the parameters, in the order of `parameters`.

    Generalized forces and impulses are dual to v. All functions are CasADi SX functions; they may
    be called with numbers or with SX or MX expressions. Impulses are mu (nm,) of ideal joints and
    constraints on velocities (`multiplier_names`), lam (ng,) of gaps (`contact_names`).

    Attributes
    ----------
    mass : (q, p) -> M (nv, nv)
    bias : (q, v, p) -> S (nv,)
        Gyroscopic and Coriolis terms: M vdot + S = applied + constraint and contact forces.
    twists : (q, v, h, p) -> (nu,)
        Velocities of the bodies in a steady move from q to q (+) h v, or, with -h, in one that ends
        at q (`Coordinates.twists`); in absolute coordinates v itself, and lags on circles.
    momentum : (q, twists, h, p) -> (nv,)
        Of bodies that leave q with twists, with -h that arrive there (`Coordinates.momentum`).
    applied, external : (t, q, v, p) -> (nv,)
        Sum of all applied forces but those of `joint_friction`; of these the sum of those that
        state `Force.external`.
    scheduled : (t, q, v, p) -> (nv,), `applied` without forces that are `Force.feedback`
    rate_matrix : (q) -> N (nq, nv), qdot = N v
    velocity : (q, qdot) -> v (nv,)
    norms, renormalise : (q) -> (n,), (nq,)
        Squared norms of the Euler parameters; q with all of them normalised.
    retract, retract_matrix : (q, move) -> (nq,), (move) -> T (nv, nv)
        q (+) move, where constant velocity v leads in h with move = h v; going back by the same
        move returns. By T d(move) the end of a move is displaced.
    closure : (t, q, p) -> (nc,), residuals of the ideal joints
    closure_matrix : (t, q, p) -> C (nc, nv), d(closure)/dt = C v + closure_drift
    effort_matrix : (t, q, p) -> F (nv, nm)
        F mu is the generalized impulse of the joints, then of constraints on velocities; (C^T, B^T)
        but for joints that are kept by drives (`Constraint.drives`).
    efforts : (t, q, p, mu) -> (nd,)
        Impulses of these drives, in the order of `drive_names`.
    closure_drift : (t, q, p) -> (nc,)
    nonholonomic_matrix, nonholonomic_drift : (t, q, p) -> B (nr, nv), (nr,)
        B v + drift are the rows of constraints on velocities.
    alignment : (t, q, p) -> (na,)
        `Constraint.alignment` of all ideal joints, one in a right assembly.
    gap, distance, slope : (t, q, p) -> (ng,)
        `Gap.function`, `Gap.distance`, `Gap.slope` of all contacts.
    contact_terms : (t, q, p) -> gap, gap_matrix, slope, contact_normals, in fewer operations
    slope_rates : (t, q, v, p) -> (ng,) [1/s], of slopes along the motion
    gap_matrix : (t, q, p) -> W (nv, ng)
        d(gap)/dt = W^T v + gap_drift; W lam is the generalized impulse of the contacts.
    gap_drift : (t, q, p) -> (ng,), by which gaps open at v = 0, as surfaces move with time
    closure_bias, gap_bias, slip_bias, nonholonomic_bias : (t, q, v, p) -> (nc,) ... (nr,)
        C vdot + closure_bias and W^T vdot + gap_bias are the second derivatives of closure and gap,
        T^T vdot + slip_bias and B vdot + nonholonomic_bias the first ones of slips and rows.
    gap_scale, clearance : (p) -> (ng,) [m]
        `Gap.scale`, for conditioning, and `Gap.clearance`, nan where there is none.
    sliding : (t, q, v, p) -> (3, ng + n) [m/s]
        Velocity of the material of body b on that of body a, along the surfaces of all gaps and
        then of the n surfaces that forces press apart.
    restitution, friction, viscous, tangential_restitution, stiffness : (p) -> (ng,)
        The numbers of each gap's `ContactLaw`.
    drag, static_drag : (p) -> (nd,)
        Limits of `drags` over the normal force [1, or m of what turns]: in motion, and at rest.
    slip_matrix : (t, q, p) -> T (nv, ns)
        T^T v + slip_drift are the slips of all `drags`, [m/s, rad/s] of body b against body a; T
        times slip impulses is their generalized impulse.
    slip_drift : (t, q, p) -> (ns,), slip at v = 0, as surfaces move with time
    slip_directions : (t, q, p) -> (3, ns)
        Directions of the friction force on body b, world axes; zero of what rolls and spins.
    contact_points, contact_normals, contact_offsets : (t, q, p) -> (3, ng)
        Offsets are those of `Bore`, nan where a contact is in no bore.
    bore_bends : (t, q, v, p) -> (ng,) [m/s^2]
        Accelerations of gaps in bores whose offsets move evenly; zero of others.
    bore_axes : (t, q, p) -> (3, 3 nb)
        `Bore.axes` side by side; nb is the number of `bores`.
    bore_gap : (u, p) -> gap (nb,), gradient (3, nb)
        `Gap.function` over the clearance, of eccentricities u (3, nb), and its gradient by each.
    kinetic, potential : (t, q, v, p) -> [J]
    resistance : (t, q, v, p, h, reactions) -> (6, nj)
        Force and torque (about the origin of frame b) by which springs, dampers and friction of
        each joint resist, on the body of its frame b, world axes. Friction is a mean over h, as in
        `joint_friction`, from the internal states in q, under the same ``reactions``.
    joint_friction : (t, q, v, p, h, z, reactions) -> (nv,)
        Mean friction of the `JointFriction` elements over a step of h, from internal states z (nz,)
        at its start and reactions (6, number of elements) of the joints in `friction_joints`.
    smoothed_resistance, smoothed_friction : (arguments of these two, creep) -> (6, nj), (nv,)
        With the speeds [rad/s, m/s] up to which dry friction is smoothed, one of each element, in
        place of those of laws; zero leaves that of the law.
    advance_states : (t, q, v, p, h, z) -> (nz,)
        Internal states of all forces at the end of a step; in q they come last.
    outputs : (t, q, v, p) -> (no,), values of all `Force.outputs`
    output_limits : (p) -> (no,), `Output.most` of each
    freedoms : (t, q, v, p) -> (nf,) [rad, m], (nf,) [rad/s, m/s]
        Angles, in (-pi, pi], and lengths of ideal joints that slide along axes of frame a or turn
        about its z, and their rates.
    pressed : (t, q, v, p) -> distance (n,) [m], point (3, n) [m], offset (3, n) [m],
            force (3, n) [N], moment (3, n) [N m]
        Of these surfaces (`Force.pressed`): offsets as of `Bore`; forces act on the body of the
        last frame, moments are about its origin; world axes.
    pressed_loss : (t, q, v, p, mean) -> (n,) [W]
        Power dissipated at each of them by forces at v on the velocities ``mean`` (nv,).
    pressed_scale, pressed_clearance : (p) -> (n,) [m]
        As `gap_scale` and `clearance`.
    reactions : (t, q, v, p, h, change, mu, lam, slip_impulse) -> (6, nj)
        Force and torque (about the origin of frame b) of each joint on the body of its frame b,
        world axes, of impulses. In a tree of coordinates they follow from a ``change`` of v over h,
        else from mu, lam and slip_impulse alone.
    masses : (p) -> (nb,) [kg] of the bodies
    poses : (q, v, p) -> positions (3, nb), Euler parameters (4, nb), velocities and angular ones
        Of the centres of mass, and of the axes of bodies; (3, nb) in world axes.
    """

    mechanism: Mechanism
    elements: tuple[Element, ...]
    gravity: Numbers
    parameters: tuple[Parameter, ...]
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    closure_names: tuple[str, ...]  # the joint of each row
    nonholonomic_names: tuple[str, ...]  # the constraint on velocities of each row
    alignment_names: tuple[str, ...]
    contact_names: tuple[str, ...]  # one per gap
    contact_owners: tuple[str, ...]  # the element of each gap
    bores: tuple[int, ...]  # the gaps that are in bores
    slip_contacts: tuple[int, ...]  # the gap of each slip
    drags: tuple[Drag, ...]  # what friction resists
    joint_names: tuple[str, ...]  # ideal joints, contacts, constraints on velocities
    internal_names: tuple[str, ...]  # of the last entries of q
    friction_joints: tuple[int, ...]  # the joint of each JointFriction element
    drive_names: tuple[str, ...]  # joint.effort, of drives that keep joints
    drive_units: tuple[str, ...]
    freedom_names: tuple[str, ...]  # joint.angle, joint.distance
    freedom_units: tuple[str, ...]
    pressed_names: tuple[str, ...]  # of the surfaces that forces press apart
    pressed_owners: tuple[str, ...]  # the force of each
    output_names: tuple[str, ...]  # element.output
    output_units: tuple[str, ...]
    mass: ca.Function
    bias: ca.Function
    twists: ca.Function
    momentum: ca.Function
    applied: ca.Function
    external: ca.Function
    scheduled: ca.Function
    rate_matrix: ca.Function
    norms: ca.Function
    retract: ca.Function
    retract_matrix: ca.Function
    closure: ca.Function
    closure_matrix: ca.Function
    closure_drift: ca.Function
    effort_matrix: ca.Function
    efforts: ca.Function
    nonholonomic_matrix: ca.Function
    nonholonomic_drift: ca.Function
    alignment: ca.Function
    contact_terms: ca.Function
    gap: ca.Function
    slope: ca.Function
    gap_scale: ca.Function
    clearance: ca.Function
    gap_matrix: ca.Function
    gap_drift: ca.Function
    contact_normals: ca.Function
    restitution: ca.Function
    friction: ca.Function
    viscous: ca.Function
    drag: ca.Function
    static_drag: ca.Function
    tangential_restitution: ca.Function
    stiffness: ca.Function
    slip_matrix: ca.Function
    slip_drift: ca.Function
    slip_directions: ca.Function
    kinetic: ca.Function
    potential: ca.Function
    resistance: ca.Function
    joint_friction: ca.Function
    smoothed_resistance: ca.Function
    smoothed_friction: ca.Function
    advance_states: ca.Function
    freedoms: ca.Function
    pressed: ca.Function
    pressed_loss: ca.Function
    pressed_scale: ca.Function
    pressed_clearance: ca.Function
    outputs: ca.Function
    output_limits: ca.Function
    masses: ca.Function
    velocity: ca.Function = field(init=False)
    renormalise: ca.Function = field(init=False)
    nonholonomic_bias: ca.Function = field(init=False)
    slope_rates: ca.Function = field(init=False)
    bore_bends: ca.Function = field(init=False)
    bore_axes: ca.Function = field(init=False)
    bore_gap: ca.Function = field(init=False)
    closure_bias: ca.Function = field(init=False)
    gap_bias: ca.Function = field(init=False)
    slip_bias: ca.Function = field(init=False)
    contact_points: ca.Function = field(init=False)
    contact_offsets: ca.Function = field(init=False)
    distance: ca.Function = field(init=False)
    sliding: ca.Function = field(init=False)
    reactions: ca.Function = field(init=False)
    poses: ca.Function = field(init=False)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.q_names)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.v_names)

    @property
    def q_owners(self) -> list[str]:
        """The joint, body or element of each coordinate."""
        return [name.rsplit(".", 1)[0] for name in self.q_names]

    @property
    def v_owners(self) -> list[str]:
        """The joint, body or element of each velocity."""
        return [name.rsplit(".", 1)[0] for name in self.v_names]

    @cached_property
    def inertial(self) -> ca.Function:
        """(q, v, a, p) -> M a + bias, the generalized forces of accelerations a, (nv,)."""
        q, v, a = ca.SX.sym("q", self.nq), ca.SX.sym("v", self.nv), ca.SX.sym("a", self.nv)
        p = ca.SX.sym("p", len(self.parameters))
        value = State(ca.SX(0), {}, {x.name: p[i] for i, x in enumerate(self.parameters)}).value
        forces = self.mechanism.generalized_coordinates.inertial(q, v, a, value)
        return ca.Function("inertial", [q, v, a, p], [ca.densify(forces)], {"cse": True})

    @cached_property
    def inertia_rate(self) -> ca.Function:
        """(q, v, p) -> (dM/dt) v, (nv,), in fewer operations than by M."""
        q, v, _, p = self.inertial.sx_in()
        rate = ca.jtimes(self.inertial(q, 0, v, p), q, self.rate_matrix(q) @ v)  # of M(q) v
        return ca.Function("inertia_rate", [q, v, p], [ca.densify(rate)])

    @cached_property
    def redundant(self) -> int:
        """Number of rows of the ideal joints that others imply, as in over-constrained loops.

        Of the stated start; elsewhere there may be less. A start whose joints are open does not
        tell: then as many as leave the mechanism one freedom.
        """
        q, p = self.stated_start(refuse=False)[0], self.values()
        C, closure = (np.asarray(f(0.0, q, p)) for f in (self.closure_matrix, self.closure))
        if np.any(np.abs(closure) > CLOSED):
            return max(0, len(self.closure_names) - self.nv + 1)
        return len(self.closure_names) - rank(C)

    @cached_property
    def self_stresses(self) -> ca.Function:
        """(t, q, p) -> (nc, redundant): orthonormal impulses of joints without effect, or zero."""
        return self_stresses(self.closure_matrix, self.redundant)

    @cached_property
    def least_norm(self) -> ca.Function:
        """(arguments of `reactions`) -> mu (nm,) with the same effect, by `least_norm_impulses`."""
        internal, passes = len(self.internal_names), self.least_norm_passes
        return least_norm_impulses(self.self_stresses, self.reactions, internal, passes)

    @property
    def least_norm_passes(self) -> int:
        """In how many passes `least_norm` is found: friction makes reactions nonlinear in mu."""
        cut = {joint.name for joint in self.constraints}
        rubbing = any(self.joint_names[k] in cut for k in self.friction_joints)
        return PASSES if rubbing and self.tree_joints else 1

    @property
    def latches(self) -> tuple[str, ...]:
        """The internal states that are set at once by an event, as is the speed of an impact."""
        smooth = {e.name for e in self.elements if isinstance(e, JointFriction)}
        return tuple(x for x in self.internal_names if x.rpartition(".")[0] not in smooth)

    @property
    def timed_rows(self) -> list[int]:
        """The rows of the ideal joints that move with time."""
        return sorted(set(self.closure_drift.sparsity_out(0).row()))

    @property
    def working_rows(self) -> list[int]:
        """The entries of mu that do work: of rows that move with time or are kept by drives."""
        n = len(self.closure_names)
        rolling = {n + k for k in self.nonholonomic_drift.sparsity_out(0).row()}
        driven = {int(k) for k in np.flatnonzero(np.asarray(self.driven))}
        return sorted({*self.timed_rows, *rolling, *driven})

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The ideal joints that are constraints on the coordinates."""
        return tuple(self.mechanism.cut)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of p."""
        return tuple(x.name for x in self.parameters)

    @property
    def multiplier_names(self) -> tuple[str, ...]:
        """The joint or constraint on velocities of each multiplier, (nm,)."""
        return self.closure_names + self.nonholonomic_names

    @cached_property
    def driven(self) -> ca.DM:
        """Which multipliers are efforts of drives that keep joints, (nm,), 0 or 1."""
        driven = {joint.name for joint in self.constraints if joint.drives}
        return ca.sparsify(ca.DM([float(name in driven) for name in self.multiplier_names]))

    def multiplier_drift(self, t: Any, q: Any, p: Any) -> Any:
        """Return the rates (nm,) of the rows that mu keeps, at v = 0: as they move with time."""
        return ca.vertcat(self.closure_drift(t, q, p), self.nonholonomic_drift(t, q, p))

    @cached_property
    def tree_joints(self) -> tuple[int, ...]:
        """The indices of the ideal joints that have coordinates and are no constraints."""
        cut = {joint.name for joint in self.constraints}
        return tuple(k for k, x in enumerate(self.mechanism.joints) if x.name not in cut)

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """The contacts and clearance joints."""
        return tuple(e for e in self.elements if isinstance(e, Contact))

    def values(self, numbers: Mapping[str, float] | None = None) -> Array:
        """Return the vector p, shape (np,), with some parameters given other values.

        Raises
        ------
        ValueError
            If a name is unknown, or an element refuses the new value (its own message).
        """
        numbers = dict(numbers or {})
        check_names("unknown parameter", numbers, self.parameter_names)
        for name, value in numbers.items():
            Parameter(name, value)  # refuses what is no finite number
        p = np.array([numbers.get(x.name, x.value) for x in self.parameters], dtype=float)
        if numbers:
            q, _ = self.restated(p)[0].generalized_coordinates.start(refuse=False)
            self.check_mass(self._with_internal(q), p)
        return p

    def check_mass(self, q: Array, p: Array) -> None:
        """Refuse a mass matrix at q (nq,) as `check_inertia` does."""
        M, C = np.asarray(self.mass(q, p)), np.asarray(self.closure_matrix(0, q, p))
        check_inertia(M, C, self.v_names, [body.name for body in self.mechanism.bodies])

    def restated(self, p: Array) -> tuple[Mechanism, tuple[Element, ...], Numbers]:
        """Return mechanism, elements and gravity as if stated with the parameter values p."""
        numbers = {x.name: float(value) for x, value in zip(self.parameters, p, strict=True)}
        mechanism, elements, gravity = substitute(
            (self.mechanism, self.elements, self.gravity), numbers
        )
        kind = "relative" if self.mechanism.is_relative else "absolute"  # whatever new masses are
        mechanism = replace(mechanism, coordinates=mechanism.coordinates or kind)
        return mechanism, elements, gravity

    def stated_start(
        self, numbers: Mapping[str, float] | None = None, refuse: bool = True
    ) -> tuple[Array, Array]:
        """Return q (nq,) and v (nv,) as stated by the bodies, for the given parameter values.

        ``refuse`` as for `Coordinates.start`.
        """
        mechanism = self.restated(self.values(numbers))[0] if numbers else self.mechanism
        q, v = mechanism.generalized_coordinates.start(refuse)
        return self._with_internal(q), v

    def _with_internal(self, q: Array) -> Array:
        return np.concatenate([q, np.zeros(len(self.internal_names))])
