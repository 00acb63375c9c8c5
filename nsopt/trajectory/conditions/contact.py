"""Prescribed contact modes, margins of friction, and conditions on a part of the motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from nsopt.checks import NOT_IN_MECHANISM, check_names, finite
from nsopt.mechanics import Dynamics, Outline
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions.base import Condition, Span, limit
from nsopt.trajectory.friction_cone import find_least_limit, measure_margins
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
        what, known = f"{type(self).__name__} names the contact", dynamics.contact_names
        check_names(what, [self.contact], known, NOT_IN_MECHANISM)


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


@dataclass(frozen=True)
class FrictionMargin(Condition):
    """Friction of contacts stays a share below its limit: |friction| <= (1 - margin) mu N.

    Such a contact never slides while it presses, for sliding friction is at its limit. In impacts
    the same holds of impulses.

    Parameters
    ----------
    margin : float
        Share of the limit, between 0 and 1.
    contacts : sequence of str, optional
        By default all that have friction.

    Raises
    ------
    ValueError
        Unless 0 < margin < 1.
    """

    margin: float
    contacts: Sequence[str] | None = None

    def __post_init__(self) -> None:
        finite("margin of FrictionMargin", self.margin, ())
        if not 0 < self.margin < 1:
            raise ValueError(
                f"margin of FrictionMargin is {self.margin:g}: give a share between 0 and 1, such "
                "as 0.2"
            )

    def check(self, dynamics: Dynamics) -> None:
        known = _list_with_friction(dynamics)
        if isinstance(self.contacts, str):
            raise TypeError(
                f"contacts of FrictionMargin must be a list, got {self.contacts!r}: write "
                f"[{self.contacts!r}]"
            )
        why = f"{NOT_IN_MECHANISM}, or has no friction"
        check_names("FrictionMargin names the contact", self.contacts or (), known, why)
        if not known:
            raise ValueError(
                "FrictionMargin is of no contact, as none has friction: give one a ContactLaw, or "
                "leave it out"
            )

    def list_contacts(self, dynamics: Dynamics) -> list[str]:
        """Return the names of its contacts."""
        return list(_list_with_friction(dynamics) if self.contacts is None else self.contacts)

    def along(self, m: NodeSample) -> list[Bound]:
        if m.stepped is None:  # phases have a smaller cone in place of bounds
            return []
        d, x, bounds = m.dynamics, m.stepped, list[Bound]()
        limits = (1 - self.margin) * d.friction(m.p) * d.slope(m.t, m.q, m.p) * x.impulse / x.h
        least, own = find_least_limit(m), self.list_contacts(d)
        for gap in dict.fromkeys(d.slip_contacts):
            if d.contact_owners[gap] in own:
                slips = [k for k, y in enumerate(d.slip_contacts) if y == gap]
                friction = x.slip_impulse[slips] / x.h
                margins = measure_margins(limits[gap], friction, least)
                label = f"friction of {d.contact_names[gap]} below its limit by {self.margin:g}"
                bounds.append(limit(label, margins, 0.0, ca.inf))
        return bounds


def _list_with_friction(d: Dynamics) -> dict[str, None]:
    """Return the names of contacts with friction, in order."""
    return dict.fromkeys(d.contact_owners[k] for k in d.slip_contacts)
