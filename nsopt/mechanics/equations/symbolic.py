"""A mechanism in symbols: expressions of its elements, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca

from nsopt.mechanics.model.element import (
    Contact,
    Element,
    Force,
    JointFriction,
    Load,
    Pressed,
    RateConstraint,
)
from nsopt.mechanics.model.frame import STILL, Frame, Motion
from nsopt.mechanics.model.gap import Gap
from nsopt.mechanics.model.mechanism import Mechanism
from nsopt.mechanics.model.resistance import resisted_joint
from nsopt.mechanics.model.state import State
from nsopt.parameter import Numbers, Parameter


class VirtualWork(NamedTuple):
    """Forces, each paired with the displacement or the velocity on which it does work."""

    displacements: tuple[tuple[ca.SX, ca.SX], ...] = ()  # (x, f): of virtual work f . dx
    velocities: tuple[tuple[ca.SX, ca.SX], ...] = ()  # (u, f): of virtual power f . du

    @classmethod
    def from_forces(cls, energy: ca.SX, loads: list[Load]) -> VirtualWork:
        """Return the virtual work of loads, and of a potential: -1 times the change of energy."""
        return cls(((energy, ca.SX(-1)),), tuple((x.velocity, x.force) for x in loads))


class SymbolicMechanism:
    """A mechanism and its elements in symbols of time, coordinates, velocities and parameters.

    Attributes
    ----------
    t, q, v, p : SX scalar, (nq,), (nv,), (np,)
    displacement : SX (nv,)
        A virtual displacement of q, zero in values: generalized forces are derivatives by it.
    twists, rates : mapping of body name to SX (6,)
        Virtual displacements and velocities of each body, translation first, and of the ground,
        None; zero in values: wrenches on bodies are derivatives by them.
    state : State
        With all these virtual motions added.
    N : SX (nq, nv)
        qdot = N v; rows of internal states are zero.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        elements: tuple[Element, ...],
        gravity: Numbers,
        parameters: tuple[Parameter, ...],
    ):
        self.mechanism, self.elements, self.gravity = mechanism, elements, gravity
        self.parameters = parameters
        self.coordinates = mechanism.generalized_coordinates
        self.t = ca.SX.sym("t")
        self.contacts = [e for e in elements if isinstance(e, Contact)]
        self.rate_constraints = [e for e in elements if isinstance(e, RateConstraint)]
        forces = [e for e in elements if isinstance(e, Force)]
        self.joint_friction = [e for e in forces if isinstance(e, JointFriction)]
        self.stateful = [e for e in forces if e.states]
        self.internal_names = tuple(f"{e.name}.{x}" for e in self.stateful for x in e.states)
        # The entries of q before the internal states.
        self.n_joint_coordinates = len(self.coordinates.q_names)
        self.q = ca.SX.sym("q", self.n_joint_coordinates + len(self.internal_names))
        self.v = ca.SX.sym("v", len(self.coordinates.v_names))
        self.p = ca.SX.sym("p", len(parameters))
        symbols = {parameter.name: self.p[i] for i, parameter in enumerate(parameters)}
        # Derivatives by a displacement are shorter code than those by q times the rate matrix.
        self.displacement = ca.SX.sym("displacement", self.v.numel())
        value = State(self.t, {}, symbols).value
        self.motions = self.coordinates.motions(self.q, self.v, value, self.displacement)
        owners = [None, *(body.name for body in mechanism.bodies)]
        self.twists = {owner: ca.SX.sym(f"twist_{k}", 6) for k, owner in enumerate(owners)}
        self.rates = {owner: ca.SX.sym(f"rate_{k}", 6) for k, owner in enumerate(owners)}
        virtual = ca.vertcat(self.displacement, *self.twists.values(), *self.rates.values())
        self._undisplaced = [virtual], [ca.SX.zeros(virtual.numel())]
        between = self.coordinates.between(self.q, self.v, value, self.displacement)
        displaced = None if between is None else self._displace(between)
        self.state = State(
            self.t, self._displace_motions(), symbols, displaced, self._find_counted_angle
        )
        z = self.q[self.n_joint_coordinates :]
        self.state.internal |= {e.name: z[self.states_of(e)] for e in self.stateful}
        rate_matrix = self.coordinates.rate_matrix(self.q)
        self.N = ca.vertcat(rate_matrix, ca.SX(len(self.internal_names), self.v.numel()))
        # What changes along the motion at constant v, and its rates.
        self._along_motion = ca.vertcat(self.t, self.q), ca.vertcat(1, self.N @ self.v)

    def _find_counted_angle(self, a: Frame, b: Frame) -> ca.SX | None:
        return self.coordinates.find_counted_angle(a, b, self.q, self.displacement)

    def _displace_motions(self) -> dict[str | None, Motion]:
        """Return the motion of each body with its virtual one added, to first order."""
        motions: dict[str | None, Motion] = {}
        for owner in self.twists:
            r, A, v, w = self.motions[owner] if owner else STILL
            twist, rate = self.twists[owner], self.rates[owner]
            axes = A + ca.skew(twist[3:]) @ A
            motions[owner] = Motion(r + twist[:3], axes, v + rate[:3], w + rate[3:])
        return motions

    def _displace(
        self, between: Callable[[Frame, Frame], Motion]
    ) -> Callable[[Frame, Frame], Motion]:
        """Return ``between`` with the virtual motions of both bodies added, to first order."""

        def see(a: Frame, b: Frame) -> Motion:
            r, A, v, w = between(a, b)
            (ra, turn_a, va, wa), (rb, turn_b, vb, wb) = (self._virtual(frame) for frame in (a, b))
            axes = self.motions[a.body.name].A @ ca.SX(a.axes) if a.body else ca.SX(a.axes)
            turned = ca.skew(axes.T @ (turn_b - turn_a))
            apart = axes @ r
            return Motion(
                r + axes.T @ (rb - ra - ca.cross(turn_a, apart)),
                A + turned @ A,
                v + axes.T @ (vb - va - ca.cross(wa, apart)),
                w + axes.T @ (wb - wa),
            )

        return see

    def _virtual(self, frame: Frame) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Return displacement and turn, velocity and angular velocity of a frame, world axes."""
        owner = frame.body.name if frame.body else None
        arm = self.state.value(frame.origin)
        if owner is not None:
            arm = self.motions[owner].A @ arm
        twist, rate = self.twists[owner], self.rates[owner]
        displacement, velocity = (x[:3] + ca.cross(x[3:], arm) for x in (twist, rate))
        return displacement, twist[3:], velocity, rate[3:]

    def function(self, name: str, arguments: str, *outputs: ca.SX) -> ca.Function:
        """Return a function of some of t, q, v, p, as listed in ``arguments``, such as "t q p"."""
        names = arguments.split()
        return ca.Function(
            name,
            [getattr(self, n) for n in names],
            self.evaluate(*outputs),
            names,
            [name] if len(outputs) == 1 else [f"{name}_{i}" for i, _ in enumerate(outputs)],
        )

    def evaluate(self, *expressions: ca.SX) -> list[ca.SX]:
        """Return expressions at zero virtual displacement, with the values of `State.frozen`."""
        values: list[ca.SX] = list(expressions)
        for symbols, value in reversed(self.state.frozen_values):  # values may hold earlier symbols
            values = ca.substitute(values, [symbols], [value])
        return ca.substitute(values, *self._undisplaced)

    def wrench(self, frame: Frame, work: VirtualWork) -> ca.SX:
        """Return force and torque of ``work`` on a frame's body, about the frame's origin, (6,)."""
        owner = frame.body.name if frame.body else None
        wrench = ca.SX.zeros(6)
        for pairs, by in ((work.displacements, self.twists), (work.velocities, self.rates)):
            for x, f in pairs:
                wrench += ca.jtimes(x, by[owner], f, True)
        centre = self.motions[frame.body.name].r if frame.body else ca.SX.zeros(3)
        arm = self.state.motion(frame).r - centre
        return ca.vertcat(wrench[:3], wrench[3:] - ca.cross(arm, wrench[:3]))

    def gradient(self, expression: ca.SX) -> ca.SX:
        """Return d(expression)/dq N, the derivative by virtual displacements, (rows, nv)."""
        return self.evaluate(ca.jacobian(expression, self.displacement))[0]

    def rate(self, expression: ca.SX) -> ca.SX:
        """Return d(expression)/dt along the motion at constant v."""
        return ca.jtimes(expression, *self._along_motion)

    def friction_elements(self) -> Iterator[tuple[JointFriction, Element | None, slice]]:
        """Yield each joint friction, its joint if any, and the slice of its states among all."""
        for element in self.joint_friction:
            yield element, resisted_joint(element, self.joints()), self.states_of(element)

    def states_of(self, force: Force) -> slice:
        """Return the slice of the internal states of a force, among those of all forces."""
        before = self.stateful.index(force) if force.states else 0
        begin = sum(len(e.states) for e in self.stateful[:before])
        return slice(begin, begin + len(force.states))

    def joints(self) -> list[Any]:
        """Return the ideal joints, the contacts, then the constraints on velocities."""
        return [*self.mechanism.joints, *self.contacts, *self.rate_constraints]

    @cached_property
    def mass(self) -> ca.SX:
        """The mass matrix, (nv, nv)."""
        return self.coordinates.mass(self.q, self.state.value)

    @cached_property
    def forces(self) -> list[tuple[Force, VirtualWork]]:
        """The forces, each with its virtual work."""
        s, forces = self.state, [e for e in self.elements if isinstance(e, Force)]
        return [(e, VirtualWork.from_forces(_state_energy(e, s), e.loads(s))) for e in forces]

    @cached_property
    def pressed(self) -> list[tuple[Force, list[Pressed]]]:
        """The forces that press surfaces apart, each with all of these."""
        of_all = [(force, force.pressed(self.state)) for force, _ in self.forces]
        return [(force, surfaces) for force, surfaces in of_all if surfaces]

    @cached_property
    def residuals(self) -> list[ca.SX]:
        """The residual of each joint that is a constraint."""
        return [joint.residual(self.state) for joint in self.mechanism.cut]

    @cached_property
    def speeds(self) -> list[ca.SX]:
        """The rows of each constraint on velocities."""
        return [ca.vec(x.rate(self.state)) for x in self.rate_constraints]

    @cached_property
    def gaps(self) -> list[list[Gap]]:
        """The gaps of each contact."""
        return [contact.gaps(self.state) for contact in self.contacts]


def _state_energy(force: Force, s: State) -> ca.SX:
    energy = ca.SX(force.energy(s))
    if not energy.is_scalar():
        raise ValueError(
            f"energy of {type(force).__name__} {force.name!r} must be one expression, got shape "
            f"{energy.shape}: add up its parts"
        )
    return energy
