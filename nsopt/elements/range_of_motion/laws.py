"""What a range of motion is made of: measures of the excess, and laws of the moment beyond it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
import scipy

from nsopt.checks import finite, positive
from nsopt.elements.range_of_motion.nearest import TINY, Nearest, angles
from nsopt.mechanics import State
from nsopt.parameter import Scalar, parameters_in

SAMPLED = (0.013, 0.11, 0.37)  # excesses of no special value, at which potentials are checked


class Law(ABC):
    """The size of a restricting moment over the excess; of a force where the range is a length.

    A new law is one frozen dataclass with both methods, moment the derivative of potential, and a
    check of its numbers.

    Attributes
    ----------
    inside : bool
        Whether it acts already before the range is exceeded: `TurnRange` and `SlideRange` then give
        it excesses below zero too.
    """

    inside: ClassVar[bool] = False

    @abstractmethod
    def check(self, of_element: str) -> None:
        """Refuse numbers out of range; ``of_element`` names the owner of the law.

        Raises
        ------
        ValueError
        """

    @abstractmethod
    def moment(self, s: State, excess: ca.SX) -> ca.SX:
        """Return the size of the restoring moment [N m], or force [N]."""

    @abstractmethod
    def potential(self, s: State, excess: ca.SX) -> ca.SX:
        """Return the integral of the moment over the excess [J]."""

    def check_potential(self, of_element: str) -> None:
        """Refuse a law whose moment is not the derivative of its potential.

        Raises
        ------
        ValueError
            With both numbers, at some excess.
        """
        k, numbers = ca.SX.sym("k"), parameters_in(self)
        s = State(ca.SX(0), {}, {name: ca.SX(p.value) for name, p in numbers.items()})
        slope = ca.jacobian(self.potential(s, k), k)
        both = ca.Function("both", [k], [self.moment(s, k), slope])
        for excess in SAMPLED:
            moment, slope_there = (float(x) for x in both(excess))
            if abs(moment - slope_there) > 1e-6 * (abs(moment) + abs(slope_there)):
                raise ValueError(
                    f"law {of_element} has moment {moment:.6g} at an excess of {excess:g}, but its "
                    "potential "
                    f"rises by {slope_there:.6g} there: they must be the same"
                )

    def width(self, s: State) -> ca.SX:
        """Return the excess up to which the law is made [rad or m]; infinite by default."""
        del s
        return ca.SX(np.inf)


@dataclass(frozen=True, eq=False)
class CubicLaw(Law):
    """Grows smoothly to a plateau: m_p [3 (k/D)^2 - 2 (k/D)^3], m_p beyond D [RoM 2023, eq. 32].

    Parameters
    ----------
    peak : float or Parameter [N m, or N]
        m_p, where the material yields.
    compliance : float or Parameter [rad, or m]
        D, Delta sigma in the paper.
    """

    peak: Scalar
    compliance: Scalar

    def check(self, of_element: str) -> None:
        positive(f"peak {of_element}", self.peak)
        positive(
            f"compliance {of_element}",
            self.compliance,
            "an angle in radians, or a length in metres",
        )

    def width(self, s: State) -> ca.SX:
        return s.value(self.compliance)

    def moment(self, s: State, excess: ca.SX) -> ca.SX:
        x = ca.fmin(excess / s.value(self.compliance), 1)
        return s.value(self.peak) * x**2 * (3 - 2 * x)

    def potential(self, s: State, excess: ca.SX) -> ca.SX:
        x = excess / s.value(self.compliance)
        within = ca.fmin(x, 1)
        return (
            s.value(self.peak)
            * s.value(self.compliance)
            * (within**3 * (1 - within / 2) + ca.fmax(x - 1, 0))
        )


@dataclass(frozen=True, eq=False)
class ExponentialLaw(Law):
    """Grows exponentially, softly inside the range too: size exp(rate k).

    The form of the passive joint moments of Yamaguchi, which Nasr et al. use as well (refs. 11 and
    12 of [RoM 2023]): there two such terms, one for each end of the range, sum up to the moment,
    which the two ends of a `TurnRange` give.

    Parameters
    ----------
    size : float or Parameter [N m, or N]
        At the end of the range.
    rate : float or Parameter [1/rad, or 1/m]
    """

    inside: ClassVar[bool] = True

    size: Scalar
    rate: Scalar

    def check(self, of_element: str) -> None:
        positive(f"size {of_element}", self.size)
        positive(f"rate {of_element}", self.rate)

    def moment(self, s: State, excess: ca.SX) -> ca.SX:
        return s.value(self.size) * ca.exp(s.value(self.rate) * excess)

    def potential(self, s: State, excess: ca.SX) -> ca.SX:
        return self.moment(s, excess) / s.value(self.rate)


@dataclass(frozen=True, eq=False)
class MeasuredLaw(Law):
    """Follows a measured table by the monotone spline through it; constant beyond its end.

    Parameters
    ----------
    excess : (n,) [rad, or m]
        Ascending from zero.
    moments : (n,) [N m, or N]
        Never falling, from zero.
    """

    excess: Sequence[float]
    moments: Sequence[float]

    def check(self, of_element: str) -> None:
        x, y = (
            finite(f"{name} {of_element}", getattr(self, name), (len(self.excess),))
            for name in ("excess", "moments")
        )
        if len(x) < 2 or x[0] != 0 or np.any(np.diff(x) <= 0):
            raise ValueError(
                f"excess {of_element} must ascend from zero, two values or more, got {x}"
            )
        if y[0] != 0 or np.any(np.diff(y) < 0) or y[-1] <= 0:
            raise ValueError(f"moments {of_element} must start at zero and never fall, got {y}")

    def width(self, s: State) -> ca.SX:
        del s
        return ca.SX(self.excess[-1])

    def moment(self, s: State, excess: ca.SX) -> ca.SX:
        del s
        return self._at(scipy.interpolate.PchipInterpolator(self.excess, self.moments).c, excess)

    def potential(self, s: State, excess: ca.SX) -> ca.SX:
        del s
        beyond = ca.fmax(excess - self.excess[-1], 0)
        spline = scipy.interpolate.PchipInterpolator(self.excess, self.moments).antiderivative()
        return self._at(spline.c, excess) + self.moments[-1] * beyond

    def _at(self, coefficients: np.ndarray, excess: ca.SX) -> ca.SX:
        """Return a piecewise polynomial, coefficients (order, pieces), constant beyond its end."""
        x = ca.fmin(excess, self.excess[-1])
        polynomial = ca.SX(0)
        for k, start in enumerate(self.excess[:-1]):
            value = ca.SX(0)
            for c in coefficients[:, k]:
                value = value * (x - start) + float(c)
            polynomial = ca.if_else(x >= start, value, polynomial) if k else value
        return polynomial


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
