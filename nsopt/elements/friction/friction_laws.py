"""Friction as a function of sliding speed and normal force, smooth in both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import casadi as ca

from nsopt.checks import not_negative, positive
from nsopt.mechanics import State
from nsopt.parameter import Scalar


class FrictionLaw(ABC):
    """A law of the friction that resists a sliding speed u [m/s, or rad/s of a joint that turns].

    A new law is one frozen dataclass.
    """

    states: tuple[str, ...] = ()
    """Names of its internal states."""

    @abstractmethod
    def check(self, of_element: str) -> None:
        """Refuse numbers out of range; ``of_element`` names the owner of the law.

        Raises
        ------
        ValueError
        """

    @abstractmethod
    def resist(self, s: State, u: ca.SX, normal: ca.SX, h: ca.SX, z: ca.SX) -> ca.SX:
        """Return the mean friction [N] over a step of h [s] at speed u, from internal states z.

        ``normal`` [N] is zero or more. The friction returned has the sign of u, against which it
        acts.
        """

    def smoothed(self, s: State, creep: ca.SX) -> FrictionLaw:
        """Return the law with sign(u) smoothed up to the speed ``creep``; unchanged where it is 0.

        By default unchanged, as is right for a law in which sign(u) does not occur.
        """
        del s, creep
        return self

    def advance_states(self, s: State, u: ca.SX, h: ca.SX, z: ca.SX) -> ca.SX:
        """Return the internal states after the step."""
        del s, u, h
        return z


@dataclass(frozen=True)
class ViscousLaw(FrictionLaw):
    """Force in proportion to speed, independent of the normal force.

    Parameters
    ----------
    coefficient : float or Parameter [N s/m, or N s/rad at the radius of a joint that turns]
    """

    coefficient: Scalar

    def check(self, of_element: str) -> None:
        not_negative(f"coefficient {of_element}", self.coefficient)

    def resist(self, s: State, u: ca.SX, normal: ca.SX, h: ca.SX, z: ca.SX) -> ca.SX:
        del normal, h, z
        return s.value(self.coefficient) * u


@dataclass(frozen=True)
class StribeckLaw(FrictionLaw):
    """Coulomb's law with a static peak: (mu_k + (mu_s - mu_k) exp(-(u/v_s)^2)) N sign(u).

    The sign is u / sqrt(u^2 + creep^2): below the creep speed sticking is slow sliding. Where
    `optimize` has polynomials between nodes, joints with a drive have a creep that suits its grid.

    Parameters
    ----------
    kinetic, static : float or Parameter
        Coefficients; without ``static`` they are equal, which is Coulomb's law.
    stribeck : float or Parameter [m/s or rad/s]
        v_s.
    creep : float or Parameter [m/s or rad/s]
    """

    kinetic: Scalar
    static: Scalar | None = None
    stribeck: Scalar = 1e-2
    creep: Scalar | ca.SX = 1e-3

    def check(self, of_element: str) -> None:
        low = not_negative(f"kinetic coefficient {of_element}", self.kinetic)
        if self.static is not None:
            high = not_negative(f"static coefficient {of_element}", self.static)
            if high < low:
                raise ValueError(
                    f"static coefficient {of_element} must not be below the kinetic one, got "
                    f"{high:g} < {low:g}"
                )
        positive(f"stribeck speed {of_element}", self.stribeck)
        positive(f"creep speed {of_element}", self.creep)

    def smoothed(self, s: State, creep: ca.SX) -> StribeckLaw:
        return replace(self, creep=ca.if_else(creep > 0, creep, s.value(self.creep)))

    def coefficient(self, s: State, u: ca.SX) -> ca.SX:
        """Return the coefficient of sliding at that speed."""
        low = s.value(self.kinetic)
        if self.static is None:
            return low
        return low + (s.value(self.static) - low) * ca.exp(-((u / s.value(self.stribeck)) ** 2))

    def resist(self, s: State, u: ca.SX, normal: ca.SX, h: ca.SX, z: ca.SX) -> ca.SX:
        del h, z
        speed = ca.sqrt(u**2 + s.value(self.creep) ** 2)
        return self.coefficient(s, u) * normal * u / speed


SMALL = 1e-3  # argument below which `_phi1` and `_phi2` are taken from their series


@dataclass(frozen=True)
class LuGreLaw(FrictionLaw):
    """A deflection z of bristles as internal state.

        dz/dt = u - sigma_0 |u| z / g(u),   g = mu_k + (mu_s - mu_k) exp(-(u/v_s)^2)
        force = N (sigma_0 z + sigma_1 dz/dt + sigma_2 u)

    Over a step at constant u this is linear in z and solved exactly, so that steps need not
    resolve the transient of the bristles; the force is the mean over the step.

    Parameters
    ----------
    stiffness : float or Parameter [1/m or 1/rad]
        sigma_0, of a coefficient of friction.
    damping, viscous : float or Parameter [s/m or s/rad]
        sigma_1, sigma_2.
    kinetic, static : float or Parameter
        mu_k, mu_s.
    stribeck : float or Parameter [m/s or rad/s]
        v_s.
    creep : float [m/s or rad/s]
        |u| is sqrt(u^2 + creep^2). Raise it to a thousandth of v_s for optimizers that use second
        derivatives; bristles then slowly let go in sticking.

    Notes
    -----
    The energy of bent bristles is in no energy of the record: the recorded dissipation includes it
    until they spring back.
    """

    states = ("z",)

    stiffness: Scalar
    damping: Scalar
    viscous: Scalar
    kinetic: Scalar
    static: Scalar
    stribeck: Scalar
    creep: float = 1e-9

    def check(self, of_element: str) -> None:
        positive(f"stiffness {of_element}", self.stiffness)
        not_negative(f"damping {of_element}", self.damping)
        not_negative(f"viscous {of_element}", self.viscous)
        positive(f"kinetic coefficient {of_element}", self.kinetic)
        positive(f"creep speed {of_element}", self.creep)
        self._steady.check(of_element)

    @property
    def _steady(self) -> StribeckLaw:
        return StribeckLaw(self.kinetic, self.static, self.stribeck)

    def _find_decay(self, s: State, u: ca.SX) -> ca.SX:
        """Return sigma_0 |u| / g(u) [1/s]."""
        g = self._steady.coefficient(s, u)
        return s.value(self.stiffness) * ca.sqrt(u**2 + self.creep**2) / g

    def resist(self, s: State, u: ca.SX, normal: ca.SX, h: ca.SX, z: ca.SX) -> ca.SX:
        decay = self._find_decay(s, u)
        x = decay * h
        mean_z = z * _phi1(x) + u * h * _phi2(x)
        mean_rate = (u - decay * z) * _phi1(x)
        return normal * (
            s.value(self.stiffness) * mean_z
            + s.value(self.damping) * mean_rate
            + s.value(self.viscous) * u
        )

    def advance_states(self, s: State, u: ca.SX, h: ca.SX, z: ca.SX) -> ca.SX:
        x = self._find_decay(s, u) * h
        return z * ca.exp(-x) + u * h * _phi1(x)


def _phi1(x: ca.SX) -> ca.SX:
    """Return (1 - exp(-x)) / x."""
    series = 1 - x / 2 + x**2 / 6 - x**3 / 24
    y = ca.fmax(x, SMALL)
    return ca.if_else(x < SMALL, series, (1 - ca.exp(-y)) / y)


def _phi2(x: ca.SX) -> ca.SX:
    """Return (x - 1 + exp(-x)) / x^2."""
    series = 1 / 2 - x / 6 + x**2 / 24 - x**3 / 120
    y = ca.fmax(x, SMALL)
    return ca.if_else(x < SMALL, series, (y - 1 + ca.exp(-y)) / y**2)
