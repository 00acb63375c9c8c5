"""Damping, friction, stops and play of joints as elements, and typical losses of drives."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nsopt.checks import check_names, not_negative
from nsopt.elements import (
    JointDrives,
    Law,
    Planar,
    PlanarRevoluteClearance,
    Prismatic,
    Revolute,
    SlideFriction,
    SlideRange,
    StribeckLaw,
    TorsionSpringDamper,
    Turn,
    TurnFriction,
    TurnRange,
    ViscousLaw,
)
from nsopt.mechanics import Actuator, Constraint, Element, Force, Mechanism
from nsopt.parameter import Parameter, Scalar, number

CREEP = 1e-3  # speed below which dry friction of a joint is slow sliding by default [rad/s or m/s]

LEAST_GAP = 1.0
"""Least angle [rad] between the ends of a range outside it: there both stops must find room, as an
angle between frames is the same after a full turn."""


def resistances(
    mechanism: Mechanism, stop: Law | Mapping[str, Law] | None = None, creep: float = CREEP
) -> tuple[Force, ...]:
    """Return damping, friction and stops of the joints of a robot, for `assemble`.

    Parameters
    ----------
    mechanism : Mechanism
        With actuators, as `load_urdf` returns it.
    stop : Law or mapping of joint name to Law, optional
        Of the moment [N m] or force [N] beyond the limits of joints that have both; a law alone is
        for all that turn. By default there are no stops; joints that mimic others have none.
    creep : float [rad/s or m/s]
        Speed below which dry friction is slow sliding, `StribeckLaw`, in simulations; of motions
        optimized by polynomials it follows from the grid.

    Returns
    -------
    tuple of Force
        Named after the joint: ``<joint>_damping``, ``<joint>_friction``, ``<joint>_stop``.

    Warns
    -----
    UserWarning
        If there is nothing to return. Once, naming joints whose range leaves less than
        `LEAST_GAP` to a full turn: they have no stop, for angles between frames come round.

    Raises
    ------
    ValueError
        If a law is for a joint without limits.

    Notes
    -----
    A law that grows to a plateau, as `CubicLaw`, lets a joint pass that hits it hard enough.
    """
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"resistances takes a Mechanism, got {type(mechanism).__name__}")
    joints = {joint.name: joint for joint in mechanism.joints}
    forces: list[Force] = []
    for actuator in mechanism.actuators:
        forces += damping_and_friction(actuator, joints[actuator.joint], creep)
    forces += _make_stops(mechanism, joints, stop)
    if not forces:
        warnings.warn(
            "resistances finds nothing that resists, for no Actuator states damping or friction: "
            "give them, Actuator(damping=..., friction=...), or typical_resistance(mechanism)",
            stacklevel=2,
        )
    return tuple(forces)


def damping_and_friction(
    actuator: Actuator, joint: Constraint, creep: float = CREEP
) -> Iterator[SlideFriction | TorsionSpringDamper | TurnFriction]:
    """Yield the damping and dry friction of a joint, as far as the actuator states them.

    Dry friction is a coefficient of 1 under the stated force as load; of turns at a lever of 1 m.
    """
    a, b = joint.frames
    slides = isinstance(joint, Prismatic)
    if number(actuator.damping) and slides:
        law = ViscousLaw(actuator.damping)
        yield SlideFriction(f"{joint.name}_damping", a, b, law, 0.0, joint=joint.name)
    elif number(actuator.damping):
        name = f"{joint.name}_damping"
        yield TorsionSpringDamper(name, a, b, 0.0, damping=actuator.damping, joint=joint.name)
    if number(actuator.friction):
        coulomb, load = StribeckLaw(1.0, creep=creep), actuator.friction
        name = f"{joint.name}_friction"
        if slides:
            yield SlideFriction(name, a, b, coulomb, load, joint=joint.name)
        else:
            yield TurnFriction(name, a, b, coulomb, load, radius=1.0, joint=joint.name)


def _make_stops(
    mechanism: Mechanism, joints: Mapping[str, Constraint], stop: Law | Mapping[str, Law] | None
) -> list[Force]:
    """Return the stops of joints, warning of those whose range is too wide for one."""
    stops: list[Force] = []
    too_wide = []
    limited = [x for x in mechanism.actuators if np.isfinite(x.upper - x.lower)]
    sliding = {name for name, joint in joints.items() if isinstance(joint, Prismatic)}
    turning = [x.joint for x in limited if x.joint not in sliding]
    laws = stop if isinstance(stop, Mapping) else dict.fromkeys(turning, stop)
    for name in set(laws) - {x.joint for x in limited}:
        raise ValueError(f"a stop is given for joint {name!r}, which has no two limits")
    for x in limited:
        if (law := laws.get(x.joint)) is None:
            continue
        (a, b), name = joints[x.joint].frames, f"{x.joint}_stop"
        if x.joint in sliding:
            stops.append(SlideRange(name, a, b, x.lower, x.upper, law, joint=x.joint))
        elif x.upper - x.lower < 2 * np.pi - LEAST_GAP:
            stops.append(TurnRange(name, a, b, x.lower, x.upper, law, joint=x.joint))
        else:
            too_wide.append(x.joint)
    if too_wide:
        warnings.warn(
            f"no stop in {', '.join(too_wide)}: their ranges come within {LEAST_GAP} rad of a "
            "full turn, and angles between frames come round",
            stacklevel=3,
        )
    return stops


def typical_resistance(
    mechanism: Mechanism, friction: float = 0.03, damping: float = 0.1
) -> Mechanism:
    """Return a mechanism whose actuators have losses in proportion to what they can do.

    Damping and friction that an actuator states are kept. The defaults are those of the arm z1
    (Unitree; 30 and 60 N m, 3.14 rad/s: 1 and 2 N m, 1 and 2 N m s/rad, by the file in
    example-robot-data).

    Parameters
    ----------
    mechanism : Mechanism
    friction : float
        Dry friction over the largest force of the actuator.
    damping : float
        Force of damping at the largest speed, over the largest force.

    Raises
    ------
    ValueError
        If an actuator without losses states no largest force or speed, or a share is negative.
    """
    not_negative("friction of typical_resistance", friction)
    not_negative("damping of typical_resistance", damping)
    return replace(
        mechanism, actuators=[_with_losses(x, friction, damping) for x in mechanism.actuators]
    )


def _with_losses(actuator: Actuator, friction: float, damping: float) -> Actuator:
    if number(actuator.damping) or number(actuator.friction):
        return actuator
    for name in ("effort", "velocity"):
        if not np.isfinite(getattr(actuator, name)):
            raise ValueError(
                f"typical_resistance needs the {name} of joint {actuator.joint!r}, which its "
                f"Actuator does not state: give Actuator({actuator.joint!r}, {name}=...)"
            )
    viscous = actuator.effort / actuator.velocity if actuator.velocity > 0 else 0.0
    return replace(actuator, friction=friction * actuator.effort, damping=damping * viscous)


@dataclass(frozen=True, eq=False)
class WithPlay:
    """A robot with radial play in a joint that turns; along the axis the joint stays ideal.

    The joint keeps its name and its angle, and has an offset ``x``, ``y`` of the pin in its bore.
    Its actuator becomes an input, a torque on both links; its damping and friction are among the
    `elements`. It has no Actuator any more: `JointLoad`, `Effort`, `ActuatorLimits` and
    `resistances` leave it out, and `InputEffort` and `Within` take its input.

    Parameters
    ----------
    robot : Mechanism
        In relative coordinates.
    joint : str
        Of kind `Revolute`.
    clearance : float or Parameter [m]
        Radius of the bore minus radius of the pin.

    Raises
    ------
    ValueError
        If the robot has no such joint, or it is of another kind.
    """

    robot: Mechanism
    joint: str
    clearance: Scalar

    def __post_init__(self) -> None:
        known = (x.name for x in self.robot.joints if isinstance(x, Revolute))
        why = ", which is no Revolute joint of the robot"
        check_names("WithPlay names", [self.joint], known, why)

    @property
    def _hinge(self) -> object:
        return next((x for x in self.robot.joints if x.name == self.joint), None)

    @property
    def mechanism(self) -> Mechanism:
        """The robot, the joint free to move in its plane."""
        joints = [
            Planar(x.name, x.a, x.b) if isinstance(x, Revolute) and x.name == self.joint else x
            for x in self.robot.joints
        ]
        actuators = [x for x in self.robot.actuators if x.joint != self.joint]
        return replace(self.robot, joints=joints, actuators=actuators)

    @property
    def input(self) -> str:
        """Name of the Parameter that is the torque of the joint [N m]."""
        return f"{self.joint}_torque"

    @property
    def elements(self) -> tuple[Element, ...]:
        """The pin in its bore, the motor, and its damping and friction."""
        hinge = self._hinge
        assert isinstance(hinge, Revolute)
        play = PlanarRevoluteClearance(f"{self.joint}_play", hinge.a, hinge.b, self.clearance)
        turn, torque = Turn(hinge.a, hinge.b), Parameter(self.input, 0.0)
        losses = [
            force
            for actuator in self.robot.actuators
            if actuator.joint == self.joint
            for force in damping_and_friction(actuator, hinge)
        ]
        return play, JointDrives(f"{self.joint}_motor", [turn], _return_torque, [torque]), *losses


def _return_torque(t: Any, q: Any, v: Any, given: Any) -> Any:
    """Return the torque that is given."""
    del t, q, v
    return given
