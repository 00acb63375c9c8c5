"""Assembly of a mechanism and its elements into functions of its state."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from inspect import isfunction
from typing import Any

import casadi as ca

from nsopt.checks import check_text, check_variable_name, finite
from nsopt.culprit import naming
from nsopt.interrupt import interruptible
from nsopt.mechanics.equations.constraints import (
    constraint_functions,
    contact_functions,
    joint_coordinate_functions,
    nonholonomic_functions,
    pose_functions,
)
from nsopt.mechanics.equations.contact_checks import check_normals, check_planes, check_shapes
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.equations.efforts import check_efforts, effort_functions
from nsopt.mechanics.equations.forces import ForceFunctions
from nsopt.mechanics.equations.reactions import ReactionFunction
from nsopt.mechanics.equations.symbolic import SymbolicMechanism
from nsopt.mechanics.model.element import Contact, Element, Force, RateConstraint
from nsopt.mechanics.model.mechanism import Mechanism
from nsopt.parameter import Numbers, parameters_in

MANY = 200  # contacts beyond which a warning tells how long they take


def assemble(
    mechanism: Mechanism,
    elements: Iterable[Element] = (),
    gravity: Numbers = (0.0, 0.0, 0.0),
) -> Dynamics:
    """Return the dynamics of a mechanism and of the elements that act on it.

    Parameters
    ----------
    mechanism : Mechanism
    elements : sequence of Contact, Force and RateConstraint
        Clearance joints, contacts, springs, loads, wheels.
    gravity : (3,) [m/s^2]
        World axes.

    Returns
    -------
    Dynamics

    Warns
    -----
    UserWarning
        Of more than 200 contacts.

    Raises
    ------
    ValueError
        If two names are equal or no file can hold one, an element uses a body that is not in the
        mechanism, two Parameters of one name differ in value, a free motion has no inertia, a
        planar contact is not in the plane in which its frames can move, drives cannot keep their
        joint, or gaps of a contact of one's own have other shapes or normals than `Gap` says.
    TypeError
        If an ideal joint is among the elements, or a contact of one's own returns no gaps.
    """
    members = tuple(elements)
    for element in members:
        if not isinstance(element, Contact | Force | RateConstraint):
            raise TypeError(
                f"{type(element).__name__} {getattr(element, 'name', element)!r} is neither a "
                "contact nor a force: ideal joints belong in Mechanism(bodies, joints)"
            )
    finite("gravity", gravity, (3,))
    if (count := sum(isinstance(element, Contact) for element in members)) > MANY:
        warnings.warn(
            f"{count} contacts take tens of seconds to start: state those alone "
            "that can touch during the motion",
            stacklevel=2,
        )
    mechanism.check_members([*mechanism.joints, *members])
    with interruptible(), naming(Element):  # errors name the element whose method raised them
        parameters = parameters_in((mechanism, members, gravity))
        symbolic = SymbolicMechanism(mechanism, members, gravity, tuple(parameters.values()))
        check_shapes(symbolic)
        dynamics = _make_functions(symbolic)
        _check_names(dynamics)
    check_planes(symbolic, dynamics)
    check_normals(symbolic, dynamics)
    dynamics.check_mass(dynamics.stated_start(refuse=False)[0], dynamics.values())
    check_efforts(dynamics)
    return dynamics


def _check_names(dynamics: Dynamics) -> None:
    """Refuse names that a result could not be saved with, or not be told apart by."""
    for body in dynamics.mechanism.bodies:
        check_text("name of a body", body.name)
    for member in (*dynamics.mechanism.joints, *dynamics.elements):
        kind = type(member).__name__
        if not member.name:
            raise ValueError(f"a {kind} needs a name")
        check_text(f"name of a {kind}", member.name)
    recorded = {name.rpartition(".")[0] for name in dynamics.output_names}
    for name in sorted(recorded.union(dynamics.contact_owners)):
        check_variable_name("name of a contact or force", name)


def _make_functions(s: SymbolicMechanism) -> Dynamics:
    coordinates, q, v = s.coordinates, s.q, s.v
    bias = coordinates.bias(q, v, s.state.value)
    qdot, h = ca.SX.sym("qdot", q.numel()), ca.SX.sym("h")
    twists = coordinates.twists(q, v, h, s.state.value)
    u = ca.SX.sym("twists", twists.numel())  # any, also of other q
    members: dict[str, Any] = dict(
        mechanism=s.mechanism,
        elements=s.elements,
        gravity=s.gravity,
        parameters=s.parameters,
        q_names=coordinates.q_names + s.internal_names,
        internal_names=s.internal_names,
        v_names=coordinates.v_names,
        bias=s.function("bias", "q v p", bias),
        twists=ca.Function("twists", [q, v, h, s.p], [twists], ["q", "v", "h", "p"], ["twists"]),
        momentum=ca.Function(
            "momentum",
            [q, u, h, s.p],
            [coordinates.momentum(q, u, h, s.state.value)],
            ["q", "twists", "h", "p"],
            ["momentum"],
        ),
        rate_matrix=s.function("rate_matrix", "q", s.N),
        velocity=lambda: ca.Function(
            "velocity", [q, qdot], [coordinates.velocity(q, qdot)], ["q", "qdot"], ["v"]
        ),
        masses=s.function(
            "masses",
            "p",
            ca.vertcat(*(s.state.value(body.mass) for body in s.mechanism.bodies)),
        ),
        **pose_functions(s),
        **nonholonomic_functions(s),
        **effort_functions(s),
        reactions=lambda: ReactionFunction(s).make(),
        **ForceFunctions(s).all(coordinates.kinetic(q, v, s.state.value)),
        joint_names=tuple(joint.name for joint in s.joints()),
        **joint_coordinate_functions(s),
        **constraint_functions(s),
        **contact_functions(s),
    )
    later = {name: x for name, x in members.items() if isfunction(x)}
    return Dynamics(**{name: x for name, x in members.items() if name not in later}, later=later)
