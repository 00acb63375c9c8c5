"""Costs of what drives a mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mechanics.checks import between, positive
from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.moment import Moment


@dataclass(frozen=True, kw_only=True)
class Effort(Cost):
    """Integral of the squared forces of the drives [N^2 m^2 s or N^2 s].

    Parameters
    ----------
    scale : float [N m or N]
        Force that costs one per second.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("scale of Effort", self.scale)

    def check(self, dynamics: Dynamics) -> None:
        if not dynamics.mechanism.actuators:
            raise ValueError(
                "Effort is a cost of drives, but no joint has one: give Mechanism an Actuator, or "
                "take InputEffort(input=...) where Parameters drive"
            )

    def rate(self, m: Moment) -> ca.SX:
        return ca.sumsqr(m.drive / self.scale)


@dataclass(frozen=True, kw_only=True)
class InputEffort(Cost):
    """Integral of the square of an input, halves and the like by the weight.

    Parameters
    ----------
    input : str
        Name of the Parameter that is an input.
    """

    input: str

    def check(self, dynamics: Dynamics) -> None:
        names = [parameter.name for parameter in dynamics.parameters]
        if self.input not in names:
            raise ValueError(
                f"InputEffort names the input {self.input!r}, which is no Parameter of the "
                f"mechanism: one of {', '.join(names) or 'none'}"
            )

    def rate(self, m: Moment) -> ca.SX:
        return m.input(self.input) ** 2


@dataclass(frozen=True, kw_only=True)
class Power(Cost):
    """Integral of the squared power of each drive [W^2 s].

    Parameters
    ----------
    scale : float [W]
        Power that costs one per second.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("scale of Power", self.scale)

    def rate(self, m: Moment) -> ca.SX:
        return ca.sumsqr(m.drive * m.v / self.scale)


@dataclass(frozen=True, kw_only=True)
class Energy(Cost):
    """Work that the drives put in [J], what they take back counted separately.

    Parameters
    ----------
    braking : float
        What a joule taken back costs, from -1 to 1: nothing by default; 1 makes it the integral of
        the size of the power, -1 the net work (all of it is recovered).
    rounding : float [W]
        Power below which the corner at zero is rounded off; the cost is that of the work less a
        half of this per second and drive at most.
    """

    braking: float = 0.0
    rounding: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "0 leaves braking out, 1 counts it like driving, -1 recovers it"
        between("braking of Energy", self.braking, -1, 1, remedy)
        positive("rounding of Energy", self.rounding)

    def rate(self, m: Moment) -> ca.SX:
        power = m.drive * m.v
        size = ca.sqrt(power**2 + self.rounding**2) - self.rounding
        put, taken = (size + power) / 2, (size - power) / 2
        return ca.sum1(put + self.braking * taken)
