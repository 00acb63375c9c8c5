"""Costs of the motion itself, and of its contact forces and impacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.checks import NOT_IN_MECHANISM, check_names, positive
from nsopt.mechanics import Dynamics
from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True, kw_only=True)
class Duration(Cost):
    """Duration of the motion [s]."""

    def rate(self, m: NodeSample) -> ca.SX:
        del m
        return ca.SX(1)


@dataclass(frozen=True, kw_only=True)
class EvenSteps(Cost):
    """Integral of (h / mean h - 1)^2 [s], for free step sizes and a given duration.

    Without it the optimizer chooses step sizes whose discretisation error lowers the other costs.
    """

    def rate(self, m: NodeSample) -> ca.SX:
        if m.stepped is None or m.stepped.next_h.is_zero():  # no step follows the last node
            return ca.SX(0)
        if m.stepped.mean_h.is_constant() and np.isnan(float(m.stepped.mean_h)):
            raise ValueError("EvenSteps needs a Horizon of given duration: leave it out")
        return (m.stepped.next_h / m.stepped.mean_h - 1) ** 2


@dataclass(frozen=True, kw_only=True)
class Smoothness(Cost):
    """Integral of squared accelerations of the coordinates [rad^2/s^3 or m^2/s^3].

    Parameters
    ----------
    names : sequence of str, optional
        Of the velocities that count, such as ``elbow.rate``; by default all.
    """

    names: Sequence[str] | None = None

    def check(self, dynamics: Dynamics) -> None:
        what, names = "Smoothness names the velocity", self.names or ()
        check_names(what, names, dynamics.v_names, NOT_IN_MECHANISM)

    def rate(self, m: NodeSample) -> ca.SX:
        if self.names is None:
            return ca.sumsqr(m.a)
        return ca.sumsqr(m.a[[m.dynamics.v_names.index(name) for name in self.names]])


@dataclass(frozen=True, kw_only=True)
class Jerk(Cost):
    """Integral of the squared derivatives of the accelerations [rad^2/s^5 or m^2/s^5].

    Only for motions without contacts, whose accelerations have a derivative.
    """

    def rate(self, m: NodeSample) -> ca.SX:
        if m.stepped is not None:
            raise ValueError(
                "Jerk needs accelerations that are functions of time, which a time-stepped "
                "motion does not have: use Smoothness"
            )
        return ca.SX(0)

    def over_step(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        first, middle, last = a
        # h times the jerk, which is linear in time: Simpson's rule gives its square exactly.
        at_start, at_end = -3 * first + 4 * middle - last, first - 4 * middle + 3 * last
        halfway = last - first
        return (ca.sumsqr(at_start) + 4 * ca.sumsqr(halfway) + ca.sumsqr(at_end)) / (6 * h)


@dataclass(frozen=True, kw_only=True)
class _OfContacts(Cost):
    """A cost of contacts, by default all; of a joint with clearance its gaps, ``hinge[0]``."""

    contacts: Sequence[str] | None = None

    def check(self, dynamics: Dynamics) -> None:
        what, known = f"{type(self).__name__} names the contact", dynamics.contact_names
        check_names(what, self.contacts or (), known, NOT_IN_MECHANISM)
        if not known:
            raise ValueError(
                f"{type(self).__name__} is a cost of contacts, but the mechanism has none"
            )

    def _find_indices(self, dynamics: Dynamics) -> list[int]:
        names = self.contacts or dynamics.contact_names
        return [dynamics.contact_names.index(name) for name in names]


@dataclass(frozen=True, kw_only=True)
class ContactForce(_OfContacts):
    """Integral of normal contact forces to a power, summed over contacts [s].

    Parameters
    ----------
    scale : float [N]
        Force that costs one per second.
    power : float
        Exponent; the higher it is, the more peaks dominate.
    """

    scale: float = 1.0
    power: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("scale of ContactForce", self.scale)
        positive("power of ContactForce", self.power)

    def rate(self, m: NodeSample) -> ca.SX:
        return ca.sum1((m.contact_force[self._find_indices(m.dynamics)] / self.scale) ** self.power)


@dataclass(frozen=True, kw_only=True)
class ImpactEnergy(_OfContacts):
    """Energy dissipated by contacts in impacts and friction [J]."""

    def impact(self, m: NodeSample) -> ca.SX:
        return ca.sum1(m.loss[self._find_indices(m.dynamics)])
