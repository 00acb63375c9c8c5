"""Friction of compliant contacts: Coulomb's law made a function of the slip."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca

from nsopt.checks import not_negative, positive
from nsopt.mechanics import State
from nsopt.parameter import Scalar

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
