"""The motion at one time, as CasADi expressions: `NodeSample`, what costs and conditions are given.

Transcriptions make one for each kind of point of a program; forces follow from accelerations, or
are those of a `SteppedNode`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca

from nsopt.mechanics import INSTANT, Dynamics, Frame, Motion, State

SHARP = 1e-12  # [rad/s, m/s] creep with which dry friction is as good as exact
SMOOTH = 1e12  # [rad/s, m/s] creep with which there is as good as no dry friction


def _make_empty() -> ca.SX:
    return ca.SX(0, 1)


@dataclass(frozen=True)
class SteppedNode:
    """Quantities at a node of a time-stepped motion that do not follow from accelerations."""

    h: ca.SX  # [s] time over which impulses of the node act, in some schemes half of both steps
    change: ca.SX  # (nv,) of the velocity over ``h``, without impacts
    drive: ca.SX  # (nv,) [N, N m] forces of actuators
    gap: ca.SX = field(default_factory=_make_empty)  # (ng,) [m]
    impulse: ca.SX = field(default_factory=_make_empty)  # (ng,) normal ones of contacts over ``h``
    joint_impulse: ca.SX = field(default_factory=_make_empty)  # (nm,) of joints over ``h``
    slip_impulse: ca.SX = field(default_factory=_make_empty)  # (ns,) tangential ones over ``h``
    impact_impulse: ca.SX = field(default_factory=_make_empty)  # (ng,) not in ``impulse``
    loss: ca.SX = field(default_factory=_make_empty)  # (ng,) [J] energy that contacts dissipate
    # [s] the step after the node, zero at the last one.
    next_h: ca.SX = field(default_factory=lambda: ca.SX(0))
    # [s] the duration over the number of steps; NaN where the duration is free.
    mean_h: ca.SX = field(default_factory=lambda: ca.SX(1))


class NodeSample:
    """The motion at one time, as costs and conditions see it.

    Attributes
    ----------
    dynamics : Dynamics
    t : SX scalar [s]
    q, v, a : SX (nq,), (nv,), (nv,)
        Coordinates, velocities and accelerations.
    p : SX (np,)
        Parameters, inputs among them.
    stepped : SteppedNode or None
        Impulses and forces at the node of a time-stepped motion; None where forces follow from the
        accelerations.
    creep : SX (number of `JointFriction` elements,)
        Speeds up to which their dry friction is smoothed [rad/s, m/s]; zero, the default, leaves
        that of the law.
    slip : SX (nv,)
        Velocities at which friction and damping of joints are taken; by default v.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        t: ca.SX,
        q: ca.SX,
        v: ca.SX,
        a: ca.SX,
        p: ca.SX,
        stepped: SteppedNode | None = None,
        creep: ca.SX | None = None,
        slip: ca.SX | None = None,
    ) -> None:
        self.dynamics, self.stepped = dynamics, stepped
        no_creep = ca.SX.zeros(len(dynamics.friction_joints))
        self.creep = no_creep if creep is None else creep
        self.t, self.q, self.v, self.a, self.p = t, q, v, a, p
        self.slip = v if slip is None else slip

    @cached_property
    def state(self) -> State:
        """The state that elements are evaluated in."""
        parameters = {x.name: self.p[i] for i, x in enumerate(self.dynamics.parameters)}
        value = State(self.t, {}, parameters).value
        coordinates = self.dynamics.mechanism.generalized_coordinates
        motions: dict[str | None, Motion] = dict(coordinates.motions(self.q, self.v, value).items())
        return State(self.t, motions, parameters)

    def motion(self, frame: Frame) -> Motion:
        """Return position, axes and velocities of a frame in world axes, see `Motion`."""
        return self.state.motion(frame)

    def input(self, name: str) -> ca.SX:
        """Return the value of an input, or of any parameter."""
        return self.p[self.dynamics.parameter_names.index(name)]

    def coordinate(self, joint: str) -> tuple[ca.SX, ca.SX]:
        """Return coordinate and velocity of a joint of one freedom, also of one that follows.

        [rad] and [rad/s], or [m] and [m/s].
        """
        d = self.dynamics
        for mimic in d.mechanism.mimics:
            if mimic.joint == joint:
                q, v = self.coordinate(mimic.of)
                return mimic.ratio * q + mimic.offset, mimic.ratio * v
        return self.q[d.q_owners.index(joint)], self.v[d.v_owners.index(joint)]

    @cached_property
    def drive(self) -> ca.SX:
        """Generalized actuator forces, in addition to all applied forces, (nv,) [N, N m]."""
        if self.stepped is not None:
            return self.stepped.drive
        d = self.dynamics
        if not d.friction_joints:
            return self.required_forces
        # At one instant, not as a mean over a step; without internal states.
        at = (self.t, self.q, self.slip, self.p, INSTANT, ca.SX(0, 1))
        loads = self.wrenches[:, list(d.friction_joints)]
        return self.required_forces - d.smoothed_friction(*at, loads, self.creep)

    @property
    def driven_velocities(self) -> list[int]:
        """Numbers of the velocities that actuators drive.

        At the others forces of drives are zero, of polynomials by equations of motion. Squares of
        these in a cost would not change an optimum, but couple all coordinates in its Hessian.
        """
        joints = self.dynamics.mechanism.driven_joints
        return [k for k, owner in enumerate(self.dynamics.v_owners) if owner in joints]

    @cached_property
    def required_forces(self) -> ca.SX:
        """Drives and friction in joints together, by inverse dynamics, (nv,) [N, N m]."""
        d = self.dynamics
        forces: ca.SX = d.inertial(self.q, self.v, self.a, self.p)
        return forces - d.applied(self.t, self.q, self.v, self.p)

    @cached_property
    def wrenches(self) -> ca.SX:
        """Reaction wrenches of all joints, (6, nj) [N, N m], as by `Dynamics.reactions`.

        Of over-constrained joints those of least norm (`Dynamics.least_norm`).
        """
        d, x = self.dynamics, self.stepped
        if x is not None:
            at = (self.t, self.q, self.v, self.p, x.h, x.change)
            of_joints, of_contacts = x.joint_impulse, (x.impulse, x.slip_impulse)
            if d.redundant:
                of_joints = d.least_norm(*at, of_joints, *of_contacts)
            return d.reactions(*at, of_joints, *of_contacts) / x.h
        no_impulses = [ca.SX(0, 1)] * 3
        # Accelerations are changes of velocities over a step of 1 s.
        return d.reactions(self.t, self.q, self.v, self.p, 1, self.a, *no_impulses)

    @cached_property
    def gap(self) -> ca.SX:
        """Gaps of the contacts, (ng,) [m], as in the step equations."""
        if self.stepped is None:
            return self.dynamics.gap(self.t, self.q, self.p)
        return self.stepped.gap

    @property
    def impulse(self) -> ca.SX:
        """Normal impulses of the contacts, impacts included, (ng,) [N s]; zero without steps."""
        x = self.stepped
        return ca.SX.zeros(self.gap.numel()) if x is None else x.impulse + x.impact_impulse

    @property
    def loss(self) -> ca.SX:
        """Energy dissipated by each contact at the node, (ng,) [J]; zero without steps."""
        return ca.SX.zeros(self.gap.numel()) if self.stepped is None else self.stepped.loss

    @cached_property
    def contact_force(self) -> ca.SX:
        """Mean normal forces of the contacts over ``h``, impacts included, (ng,) [N]."""
        if self.stepped is None:
            return ca.SX(0, 1)
        slope = self.dynamics.slope(self.t, self.q, self.p)  # of gap functions by distances
        return self.impulse * slope / self.stepped.h

    def reaction(self, joint: str) -> ca.SX:
        """Return the reaction force [N] and torque [N m] of a joint, (6,)."""
        return self.wrenches[:, self.dynamics.joint_names.index(joint)]

    def load(self, joint: str) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return the reaction of a joint along z of its frame a, across it, and its torque.

        A scalar [N], (3,) [N] and (3,) [N m], in world axes.
        """
        d, wrench = self.dynamics, self.reaction(joint)
        members = (*d.mechanism.joints, *d.elements)
        element = next(x for x in members if x.name == joint)
        axis = self.motion(element.frames[0]).A[:, 2]
        axial = ca.dot(axis, wrench[:3])
        return axial, wrench[:3] - axial * axis, wrench[3:]

    def resistance(self, joint: str) -> ca.SX:
        """Return the force [N] and torque [N m] of resistance of a joint to its motion, (6,).

        Moments beyond its range of motion, damping and friction [RoM 2023, eq. 2], at the velocity
        ``v``; friction with internal states is a mean over the step.
        """
        return self._resistances[:, self.dynamics.joint_names.index(joint)]

    @cached_property
    def _resistances(self) -> ca.SX:
        d, h = self.dynamics, INSTANT if self.stepped is None else self.stepped.h
        loads = self.wrenches[:, list(d.friction_joints)]
        return d.smoothed_resistance(self.t, self.q, self.slip, self.p, h, loads, self.creep)
