"""A lubricated journal in its bearing: the pressure of the film, and contact where it breaks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.checks import positive
from nsopt.elements.compliant import CompliantLaw, Hertz
from nsopt.elements.outlines import circle
from nsopt.mechanics import Bore, Force, Gap, Load, Outline, Output, Pair, Pressed, State
from nsopt.parameter import Scalar, number

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
        summed = self._sum_integrals(e, a, b, begin)
        along, aside = (
            ca.if_else(e > NEARLY_CENTRED, exact, near)
            for exact, near in zip(closed, summed, strict=True)
        )
        return along, aside

    def _sum_integrals(self, e: ca.SX, a: ca.SX, b: ca.SX, begin: ca.SX) -> tuple[ca.SX, ca.SX]:
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
        """Return the functions at an angle, continuous in it."""
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


CENTRED = 1e-9  # offset over the clearance added along x, a direction for a centred journal


class _Film(NamedTuple):
    """The film at a state, seen from the centre of the bearing."""

    offset: ca.SX  # (3,) [m] of the bearing's centre from the journal's, across the axis
    eccentricity: ca.SX  # offset over clearance
    toward: ca.SX  # (3,) unit, from the centre of the bearing to that of the journal
    thickness: ca.SX  # [m] of the film where it is thinnest
    force: ca.SX  # (3,) [N] on the bearing
    torque: ca.SX  # [N m] of shear on the bearing, about the axis


THINNEST = 1e-4  # least film over the clearance: at it the integrals keep six digits
LEAST = 1e-30  # depth [m] of asperities that do not touch, as of gaps of a `CompliantContact`


@dataclass(frozen=True, eq=False)
class JournalBearing(Pair, Force):
    """The oil film between a journal (frame a) and its bearing (frame b), under any motion.

    Reynolds' equation of a short or a long bearing, by ``film``, with the speed of both surfaces
    and the squeeze, w = w_a + w_b - 2 dgamma/dt (gamma the direction of the line of centres), e the
    eccentricity, h = c (1 + e cos theta): its pressure where above zero, the half film of
    Guembel's condition. Shear resists by Petrov's torque
    2 pi mu R^3 L (w_b - w_a) / (c sqrt(1 - e^2)). Where the film is thinner than ``roughness`` the
    surfaces touch: asperities press by a compliant law of how much thinner it is, without damping
    of their own, and the film gets no thinner in the integrals.

    Parameters
    ----------
    a, b : Frame
        Journal and bearing: origins at the centres, z along the axis. Other joints hold tilt and
        axial motion.
    clearance, radius, length : float or Parameter [m]
        Radial clearance c, radius R of the journal, length L of the bearing.
    viscosity : float or Parameter [Pa s]
        mu.
    roughness : float or Parameter [m]
        By keyword.
    contact : CompliantLaw
        Of the asperities, by keyword.
    film : OilFilm
        `ShortBearing` (default) or `LongBearing`, by keyword.

    Raises
    ------
    ValueError
        If a number is out of range.
    TypeError
        If contact or film are none that fit.

    Notes
    -----
    A journal at rest sinks until its asperities carry it. On record as a contact: its gap is the
    thinnest film less the roughness, its force that of film and asperities on the bearing; its mode
    is contact where asperities touch. Outputs are ``eccentricity``, ``film`` [m] and ``torque`` [N
    m].
    """

    clearance: Scalar
    radius: Scalar
    length: Scalar
    viscosity: Scalar
    roughness: Scalar = field(default=1e-6, kw_only=True)
    contact: CompliantLaw = field(default=Hertz(1e10), kw_only=True)
    film: OilFilm = field(default=ShortBearing(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of JournalBearing {self.name!r}"
        for name in ("clearance", "radius", "length", "viscosity"):
            positive(f"{name} {of_element}", getattr(self, name))
        rough = positive(f"roughness {of_element}", self.roughness)
        if not rough < float(number(self.clearance)):
            raise ValueError(
                f"roughness {of_element} must be below its clearance, got {rough:g} m: films are "
                "as thick as the clearance where the journal is centred"
            )
        if rough < THINNEST * float(number(self.clearance)):
            raise ValueError(
                f"roughness {of_element} must be at least {THINNEST:g} of its clearance, got "
                f"{rough:g} m: thinner films are lost in round-off"
            )
        if not isinstance(self.contact, CompliantLaw) or self.contact.latches:
            raise TypeError(
                f"contact {of_element} must be a CompliantLaw that needs no speed of impact, such "
                f"as Hertz(1e10), got {self.contact!r}"
            )
        self.contact.check(of_element)
        if not isinstance(self.film, OilFilm):
            raise TypeError(
                f"film {of_element} must be an OilFilm, such as LongBearing(), got {self.film!r}"
            )

    def loads(self, s: State) -> list[Load]:
        (surface,) = self.pressed(s)
        return surface.losing

    def energy(self, s: State) -> ca.SX:
        film = self._find_film(s)
        depth = self._measure_interference(s, film)
        return (depth > 0) * self.contact.energy(s, ca.fmax(depth, LEAST))

    def pressed(self, s: State) -> list[Pressed]:
        a, b, film = s.motion(self.a), s.motion(self.b), self._find_film(s)
        middle = (a.r + b.r) / 2
        slide = b.velocity_at(middle) - a.velocity_at(middle)
        turn = ca.dot(a.A[:, 2], b.w - a.w)
        losing = [Load(slide, film.force), Load(turn, film.torque)]
        depth = self._measure_interference(s, film)
        pressure = (depth > 0) * self.contact.elastic(s, ca.fmax(depth, LEAST))
        asperities = pressure * film.toward
        c, R = s.value(self.clearance), s.value(self.radius)
        gap = Gap(
            distance=-depth,
            function=-depth,
            point=b.r + (R + c) * film.toward,
            normal=film.toward,
            scale=c,
            clearance=c,
            bore=Bore(a.A.T @ film.offset, a.A, c, lambda d, c: (c**2 - ca.sumsqr(d)) / (2 * c)),
        )
        return [Pressed(gap, film.force + asperities, losing)]

    def outputs(self, s: State) -> list[Output]:
        film = self._find_film(s)
        return [
            Output("eccentricity", film.eccentricity, "1"),
            Output("film", film.thickness, "m"),
            Output("torque", film.torque, "N m"),
        ]

    def outline(self) -> list[Outline]:
        r, c = float(number(self.radius)), float(number(self.clearance))
        return [Outline(self.a, circle(r, 0.0)), Outline(self.b, circle(r + c, 0.0))]

    def _measure_interference(self, s: State, film: _Film) -> ca.SX:
        """Return by how much the film is thinner than the asperities are high [m]."""
        return s.value(self.roughness) - film.thickness

    def _find_film(self, s: State) -> _Film:
        a, b, c = s.motion(self.a), s.motion(self.b), s.value(self.clearance)
        mu, R, L = (s.value(x) for x in (self.viscosity, self.radius, self.length))
        axis, D = a.A[:, 2], b.r - a.r
        offset = D - axis * ca.dot(axis, D)
        # Where the journal is centred the line of centres may be any: that along x.
        apart = -offset + CENTRED * c * a.A[:, 0]
        length = ca.sqrt(ca.sumsqr(apart))
        toward = apart / length
        across = ca.cross(axis, toward)
        e = length / c
        thickness = c - length
        thin = ca.fmin(e, 1 - s.value(self.roughness) / c)  # in the integrals
        rate = a.v - b.v
        squeeze = 2 * ca.dot(toward, rate) / c  # 2 de/dt
        # e w, where e dgamma/dt is the velocity of the journal's centre across the line, over c.
        sweep = e * ca.dot(axis, a.w + b.w) - 2 * ca.dot(across, rate) / c
        along, aside = self.film.integrals(thin, sweep, squeeze)
        size = self.film.size(mu, R, L, c)
        on_journal = size * (along * toward + aside * across)
        shear = 2 * np.pi * mu * R**3 * L / (c * ca.sqrt(1 - thin**2))
        return _Film(offset, e, toward, thickness, -on_journal, -shear * ca.dot(axis, b.w - a.w))
