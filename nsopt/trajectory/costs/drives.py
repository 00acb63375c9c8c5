"""Costs of actuator forces, inputs, power and work."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt.checks import between, check_names, positive
from nsopt.mechanics import Dynamics
from nsopt.trajectory.costs.base import Cost, ScaledCost
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True, kw_only=True)
class Effort(ScaledCost):
    """Integral of the squared actuator forces [N^2 m^2 s or N^2 s].

    Parameters
    ----------
    scale : float [N m or N]
        Force at which the cost grows by one per second.
    """

    def check(self, dynamics: Dynamics) -> None:
        if not dynamics.mechanism.actuators:
            raise ValueError(
                "Effort is a cost of drives, but no joint has one: give Mechanism an Actuator, or "
                "take InputEffort(input=...) where Parameters drive"
            )

    def rate(self, m: NodeSample) -> ca.SX:
        return ca.sumsqr(m.drive[m.driven_velocities] / self.scale)


@dataclass(frozen=True, kw_only=True)
class InputEffort(Cost):
    """Integral of the square of an input; factors such as one half are the weight.

    Parameters
    ----------
    input : str
        Name of the Parameter that is an input.
    """

    input: str

    def check(self, dynamics: Dynamics) -> None:
        why = ", which is no Parameter of the mechanism"
        check_names("InputEffort names the input", [self.input], dynamics.parameter_names, why)

    def rate(self, m: NodeSample) -> ca.SX:
        return m.input(self.input) ** 2


@dataclass(frozen=True, kw_only=True)
class Power(ScaledCost):
    """Integral of the squared power of each drive [W^2 s].

    Parameters
    ----------
    scale : float [W]
        Power at which the cost grows by one per second.
    """

    def rate(self, m: NodeSample) -> ca.SX:
        return ca.sumsqr(m.drive[m.driven_velocities] * m.v[m.driven_velocities] / self.scale)


@dataclass(frozen=True, kw_only=True)
class Energy(Cost):
    """Work done by the drives [J], with braking work weighted separately.

    Parameters
    ----------
    braking : float [1]
        Cost of a joule of braking work, from -1 to 1: nothing by default; 1 makes the cost the
        integral of the absolute power, -1 the net work (all braking work is recovered).
    rounding : float [W]
        Power below which the corner of the absolute value at zero is rounded off; it lowers the
        cost by at most half of this per second and drive.
    """

    braking: float = 0.0
    rounding: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "0 leaves braking out, 1 counts it like driving, -1 recovers it"
        between("braking of Energy", self.braking, -1, 1, remedy)
        positive("rounding of Energy", self.rounding)

    def rate(self, m: NodeSample) -> ca.SX:
        power = m.drive[m.driven_velocities] * m.v[m.driven_velocities]
        absolute = ca.sqrt(power**2 + self.rounding**2) - self.rounding  # smooth at zero
        driving, braking = (absolute + power) / 2, (absolute - power) / 2
        return ca.sum1(driving + self.braking * braking)
