"""Measures of how far a pointer is outside its cone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from nsopt.elements.range_of_motion.nearest import TINY, Nearest, angles


class Excess(ABC):
    """A measure of how far a direction is outside a cone.

    Attributes
    ----------
    conservative : bool
        Whether it is the same at the same spherical angle to the edge: a moment of its size is
        then the gradient of a potential.
    """

    conservative: ClassVar[bool] = True

    @abstractmethod
    def value(self, at: Nearest) -> ca.SX:
        """Return the measure [rad], less than or equal to zero inside the cone."""


@dataclass(frozen=True)
class SphericalAngle(Excess):
    """The spherical angle to the nearest generator."""

    def value(self, at: Nearest) -> ca.SX:
        return at.theta


@dataclass(frozen=True)
class Chord(Excess):
    """The distance of the tip of the unit vector to the cone, ||d''|| of [RoM 2023, eq. 30].

    The sine of the spherical angle; one, its distance to the apex, beyond 90 deg.
    """

    def value(self, at: Nearest) -> ca.SX:
        return ca.sin(ca.fmin(at.theta, ca.pi / 2))


@dataclass(frozen=True)
class PrintedExcess(Excess):
    """The law of cosines in the plane of longitude and latitude, as printed [RoM 2023, eq. 33].

    For reproduction: on an irregular cone its moments have no potential (erratum).
    """

    conservative: ClassVar[bool] = False

    def value(self, at: Nearest) -> ca.SX:
        _, latitude = angles(at.direction)
        flat = at.direction[:2] / ca.sqrt(ca.sumsqr(at.direction[:2]) + TINY)
        size = ca.sqrt(ca.sumsqr(latitude * flat - at.edge) + TINY)
        return ca.if_else(at.theta > 0, size, -size)
