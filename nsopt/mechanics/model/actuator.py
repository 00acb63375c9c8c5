"""Actuators of joints of one freedom, and joints that mimic others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsopt.checks import finite, not_negative, numbers, plain
from nsopt.parameter import Scalar


@dataclass(frozen=True)
class Actuator:
    """The data sheet of a revolute or prismatic joint: its limits, losses and rotor.

    Only the rotor enters the equations of motion, and only in relative coordinates. The rest is
    for elements, costs and conditions made of it.

    Parameters
    ----------
    joint : str
        Name of a joint of one freedom.
    lower, upper : float [rad] or [m]
        Range of the coordinate.
    velocity, effort : float [rad/s] or [m/s], [N m] or [N]
        Largest speed and force, in either direction.
    damping : float or Parameter [N m s/rad] or [N s/m]
    friction : float or Parameter [N m] or [N]
        Size of dry friction.
    rotor_inertia : float or Parameter [kg m^2] (or [kg])
        Of the motor about its own axis.
    gear_ratio : float or Parameter
        Turns of the motor per turn of the joint: the joint feels rotor_inertia * gear_ratio^2.

    Raises
    ------
    ValueError
        If a limit is reversed, or a number negative.
    """

    joint: str
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    damping: Scalar = 0.0
    friction: Scalar = 0.0
    rotor_inertia: Scalar = 0.0
    gear_ratio: Scalar = 1.0

    def __post_init__(self) -> None:
        of = f"of the actuator of joint {self.joint!r}"
        for name in ("damping", "friction", "rotor_inertia"):
            not_negative(f"{name} {of}", getattr(self, name))
        for name in ("lower", "upper", "velocity", "effort", "gear_ratio"):
            if np.isnan(numbers(f"{name} {of}", getattr(self, name))):
                raise ValueError(f"{name} {of} must be a number, got nan")
        for name in ("velocity", "effort"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} {of} must not be negative, got {getattr(self, name):g}")
        if self.lower > self.upper:
            raise ValueError(
                f"limits {of} are reversed: lower {self.lower:g} exceeds upper {self.upper:g}; "
                "swap the two"
            )


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: coordinate = ratio * that of the other + offset.

    Parameters
    ----------
    joint, of : str
        Names of the joint that follows and of the other, which follows none; each of one freedom.
    ratio, offset : float
        The offset in [rad] or [m].

    Raises
    ------
    ValueError
        If a number is not finite or a Parameter, or the joint is to follow itself.
    """

    joint: str
    of: str
    ratio: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        of = f"of the mimic joint {self.joint!r}"
        for name in ("ratio", "offset"):
            plain(f"{name} {of}", getattr(self, name))
            finite(f"{name} {of}", getattr(self, name), ())
        if self.joint == self.of:
            raise ValueError(f"joint {self.joint!r} cannot mimic itself: name another joint")

    def range_within(self, lower: float, upper: float) -> tuple[float, float]:
        """Return the least and largest coordinate while that of the other is in a range."""
        # Zero times a range without ends is not a number.
        ends = [self.ratio * x + self.offset if self.ratio else self.offset for x in (lower, upper)]
        return min(ends), max(ends)
