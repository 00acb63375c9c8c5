"""Prescribed contact modes, and conditions on a part of the motion."""

from __future__ import annotations

from dataclasses import dataclass

from nsopt.checks import finite
from nsopt.mechanics import Dynamics, Outline
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions.base import Condition, Span, limit
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True)
class During(Condition):
    """A condition that holds for a part of the motion, or at one node.

    What the condition states of every node holds there, and what it states of the end: a `Reach`
    is a point that is passed, an `EndAt` a posture that is passed.

    Parameters
    ----------
    condition : Condition
    first : float
        First node, as a share of the number of steps.
    last : float, optional
        Last node, likewise; by default the first, a single node.

    Raises
    ------
    TypeError
        If ``condition`` is not a Condition.
    ValueError
        Unless 0 <= first <= last <= 1.
    """

    condition: Condition
    first: float
    last: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.condition, Condition):
            raise TypeError(
                f"During takes a Condition first, got {self.condition!r}: write "
                "During(Touching(contact), first, last)"
            )
        for name, share in (("first", self.first), ("last", self._last)):
            finite(f"{name} of During", share, ())
        if not 0 <= self.first <= self._last <= 1:
            raise ValueError(
                "first and last of During are shares of the steps, 0 <= first <= last <= 1, got "
                f"{self.first:g} and {self._last:g}"
            )

    @property
    def _last(self) -> float:
        return self.first if self.last is None else self.last

    def check(self, dynamics: Dynamics) -> None:
        self.condition.check(dynamics)

    def during(self, m: NodeSample) -> list[Span]:
        c = self.condition
        return [Span(self.first, self._last, [*c.along(m), *c.end(m)])]

    def outline(self) -> list[Outline]:
        return self.condition.outline()


@dataclass(frozen=True)
class _ContactMode(Condition):
    """A prescribed mode of a contact, by name; for a joint with clearance one gap, ``hinge[0]``."""

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
        return [limit(f"{self.contact} touches", m.gap[k], 0.0, 0.0)]


class Apart(_ContactMode):
    """A contact transmits no impulse, open or not; within a `During` this prescribes its mode."""

    def along(self, m: NodeSample) -> list[Bound]:
        k = m.dynamics.contact_names.index(self.contact)
        return [limit(f"{self.contact} is apart", m.impulse[k], 0.0, 0.0)]
