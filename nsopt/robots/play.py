"""A robot with play in one of its joints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from nsopt.elements import JointDrives, Planar, PlanarRevoluteClearance, Revolute, Turn
from nsopt.mechanics import Element, Mechanism
from nsopt.parameter import Parameter, Scalar
from nsopt.robots.resistances import damping_and_friction


@dataclass(frozen=True, eq=False)
class WithPlay:
    """A robot with radial play in a joint that turns; along the axis the joint stays ideal.

    The joint keeps its name and its angle, and has an offset ``x``, ``y`` of the pin in its bore.
    What drove it drives it on, by a torque on both links that is an input; its damping and friction
    are among the `elements`. It has no Actuator any more: `JointLoad`, `Effort`, `ActuatorLimits`
    and `resistances` leave it out, and `InputEffort` and `Within` take its input.

    Parameters
    ----------
    robot : Mechanism
        In relative coordinates.
    joint : str
        Of kind `Revolute`.
    clearance : float or Parameter [m]
        Radius of the bore minus radius of the pin.
    """

    robot: Mechanism
    joint: str
    clearance: Scalar

    def __post_init__(self) -> None:
        if not isinstance(self._hinge, Revolute):
            known = [x.name for x in self.robot.joints if isinstance(x, Revolute)]
            raise ValueError(
                f"WithPlay names {self.joint!r}, which is no Revolute joint of the robot: one of "
                f"{', '.join(known) or 'none'}"
            )

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
        return play, JointDrives(f"{self.joint}_motor", [turn], _torque, [torque]), *losses


def _torque(t: Any, q: Any, v: Any, given: Any) -> Any:
    """Return the torque that is given."""
    del t, q, v
    return given
