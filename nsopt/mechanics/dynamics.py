"""From a stated mechanism to frozen CasADi functions: `assemble` and `Dynamics`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics.acceleration import acceleration
from nsopt.mechanics.element import Constraint, Contact, Element
from nsopt.mechanics.mechanism import Mechanism
from nsopt.mechanics.parameter import Numbers, Parameter, substitute
from nsopt.mechanics.rank import check_mass

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Dynamics:
    """A mechanism as functions of (t, q, v, p); p are the parameters, in the order of `parameters`.

    Generalized forces and impulses are dual to v. All functions are CasADi SX functions; they may
    be called with numbers or with SX or MX expressions.

    Attributes
    ----------
    mass : (q, p) -> M (nv, nv)
    bias : (q, v, p) -> S (nv,)
        Gyroscopic and Coriolis terms: M vdot + S = applied + constraint and contact forces.
    applied, external : (t, q, v, p) -> (nv,)
        All applied forces but those of `rubbing`, and those of them that do work from outside.
    scheduled : (t, q, v, p) -> (nv,)
        `applied` but for forces by feedback.
    rate_matrix : (q) -> N (nq, nv)
        qdot = N v.
    velocity : (q, qdot) -> v (nv,)
    norms, renormalise : (q) -> (n,), (nq,)
        Squared norms of the Euler parameters; q with all of them normalised.
    retract : (q, move) -> (nq,)
        q (+) move, where constant velocity v leads in h with move = h v; going back by the same
        move returns.
    closure : (t, q, p) -> (nc,)
        Residuals of the ideal joints.
    closure_matrix : (t, q, p) -> C (nc, nv)
        d(closure)/dt = C v + closure_drift; C^T mu is the generalized impulse of the joints.
    closure_drift : (t, q, p) -> (nc,)
    alignment : (t, q, p) -> (na,)
        `Constraint.alignment` of all ideal joints, one in a right assembly.
    gap, distance, slope : (t, q, p) -> (ng,)
        `Gap.function`, `Gap.distance`, `Gap.slope` of all contacts.
    gap_matrix : (t, q, p) -> W (nv, ng)
        d(gap)/dt = W^T v; W lam is the generalized impulse of the contacts.
    closure_bias, gap_bias : (t, q, v, p) -> (nc,), (ng,)
        C vdot + closure_bias and W^T vdot + gap_bias are the second derivatives of closure and gap.
    gap_scale : (p) -> (ng,) [m]
    restitution, friction, viscous, creep : (p) -> (ng,)
        The numbers of each gap's `ContactLaw`.
    slip_matrix : (t, q, p) -> T (nv, ns)
        T^T v is the slip velocity of all gaps with friction, one or two entries each, those of
        body b against body a; T times slip impulses is their generalized impulse.
    slip_directions : (t, q, p) -> (3, ns)
        Unit vectors of the slips, world axes: directions of the friction force on body b.
    contact_points, contact_normals, contact_offsets : (t, q, p) -> (3, ng)
    kinetic, potential : (t, q, v, p) -> [J]
    resistance : (t, q, v, p, h, reactions) -> (6, nj)
        Force and torque (about the origin of frame b) by which springs, dampers and friction of
        each joint resist, on the body of its frame b, world axes; ``reactions`` are
        those of the joints in `rubbed` (6, their number). Friction is a mean over h, as in
        `rubbing`, from the internal states in q.
    rubbing : (t, q, v, p, h, z, reactions) -> (nv,)
        Mean friction of the `Rubbing` elements over a step of h, from internal states z (nz,) at
        its start and reactions (6, number of elements) of the joints in `rubbed`.
    settled : (t, q, v, p, h, z) -> (nz,)
        Their internal states at the end; in q they come last.
    readings : (t, q, v, p) -> (nr,)
        What forces want recorded, `Force.readings`.
    reading_limits : (p) -> (nr,)
    reactions : (t, q, v, p, h, change, mu, lam, slip_impulse) -> (6, nj)
        Force and torque (about the origin of frame b) of each joint on the body of its frame b,
        world axes. Impulses in, impulses out. Those of joints in a tree of coordinates are what
        a ``change`` of v (nv,) over h takes; the others go by mu, lam and slip_impulse alone.
    masses : (p) -> (nb,) [kg]
        Of the bodies.
    poses : (q, v, p) -> positions (3, nb), Euler parameters (4, nb), velocities (3, nb)
        Of the centres of mass, world axes; of the axes of bodies.
    """

    mechanism: Mechanism
    elements: tuple[Element, ...]
    gravity: Numbers
    parameters: tuple[Parameter, ...]
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    closure_names: tuple[str, ...]  # the joint of each row
    alignment_names: tuple[str, ...]
    contact_names: tuple[str, ...]  # one per gap
    contact_owners: tuple[str, ...]  # the element of each gap
    slip_contacts: tuple[int, ...]  # the gap of each slip
    joint_names: tuple[str, ...]  # ideal joints, then contacts
    internal_names: tuple[str, ...]  # of the last entries of q
    rubbed: tuple[int, ...]  # the joint of each Rubbing element
    reading_names: tuple[str, ...]  # element.reading
    reading_units: tuple[str, ...]
    mass: ca.Function
    bias: ca.Function
    applied: ca.Function
    external: ca.Function
    scheduled: ca.Function
    rate_matrix: ca.Function
    velocity: ca.Function
    norms: ca.Function
    renormalise: ca.Function
    retract: ca.Function
    closure: ca.Function
    closure_matrix: ca.Function
    closure_drift: ca.Function
    alignment: ca.Function
    gap: ca.Function
    distance: ca.Function
    slope: ca.Function
    gap_scale: ca.Function
    contact_offsets: ca.Function
    gap_matrix: ca.Function
    closure_bias: ca.Function
    gap_bias: ca.Function
    contact_points: ca.Function
    contact_normals: ca.Function
    restitution: ca.Function
    friction: ca.Function
    viscous: ca.Function
    creep: ca.Function
    slip_matrix: ca.Function
    slip_directions: ca.Function
    kinetic: ca.Function
    potential: ca.Function
    resistance: ca.Function
    rubbing: ca.Function
    settled: ca.Function
    readings: ca.Function
    reading_limits: ca.Function
    reactions: ca.Function
    masses: ca.Function
    poses: ca.Function

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

    @property
    def constant_mass(self) -> bool:
        """Whether the mass matrix is the same everywhere."""
        q, p = ca.SX.sym("q", self.nq), ca.SX.sym("p", len(self.parameters))
        return not ca.depends_on(self.mass(q, p), q)

    @cached_property
    def acceleration(self) -> ca.Function:
        """(t, q, v, p) -> vdot (nv,), see `nsopt.mechanics.acceleration`."""
        return acceleration(self)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The ideal joints that are constraints on the coordinates."""
        return tuple(self.mechanism.cut)

    @cached_property
    def tree_joints(self) -> tuple[int, ...]:
        """Which of the joints carry coordinates, in place of constraints."""
        cut = {joint.name for joint in self.constraints}
        ideal = [joint.name for joint in self.mechanism.joints]
        return tuple(k for k, name in enumerate(ideal) if name not in cut)

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
        known = [parameter.name for parameter in self.parameters]
        for name, value in numbers.items():
            if name not in known:
                have = ", ".join(known) if known else "none"
                raise ValueError(f"unknown parameter {name!r}; this mechanism has: {have}")
            Parameter(name, value)
        p = np.array([numbers.get(x.name, x.value) for x in self.parameters], dtype=float)
        if numbers:
            mechanism, _, _ = self.restated(p)
            check_mass(self, self._with_internal(mechanism.described.start(refuse=False)[0]), p)
        return p

    def restated(self, p: Array) -> tuple[Mechanism, tuple[Element, ...], Numbers]:
        """Return mechanism, elements and gravity as if stated with the parameter values p."""
        numbers = {x.name: float(value) for x, value in zip(self.parameters, p, strict=True)}
        mechanism, elements, gravity = substitute(
            (self.mechanism, self.elements, self.gravity), numbers
        )
        return mechanism, elements, gravity

    def stated_start(
        self, numbers: Mapping[str, float] | None = None, refuse: bool = True
    ) -> tuple[Array, Array]:
        """Return q (nq,) and v (nv,) as stated by the bodies, for the given parameter values.

        ``refuse`` as for `Coordinates.start`.
        """
        mechanism, _, _ = self.restated(self.values(numbers))
        q, v = mechanism.described.start(refuse)
        return self._with_internal(q), v

    def _with_internal(self, q: Array) -> Array:
        return np.concatenate([q, np.zeros(len(self.internal_names))])
