"""The LuGre law: bristles that bend before they slide [CoPCoD 2023, eqs. 19-22]."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt.checks import not_negative, positive
from nsopt.elements.friction.friction_laws import FrictionLaw, StribeckLaw
from nsopt.mechanics import State
from nsopt.parameter import Scalar

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
    The energy of bent bristles is in no energy of the record: what is dissipated counts it until
    they spring back.
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

    def _decay(self, s: State, u: ca.SX) -> ca.SX:
        """Return sigma_0 |u| / g(u) [1/s]."""
        g = self._steady.coefficient(s, u)
        return s.value(self.stiffness) * ca.sqrt(u**2 + self.creep**2) / g

    def resist(self, s: State, u: ca.SX, normal: ca.SX, h: ca.SX, z: ca.SX) -> ca.SX:
        decay = self._decay(s, u)
        x = decay * h
        mean_z = z * _phi1(x) + u * h * _phi2(x)
        mean_rate = (u - decay * z) * _phi1(x)
        return normal * (
            s.value(self.stiffness) * mean_z
            + s.value(self.damping) * mean_rate
            + s.value(self.viscous) * u
        )

    def advance_states(self, s: State, u: ca.SX, h: ca.SX, z: ca.SX) -> ca.SX:
        x = self._decay(s, u) * h
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
