"""Laws of compliant contacts: of the force of a gap under pressure, and of its friction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca

from nsopt.checks import finite, not_negative, positive
from nsopt.mechanics import State
from nsopt.parameter import Scalar


class Press(NamedTuple):
    """A gap under pressure."""

    depth: ca.SX  # [m] delta, of a closed gap
    speed: ca.SX  # [m/s] ddelta/dt, above zero while the bodies approach
    impact: ca.SX  # [m/s] that speed when the gap closed, above zero; of laws that need it
    restitution: ca.SX  # e of the contact, from 0 to 1


@dataclass(frozen=True)
class CompliantLaw(ABC):
    """A law of the normal force of a compliant contact: K delta^n and what dissipates.

    A new law is one frozen dataclass with a `damping`; one that scales K delta^n by the speed
    over that of the impact derives from `Hysteresis`.

    Parameters
    ----------
    stiffness : float or Parameter [N/m^n]
        K.
    exponent : float or Parameter
        n, 1.5 for the round bodies of Hertz [NLP-clearance 2024, eq. 1].
    """

    stiffness: Scalar
    exponent: Scalar = 1.5

    @property
    def latches(self) -> bool:
        """Whether it needs the speed with which each contact began."""
        return False

    def check(self, of_element: str) -> None:
        """Refuse numbers out of range; ``of_element`` names the owner of the law.

        Raises
        ------
        ValueError
        """
        positive(f"stiffness {of_element}", self.stiffness)
        n = float(finite(f"exponent {of_element}", self.exponent, ()))
        if n < 1:
            raise ValueError(
                f"exponent {of_element} must be at least 1, got {n:g}: 1.5 is that of Hertz"
            )

    def check_restitution(self, of_element: str, e: float) -> None:
        """Refuse a restitution e of the contact for which the law has no value; none by default.

        Raises
        ------
        ValueError
        """
        del of_element, e

    def elastic(self, s: State, depth: ca.SX) -> ca.SX:
        """Return the elastic force [N] at a depth [m] above zero."""
        return s.value(self.stiffness) * depth ** s.value(self.exponent)

    def energy(self, s: State, depth: ca.SX) -> ca.SX:
        """Return its potential [J], zero where depth is zero."""
        n = s.value(self.exponent)
        return s.value(self.stiffness) * depth ** (n + 1) / (n + 1)

    @abstractmethod
    def damping(self, s: State, press: Press) -> ca.SX:
        """Return the dissipative force [N], above zero while the bodies approach.

        Below zero the contact bounds it by the elastic force, so that the sum never pulls.
        """


@dataclass(frozen=True)
class Hysteresis(CompliantLaw):
    """A law K delta^n (1 + k ddelta / v), v the speed of the impact.

    That is the form of [NLP-clearance 2024, eq. 3] with chi = k K / v. Bodies that meet freely part
    with e' v, where k (1 + e') = ln((1 + k) / (1 - k e')), whatever K, n, v and their masses: the
    equation of motion m delta'' = -F has separate variables delta and ddelta.

    Parameters
    ----------
    impact_speed : float or Parameter [m/s], optional
        v as a number, by keyword. By default it is the speed of approach with which each contact
        began; that is history, which steps carry along as an internal state. Horizons and
        integrators of other libraries need a number.
    slowest : float or Parameter [m/s]
        The least v, by keyword: what comes to rest ends with touches ever slower, whose damping
        would have no bound.
    """

    impact_speed: Scalar | None = field(default=None, kw_only=True)
    slowest: Scalar = field(default=1e-3, kw_only=True)

    @property
    def latches(self) -> bool:
        return self.impact_speed is None

    def check(self, of_element: str) -> None:
        super().check(of_element)
        positive(f"slowest impact {of_element}", self.slowest)
        if self.impact_speed is not None:
            remedy = "state the speed of a typical impact, or leave it out"
            positive(f"impact_speed {of_element}", self.impact_speed, remedy)

    @abstractmethod
    def factor(self, e: ca.SX) -> ca.SX:
        """Return k of the restitution e that is stated."""

    def damping(self, s: State, press: Press) -> ca.SX:
        impact = press.impact if self.impact_speed is None else s.value(self.impact_speed)
        part = self.factor(press.restitution) * press.speed / ca.fmax(impact, s.value(self.slowest))
        return self.elastic(s, press.depth) * part


ITERATIONS = 8  # Newton steps to the factor of Gonthier's law, from its own approximation
NEAR_ONE = 1e-3  # 1 - e below which that factor is taken from a series, to 1e-9


@dataclass(frozen=True)
class Hertz(CompliantLaw):
    """K delta^n: elastic, whatever the restitution of the contact [NLP-clearance 2024, eq. 1]."""

    def damping(self, s: State, press: Press) -> ca.SX:
        del s
        return ca.SX.zeros(press.depth.shape)


@dataclass(frozen=True)
class KelvinVoigt(CompliantLaw):
    """K delta + D ddelta, a spring and a damper side by side [NLP-clearance 2024, eq. 2].

    The restitution of the contact does not count: with zeta = D / (2 sqrt(K m)) below 0.7 bodies
    that meet freely part with e = exp(-zeta / sqrt(1 - zeta^2) (pi - atan(2 zeta sqrt(1 - zeta^2)
    / (1 - 2 zeta^2)))), where the force would begin to pull [Schwager, Poeschel 2007, Granular
    Matter 9]. The force of the damper is there at once when a gap closes.

    Parameters
    ----------
    damping_coefficient : float or Parameter [N s/m]
        D, by keyword.
    """

    exponent: Scalar = 1.0
    damping_coefficient: Scalar = field(default=0.0, kw_only=True)

    def check(self, of_element: str) -> None:
        super().check(of_element)
        not_negative(f"damping_coefficient {of_element}", self.damping_coefficient)

    def damping(self, s: State, press: Press) -> ca.SX:
        return s.value(self.damping_coefficient) * press.speed


@dataclass(frozen=True)
class HuntCrossley(Hysteresis):
    """k = 3 (1 - e) / 2 [Hunt, Crossley 1975, J. Appl. Mech. 42], made for e near one."""

    def factor(self, e: ca.SX) -> ca.SX:
        return 3 * (1 - e) / 2


@dataclass(frozen=True)
class HerbertMcWhannell(Hysteresis):
    """k = 6 (1 - e) / ((2 e - 1)^2 + 3) [Herbert, McWhannell 1977, J. Eng. Ind. 99]."""

    def factor(self, e: ca.SX) -> ca.SX:
        return 6 * (1 - e) / ((2 * e - 1) ** 2 + 3)


@dataclass(frozen=True)
class LeeWang(Hysteresis):
    """k = 3 (1 - e) / 4 [Lee, Wang 1983, J. Mech. Trans. Autom. Des. 105]."""

    def factor(self, e: ca.SX) -> ca.SX:
        return 3 * (1 - e) / 4


@dataclass(frozen=True)
class LankaraniNikravesh(Hysteresis):
    """k = 3 (1 - e^2) / 4 [Lankarani, Nikravesh 1990, J. Mech. Des. 112], made for e near one.

    Bodies part with 0.913 for e = 0.9, 0.725 for 0.5, 0.663 for 0.
    """

    def factor(self, e: ca.SX) -> ca.SX:
        return 3 * (1 - e**2) / 4


@dataclass(frozen=True)
class _NoZeroRestitution(Hysteresis):
    """A law for all e but zero."""

    def check_restitution(self, of_element: str, e: float) -> None:
        if not e > 0:
            raise ValueError(
                f"restitution {of_element} must be above 0 for {type(self).__name__}, whose "
                f"damping has no bound there, got {e:g}: 0.01 is nearly none"
            )


@dataclass(frozen=True)
class Flores(_NoZeroRestitution):
    """k = 8 (1 - e) / (5 e) [Flores, Machado, Silva, Martins 2011, Multibody Syst. Dyn. 25].

    Bodies part with 0.894 for e = 0.9, 0.470 for 0.5, 0.069 for 0.1.
    """

    def factor(self, e: ca.SX) -> ca.SX:
        return 8 * (1 - e) / (5 * e)


@dataclass(frozen=True)
class Gonthier(_NoZeroRestitution):
    """k = d / e with (1 + d / e) / (1 - d) = exp(d (1 + 1 / e)): bodies part with e exactly.

    [Gonthier, McPhee, Lange, Piedboeuf 2004, Multibody Syst. Dyn. 11], who give d = 1 - e^2 as
    an approximation (0.876 for e = 0.9); here the equation is solved.
    """

    def factor(self, e: ca.SX) -> ca.SX:
        far = ca.fmin(e, 1 - NEAR_ONE)
        d = 1 - far**2
        for _ in range(ITERATIONS):
            # The logarithm of the equation over d, of which d = 0 is a root as well.
            quotient = (ca.log1p(d / far) - ca.log1p(-d)) / d
            f = quotient - (1 + 1 / far)
            slope = (1 / (far + d) + 1 / (1 - d) - quotient) / d
            d = ca.fmin(ca.fmax(d - f / slope, d / 2), (1 + d) / 2)  # within 0 and 1
        series = 3 / 2 * e * (1 - e**2) / (e**3 + 1)
        return ca.if_else(e < 1 - NEAR_ONE, d, series) / e


TINY = 1e-12  # slip [m/s] whose direction does not count


class CompliantFriction(ABC):
    """The part of Coulomb's friction mu N that acts at a slip; mu is that of `ContactLaw`."""

    @abstractmethod
    def check(self, of_element: str) -> None:
        """Refuse numbers out of range; ``of_element`` names the owner.

        Raises
        ------
        ValueError
        """

    @abstractmethod
    def drag(self, s: State, slip: ca.SX) -> ca.SX:
        """Return c [s/m], scalar, of the friction -c mu N slip, for a slip (k,) [m/s]."""


@dataclass(frozen=True)
class SmoothCoulomb(CompliantFriction):
    """u / sqrt(u^2 + creep^2) of mu N against the slip u: sticking is slow sliding.

    Parameters
    ----------
    creep : float or Parameter [m/s]
        The slip at which friction reaches 1/sqrt(2) of the whole.
    """

    creep: Scalar = 1e-4

    def check(self, of_element: str) -> None:
        remedy = "give a slip speed [m/s] that counts as sticking"
        positive(f"creep {of_element}", self.creep, remedy)

    def drag(self, s: State, slip: ca.SX) -> ca.SX:
        return 1 / ca.sqrt(ca.sumsqr(slip) + s.value(self.creep) ** 2)


@dataclass(frozen=True)
class AmbrosioFriction(CompliantFriction):
    """No friction up to a slip of v0, the whole from v1 on, linear between [Ambrosio 2003].

    Impact of rigid and flexible multibody systems, in Virtual Nonlinear Multibody Systems, NATO
    Science Series II 103: F = -mu c_d N u / |u|. Nothing holds below v0, so nothing sticks.

    Parameters
    ----------
    v0, v1 : float or Parameter [m/s]
    """

    v0: Scalar = 1e-4
    v1: Scalar = 1e-3

    def check(self, of_element: str) -> None:
        low = not_negative(f"v0 of friction {of_element}", self.v0)
        high = positive(f"v1 of friction {of_element}", self.v1)
        if not low < high:
            raise ValueError(
                f"v1 of friction {of_element} must be above v0, got {high:g} <= {low:g} m/s"
            )

    def drag(self, s: State, slip: ca.SX) -> ca.SX:
        speed, low = ca.sqrt(ca.sumsqr(slip) + TINY**2), s.value(self.v0)
        part = (speed - low) / (s.value(self.v1) - low)
        return ca.fmin(ca.fmax(part, 0), 1) / speed
