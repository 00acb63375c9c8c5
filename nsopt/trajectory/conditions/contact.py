"""Prescribed contact modes, and conditions on a part of the motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsopt.checks import finite
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions.base import Condition, Span
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True)
class During(Condition):
    """A condition on every node, restricted to a part of the motion.

    Parameters
    ----------
    condition : Condition
    first, last : float
        First and last node, as shares of the number of steps; equal for a single node.

    Raises
    ------
    TypeError
        If ``condition`` is not a Condition.
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

    def during(self, m: NodeSample) -> list[Span]:
        return [Span(self.first, self.last, self.condition.along(m))]


@dataclass(frozen=True)
class _ContactMode(Condition):
    """A prescribed mode of one contact.

    Parameters
    ----------
    contact : str
        Its name; for a joint with clearance the name of one gap, such as ``hinge[0]``.
    """

    contact: str

    def check(self, dynamics: Dynamics) -> None:
        if self.contact not in dynamics.contact_names:
            raise ValueError(
                f"{type(self).__name__} names the contact {self.contact!r}, which is not in the "
                f"mechanism: one of {', '.join(dynamics.contact_names) or 'none'}"
            )


class Touching(_ContactMode):
    """A contact is closed; within a `During` this prescribes its mode."""

    def along(self, m: NodeSample) -> list[Bound]:
        k = m.dynamics.contact_names.index(self.contact)
        return [Bound(f"{self.contact} touches", m.gap[k], np.zeros(1), np.zeros(1))]


class Apart(_ContactMode):
    """A contact transmits no impulse, as if open; within a `During` this prescribes its mode."""

    def along(self, m: NodeSample) -> list[Bound]:
        k = m.dynamics.contact_names.index(self.contact)
        return [Bound(f"{self.contact} is apart", m.impulse[k], np.zeros(1), np.zeros(1))]
