"""Costs of contact forces and impacts, for time-stepped motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from nsopt.checks import positive
from nsopt.mechanics import Dynamics
from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True, kw_only=True)
class _OfContacts(Cost):
    """A cost of contacts, by default all; of a joint with clearance its gaps, ``hinge[0]``."""

    contacts: Sequence[str] | None = None

    def check(self, dynamics: Dynamics) -> None:
        known = dynamics.contact_names
        for name in self.contacts or ():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} names the contact {name!r}, which is not in "
                    "the mechanism: one of "
                    f"{', '.join(known) or 'none'}"
                )
        if not known:
            raise ValueError(
                f"{type(self).__name__} is a cost of contacts, but the mechanism has none"
            )

    def _indices(self, dynamics: Dynamics) -> list[int]:
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
        return ca.sum1((m.contact_force[self._indices(m.dynamics)] / self.scale) ** self.power)


@dataclass(frozen=True, kw_only=True)
class ImpactEnergy(_OfContacts):
    """Energy dissipated by contacts in impacts and friction [J]."""

    def impact(self, m: NodeSample) -> ca.SX:
        return ca.sum1(m.loss[self._indices(m.dynamics)])
