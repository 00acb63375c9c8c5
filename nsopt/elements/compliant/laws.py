"""Laws of the normal force of compliant contacts."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from nsopt.checks import not_negative
from nsopt.elements.compliant.law import CompliantLaw, Hysteresis, Press
from nsopt.mechanics import State
from nsopt.parameter import Scalar

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
