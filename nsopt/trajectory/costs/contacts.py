"""Costs of what contacts bear, in motions in steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mechanics.checks import positive
from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.moment import Moment


@dataclass(frozen=True, kw_only=True)
class _OfContacts(Cost):
    """A cost of some contacts.

    Parameters
    ----------
    contacts : sequence of str, optional
        Names of gaps, by default all.
    """

    contacts: Sequence[str] | None = None

    def check(self, dynamics: Dynamics) -> None:
        known = dynamics.contact_names
        for name in self.contacts or ():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} names the contact {name!r}, which is not there: one of "
                    f"{', '.join(known) or 'none'}"
                )
        if not known:
            raise ValueError(
                f"{type(self).__name__} is a cost of contacts, but the mechanism has none"
            )

    def _places(self, dynamics: Dynamics) -> list[int]:
        names = self.contacts or dynamics.contact_names
        return [dynamics.contact_names.index(name) for name in names]


@dataclass(frozen=True, kw_only=True)
class ContactForce(_OfContacts):
    """Integral of a power of the normal forces of contacts: the higher, the more of peaks alone.

    Parameters
    ----------
    scale : float [N]
        Force that costs one per second.
    power : float
    """

    scale: float = 1.0
    power: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("scale of ContactForce", self.scale)
        positive("power of ContactForce", self.power)

    def rate(self, m: Moment) -> ca.SX:
        return ca.sum1((m.contact_force[self._places(m.dynamics)] / self.scale) ** self.power)


@dataclass(frozen=True, kw_only=True)
class ImpactEnergy(_OfContacts):
    """Energy that contacts take in blows and friction [J]."""

    def blow(self, m: Moment) -> ca.SX:
        return ca.sum1(m.loss[self._places(m.dynamics)])
