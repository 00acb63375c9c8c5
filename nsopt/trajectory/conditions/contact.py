"""Conditions on contacts, and conditions that hold for a part of the motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.mechanics.checks import finite
from nsopt.trajectory.conditions.base import Bound, Condition, Span
from nsopt.trajectory.moment import Moment


@dataclass(frozen=True)
class During(Condition):
    """What another condition demands all along, for a part of the motion only.

    Parameters
    ----------
    condition : Condition
    first, last : float
        From which to which node, as shares of the number of steps; both the same for one node.

    Raises
    ------
    TypeError
        If the condition is none.
    ValueError
        Unless 0 <= first <= last <= 1.
    """

    condition: Condition
    first: float
    last: float

    def __post_init__(self) -> None:
        if not isinstance(self.condition, Condition):
            raise TypeError(
                f"During takes a Condition first, got {self.condition!r}: write "
                "During(Touching(contact), first, last)"
            )
        for name in ("first", "last"):
            finite(f"{name} of During", getattr(self, name), ())
        if not 0 <= self.first <= self.last <= 1:
            raise ValueError(
                "first and last of During are shares of the steps, 0 <= first <= last <= 1, got "
                f"{self.first:g} and {self.last:g}"
            )

    def check(self, dynamics: Dynamics) -> None:
        self.condition.check(dynamics)

    def during(self, m: Moment) -> list[Span]:
        return [Span(self.first, self.last, self.condition.along(m))]


@dataclass(frozen=True)
class _OfContact(Condition):
    """A mode of one contact.

    Parameters
    ----------
    contact : str
        Its name; of a joint with clearance that of one gap, such as ``hinge[0]``.
    """

    contact: str

    def check(self, dynamics: Dynamics) -> None:
        if self.contact not in dynamics.contact_names:
            raise ValueError(
                f"{type(self).__name__} names the contact {self.contact!r}, which is not there: "
                f"one of {', '.join(dynamics.contact_names) or 'none'}"
            )


class Touching(_OfContact):
    """A contact is closed: over a `During`, a fixed mode."""

    def along(self, m: Moment) -> list[Bound]:
        k = m.dynamics.contact_names.index(self.contact)
        return [Bound(f"{self.contact} touches", m.gap[k], np.zeros(1), np.zeros(1))]


class Apart(_OfContact):
    """A contact has no impulse: over a `During`, a fixed mode."""

    def along(self, m: Moment) -> list[Bound]:
        k = m.dynamics.contact_names.index(self.contact)
        return [Bound(f"{self.contact} is apart", m.impulse[k], np.zeros(1), np.zeros(1))]
