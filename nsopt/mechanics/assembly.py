"""Assembly: elements see the symbolic state once, differentiation does the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

import casadi as ca

from nsopt.mechanics.checks import finite
from nsopt.mechanics.dynamics import Dynamics
from nsopt.mechanics.element import (
    Contact,
    Element,
    Force,
    Gap,
    Rubbing,
    State,
)
from nsopt.mechanics.forces import ForceFunctions
from nsopt.mechanics.frame import STILL, Frame, Motion
from nsopt.mechanics.mechanism import Mechanism
from nsopt.mechanics.parameter import Numbers, Parameter, parameters_in
from nsopt.mechanics.rank import check_mass
from nsopt.mechanics.reactions import Push, ReactionFunction
from nsopt.mechanics.resistance import resisted

LAW = ("restitution", "friction", "viscous", "creep")


def assemble(
    mechanism: Mechanism,
    elements: Iterable[Element] = (),
    gravity: Numbers = (0.0, 0.0, 0.0),
) -> Dynamics:
    """Turn a mechanism and what acts on it into step-ready functions.

    Parameters
    ----------
    mechanism : Mechanism
    elements : sequence of Contact and Force
        Clearance joints, contacts, springs, loads.
    gravity : (3,) [m/s^2]
        World axes.

    Returns
    -------
    Dynamics

    Raises
    ------
    ValueError
        If names collide, an element uses an unknown body, a parameter is given twice with two
        values, or zero mass leaves a free motion without inertia.
    TypeError
        If an ideal joint is among the elements.
    """
    members = tuple(elements)
    for element in members:
        if not isinstance(element, Contact | Force):
            raise TypeError(
                f"{type(element).__name__} {getattr(element, 'name', element)!r} is neither a "
                "contact nor a force: ideal joints belong in Mechanism(bodies, joints)"
            )
    finite("gravity", gravity, (3,))
    mechanism.check_members([*mechanism.joints, *members])
    found = parameters_in((mechanism, members, gravity))
    dynamics = Symbols(mechanism, members, gravity, tuple(found.values())).close()
    check_mass(dynamics, dynamics.stated_start(refuse=False)[0], dynamics.values())
    return dynamics


class Symbols:
    """The symbolic state, and the expressions of the whole mechanism on it."""

    def __init__(
        self,
        mechanism: Mechanism,
        elements: tuple[Element, ...],
        gravity: Numbers,
        parameters: tuple[Parameter, ...],
    ):
        self.mechanism, self.elements, self.gravity = mechanism, elements, gravity
        self.parameters = parameters
        self.coordinates = mechanism.described
        self.t = ca.SX.sym("t")
        self.rubbing = [e for e in elements if isinstance(e, Rubbing)]
        self.internal_names = tuple(f"{e.name}.{x}" for e in self.rubbing for x in e.states)
        self.placed = len(self.coordinates.q_names)  # entries of q but for internal states
        self.q = ca.SX.sym("q", self.placed + len(self.internal_names))
        self.v = ca.SX.sym("v", len(self.coordinates.v_names))
        self.p = ca.SX.sym("p", len(parameters))
        symbols = {parameter.name: self.p[i] for i, parameter in enumerate(parameters)}
        # Gradients dual to v are taken by a virtual displacement, zero everywhere else: shorter
        # code than by q and the rate matrix.
        self.move = ca.SX.sym("move", self.v.numel())
        value = State(self.t, {}, symbols).value
        self.motions = self.coordinates.motions(self.q, self.v, value, self.move)
        # Wrenches on one body come from a virtual displacement and velocity of that body alone.
        owners = [None, *(body.name for body in mechanism.bodies)]
        self.twists = {owner: ca.SX.sym(f"twist_{k}", 6) for k, owner in enumerate(owners)}
        self.rates = {owner: ca.SX.sym(f"rate_{k}", 6) for k, owner in enumerate(owners)}
        self.state = State(self.t, self._twisted(), symbols)
        rates = self.coordinates.rate_matrix(self.q)
        self.N = ca.vertcat(rates, ca.SX(len(self.internal_names), self.v.numel()))

    def _twisted(self) -> dict[str | None, Motion]:
        found: dict[str | None, Motion] = {}
        for owner in self.twists:
            r, A, v, w = self.motions[owner] if owner else STILL
            twist, rate = self.twists[owner], self.rates[owner]
            turned = A + ca.skew(twist[3:]) @ A
            found[owner] = Motion(r + twist[:3], turned, v + rate[:3], w + rate[3:])
        return found

    def function(self, name: str, arguments: str, *outputs: ca.SX) -> ca.Function:
        """Close expressions into a function of some of t, q, v, p."""
        names = arguments.split()
        return ca.Function(
            name,
            [getattr(self, n) for n in names],
            self.in_place(*outputs),
            names,
            [name] if len(outputs) == 1 else [f"{name}_{i}" for i, _ in enumerate(outputs)],
        )

    def in_place(self, *expressions: ca.SX) -> list[ca.SX]:
        """Return expressions without virtual displacement, and with what was held in place."""
        found: list[ca.SX] = list(expressions)
        for symbols, value in reversed(self.state.holding):
            found = ca.substitute(found, [symbols], [value])
        virtual = [self.move, *self.twists.values(), *self.rates.values()]
        return ca.substitute(found, virtual, [ca.SX.zeros(x.numel()) for x in virtual])

    def wrench(self, frame: Frame, push: Push) -> ca.SX:
        """Return force and torque of ``push`` on the body of a frame, about its origin, (6,)."""
        owner = frame.body.name if frame.body else None
        found = ca.SX.zeros(6)
        for works, by in ((push.displacements, self.twists), (push.velocities, self.rates)):
            for x, f in works:
                found += ca.jtimes(x, by[owner], f, True)
        centre = self.motions[frame.body.name].r if frame.body else ca.SX.zeros(3)
        arm = self.state.motion(frame).r - centre
        return ca.vertcat(found[:3], found[3:] - ca.cross(arm, found[:3]))

    def gradient(self, expression: ca.SX) -> ca.SX:
        """Return d(expression)/dq N, the rows dual to v."""
        return self.in_place(ca.jacobian(expression, self.move))[0]

    def rate(self, expression: ca.SX) -> ca.SX:
        """Return d(expression)/dt along the motion at constant v."""
        at = ca.vertcat(self.t, self.q)
        return ca.jtimes(expression, at, ca.vertcat(1, self.N @ self.v))

    def close(self) -> Dynamics:
        """Return the frozen functions."""
        coordinates, q, v = self.coordinates, self.q, self.v
        M = coordinates.mass(q, self.state.value)
        bias = coordinates.bias(q, v, self.state.value)
        qdot = ca.SX.sym("qdot", q.numel())
        return Dynamics(
            mechanism=self.mechanism,
            elements=self.elements,
            gravity=self.gravity,
            parameters=self.parameters,
            q_names=coordinates.q_names + self.internal_names,
            internal_names=self.internal_names,
            v_names=coordinates.v_names,
            mass=self.function("mass", "q p", M),
            bias=self.function("bias", "q v p", bias),
            rate_matrix=self.function("rate_matrix", "q", self.N),
            velocity=ca.Function(
                "velocity", [q, qdot], [coordinates.velocity(q, qdot)], ["q", "qdot"], ["v"]
            ),
            norms=self.function("norms", "q", coordinates.norms(q)),
            retract=ca.Function(
                "retract",
                [q, v],
                [self._whole(coordinates.retract)(q, v)],
                ["q", "move"],
                ["moved"],
            ),
            renormalise=self.function("renormalise", "q", self._whole(coordinates.renormalise)(q)),
            poses=self.function("poses", "q v p", *self._poses()),
            masses=self.function(
                "masses",
                "p",
                ca.vertcat(*(self.state.value(body.mass) for body in self.mechanism.bodies)),
            ),
            reactions=ReactionFunction(self).make(),
            **ForceFunctions(self).all(M),
            **self._joint_functions(),
            **self._friction(),
        )

    def _whole(self, function: Callable[..., ca.SX]) -> Callable[..., ca.SX]:
        """Return a map of coordinates that leaves internal states as they are."""
        if not self.internal_names:  # of one coordinate the empty rest is 1 x 0, not 0 x 1
            return function
        return lambda q, *more: ca.vertcat(function(q, *more), q[self.placed :])

    def rubbers(self) -> Iterator[tuple[Rubbing, Element | None, slice]]:
        """Yield what rubs, the joint it rubs in, and its internal states among all of them."""
        at = 0
        for element in self.rubbing:
            n = len(element.states)
            yield element, resisted(element, self.joints()), slice(at, at + n)
            at += n

    def joints(self) -> list[Any]:
        """Return the ideal joints, then the contacts."""
        return [*self.mechanism.joints, *(e for e in self.elements if isinstance(e, Contact))]

    def _poses(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        names = [body.name for body in self.mechanism.bodies]
        turned = self.coordinates.quaternions(self.q)
        return (
            ca.horzcat(*(self.motions[name].r for name in names)),
            ca.horzcat(*(turned[name] for name in names)),
            ca.horzcat(*(self.motions[name].v for name in names)),
        )

    @cached_property
    def pushes(self) -> list[tuple[Force, Push]]:
        """What each force does."""
        forces = [e for e in self.elements if isinstance(e, Force)]
        return [(e, Push.of(e.energy(self.state), e.loads(self.state))) for e in forces]

    @cached_property
    def residuals(self) -> list[ca.SX]:
        """The residual of each joint that is a constraint."""
        return [joint.residual(self.state) for joint in self.mechanism.cut]

    @cached_property
    def gaps(self) -> list[list[Gap]]:
        """The gaps of each contact."""
        return [e.gaps(self.state) for e in self.elements if isinstance(e, Contact)]

    def _friction(self) -> dict[str, Any]:
        """Return the laws of the gaps, and what concerns their slips."""
        flat = [gap for group in self.gaps for gap in group]
        slip = ca.vertcat(ca.SX(0, 1), *(gap.slip for gap in flat))
        T = ca.jacobian(slip, self.v).T
        return {
            "slip_matrix": self.function("slip_matrix", "t q p", T),
            "slip_directions": self._columns("slip_directions", [gap.tangents for gap in flat]),
            "slip_contacts": tuple(
                k for k, gap in enumerate(flat) for _ in range(gap.slip.numel())
            ),
            **{name: self._of_laws(name, flat) for name in LAW},
        }

    def _of_laws(self, name: str, gaps: list[Gap]) -> ca.Function:
        numbers = [self.state.value(getattr(gap.law, name)) for gap in gaps]
        return self.function(name, "p", ca.vertcat(ca.SX(0, 1), *numbers))

    def _joint_functions(self) -> dict[str, Any]:
        s = self.state
        residuals, cut = self.residuals, self.mechanism.cut
        alignments = [joint.alignment(s) for joint in cut]
        closure = ca.vertcat(ca.SX(0, 1), *residuals)
        contacts = [e for e in self.elements if isinstance(e, Contact)]
        gaps = self.gaps
        flat: list[Gap] = [gap for group in gaps for gap in group]
        function = ca.vertcat(ca.SX(0, 1), *(gap.function for gap in flat))
        C, W = self.gradient(closure), self.gradient(function).T
        joints = self.joints()
        closing = C @ self.v + self.in_place(ca.jacobian(closure, self.t))[0]
        return {
            "closure_bias": self.function("closure_bias", "t q v p", self.rate(closing)),
            "gap_bias": self.function("gap_bias", "t q v p", self.rate(W.T @ self.v)),
            "closure": self.function("closure", "t q p", closure),
            "closure_matrix": self.function("closure_matrix", "t q p", C),
            "alignment": self.function("alignment", "t q p", ca.vertcat(ca.SX(0, 1), *alignments)),
            "alignment_names": _owners(cut, [a.numel() for a in alignments]),
            "closure_drift": self.function("closure_drift", "t q p", ca.jacobian(closure, self.t)),
            "gap": self.function("gap", "t q p", function),
            "gap_matrix": self.function("gap_matrix", "t q p", W),
            "distance": self._column("distance", [gap.distance for gap in flat]),
            "slope": self._column("slope", [gap.slope for gap in flat]),
            "contact_points": self._columns("contact_points", [gap.point for gap in flat]),
            "contact_normals": self._columns("contact_normals", [gap.normal for gap in flat]),
            "contact_offsets": self._columns("contact_offsets", [gap.offset for gap in flat]),
            "gap_scale": self.function(
                "gap_scale", "p", ca.vertcat(ca.SX(0, 1), *(gap.scale for gap in flat))
            ),
            "joint_names": tuple(joint.name for joint in joints),
            "closure_names": _owners(cut, [r.numel() for r in residuals]),
            "contact_owners": _owners(contacts, [len(group) for group in gaps]),
            "contact_names": tuple(
                c.name if len(group) == 1 else f"{c.name}[{k}]"
                for c, group in zip(contacts, gaps, strict=True)
                for k, _ in enumerate(group)
            ),
        }

    def _column(self, name: str, entries: list[ca.SX]) -> ca.Function:
        return self.function(name, "t q p", ca.vertcat(ca.SX(0, 1), *entries))

    def _columns(self, name: str, entries: list[ca.SX]) -> ca.Function:
        return self.function(name, "t q p", ca.horzcat(ca.SX(3, 0), *entries))


def _owners(elements: Iterable[Element], sizes: list[int]) -> tuple[str, ...]:
    return tuple(e.name for e, n in zip(elements, sizes, strict=True) for _ in range(n))
