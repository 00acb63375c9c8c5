"""The contract of a compliant law: what a gap under pressure answers with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca

from nsopt.checks import finite, positive
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
