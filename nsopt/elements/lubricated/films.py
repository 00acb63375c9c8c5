"""Oil films between a journal and its bearing: their pressure, integrated in closed form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca
import numpy as np

NEARLY_CENTRED = 0.02  # eccentricity below which sums replace closed forms, which lose digits there

STILL = 1e-9
"""Rate [1/s] that gives a film at rest a direction, and derivatives there."""

POINTS = 12  # terms of these sums: exact to round-off for an integrand that is as smooth


class OilFilm(ABC):
    """The pressure that Reynolds' equation gives around a journal, of eccentricity e.

    With u = 1 + e cos(theta), the film's thickness over the clearance, theta from where it is
    thickest, it is in proportion, where above zero, to

        P = weight(u) (a sin(theta) - b cos(theta))

    over half a turn, on whose ends it is zero.
    """

    @abstractmethod
    def size(self, viscosity: ca.SX, radius: ca.SX, length: ca.SX, clearance: ca.SX) -> ca.SX:
        """Return the factor [N s] from integrals of P [1/s] to forces [N]."""

    @abstractmethod
    def rates(self, e: ca.SX, sweep: ca.SX, squeeze: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return a and b [1/s] from sweep, e w, and squeeze, 2 de/dt."""

    @abstractmethod
    def weight(self, u: ca.SX) -> ca.SX:
        """Return weight(u), positive."""

    @abstractmethod
    def antiderivatives(self, at: FilmAngle) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return those of sin^2, sin cos and cos^2 times weight, by theta and continuous in it."""

    def integrals(self, e: ca.SX, sweep: ca.SX, squeeze: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the integrals of P cos(theta) and P sin(theta) where P is above zero.

        Parameters
        ----------
        e : SX scalar
            Eccentricity, from 0 to below 1.
        sweep, squeeze : SX scalars [1/s]
            e w and 2 de/dt.
        """
        a, b = self.rates(e, sweep, squeeze)
        begin = ca.atan2(b, a + STILL)  # P = size sin(theta - begin)
        far = ca.fmax(e, NEARLY_CENTRED / 2)
        ss, sc, cc = (
            end - start
            for end, start in zip(
                self.antiderivatives(FilmAngle.at(far, begin + np.pi)),
                self.antiderivatives(FilmAngle.at(far, begin)),
                strict=True,
            )
        )
        closed = a * sc - b * cc, a * ss - b * sc
        summed = self._sums(e, a, b, begin)
        along, aside = (
            ca.if_else(e > NEARLY_CENTRED, exact, near)
            for exact, near in zip(closed, summed, strict=True)
        )
        return along, aside

    def _sums(self, e: ca.SX, a: ca.SX, b: ca.SX, begin: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the integrals by Gauss-Legendre sums over the half turn."""
        nodes, weights = np.polynomial.legendre.leggauss(POINTS)
        near = ca.fmin(e, 2 * NEARLY_CENTRED)
        along = aside = ca.SX(0)
        for x, weight in zip(np.pi / 2 * (nodes + 1), np.pi / 2 * weights, strict=True):
            theta = begin + float(x)
            sine, cosine = ca.sin(theta), ca.cos(theta)
            P = (a * sine - b * cosine) * self.weight(1 + near * cosine)
            along += float(weight) * P * cosine
            aside += float(weight) * P * sine
        return along, aside


@dataclass(frozen=True)
class FilmAngle:
    """An angle theta at which antiderivatives are taken, and those of 1/u and 1/u^2 there."""

    e: ca.SX
    sine: ca.SX  # of theta
    u: ca.SX
    first: ca.SX  # of 1/u
    second: ca.SX  # of 1/u^2

    @classmethod
    def at(cls, e: ca.SX, theta: ca.SX) -> FilmAngle:
        """Return them at an angle, continuous in it."""
        sine, cosine = ca.sin(theta), ca.cos(theta)
        u, root = 1 + e * cosine, ca.sqrt(1 - e**2)
        first = (theta - 2 * ca.atan2(e * sine, 1 + root + e * cosine)) / root
        return cls(e, sine, u, first, (first - e * sine / u) / (1 - e**2))


@dataclass(frozen=True)
class ShortBearing(OilFilm):
    """Ocvirk's film, that of a bearing so short that only the flow along its axis counts.

        p = 3 mu c / h^3 (L^2 / 4 - z^2) (e w sin(theta) - 2 de/dt cos(theta))

    Good for L / (2 R) up to about one half [Pinkus, Sternlicht 1961, Theory of Hydrodynamic
    Lubrication; Booker 1965, J. Basic Eng. 87].
    """

    def size(self, viscosity: ca.SX, radius: ca.SX, length: ca.SX, clearance: ca.SX) -> ca.SX:
        return viscosity * radius * length**3 / (2 * clearance**2)

    def rates(self, e: ca.SX, sweep: ca.SX, squeeze: ca.SX) -> tuple[ca.SX, ca.SX]:
        del e
        return sweep, squeeze

    def weight(self, u: ca.SX) -> ca.SX:
        return 1 / u**3

    def antiderivatives(self, at: FilmAngle) -> tuple[ca.SX, ca.SX, ca.SX]:
        e, u, first, second = at.e, at.u, at.first, at.second
        third = (3 * second - first - e * at.sine / u**2) / (2 * (1 - e**2))
        cc = (first - 2 * second + third) / e**2
        return third - cc, (1 / u - 1 / (2 * u**2)) / e**2, cc


@dataclass(frozen=True)
class LongBearing(OilFilm):
    """Sommerfeld's film, that of a bearing so long that only the flow around it counts.

    With turning and squeeze [Pinkus, Sternlicht 1961, Theory of Hydrodynamic Lubrication], the
    constant pressure such that the film, where above zero, reaches over half a turn:

        p = 6 mu (R / c)^2 (1 + u) / u^2 (e w sin(theta) / (2 + e^2) - de/dt cos(theta))

    Good for L / (2 R) from about two on. Its integrals are one expression, whether e grows or
    shrinks.
    """

    def size(self, viscosity: ca.SX, radius: ca.SX, length: ca.SX, clearance: ca.SX) -> ca.SX:
        return 6 * viscosity * radius**3 * length / clearance**2

    def rates(self, e: ca.SX, sweep: ca.SX, squeeze: ca.SX) -> tuple[ca.SX, ca.SX]:
        return sweep / (2 + e**2), squeeze / 2

    def weight(self, u: ca.SX) -> ca.SX:
        return (1 + u) / u**2

    def antiderivatives(self, at: FilmAngle) -> tuple[ca.SX, ca.SX, ca.SX]:
        e, u, first, second = at.e, at.u, at.first, at.second
        cc = (e * at.sine - first + second) / e**2
        return first + second - cc, -(u + 1 / u) / e**2, cc
