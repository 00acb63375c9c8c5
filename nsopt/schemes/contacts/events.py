"""Changes of contact as events, of which the first ends a step of `ContactAligned`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca

from nsopt.mpcc import Mpcc


class Event(NamedTuple):
    """What ends a step where a value of it becomes zero."""

    kind: int  # a `ContactEvent`
    value: ca.SX  # (m,) positive before the event, as the gap of a contact that closes
    size: Any  # scalar or (m,) typical sizes of the values
    active: Any  # (m,), 0 or 1: whether it may happen in this step
    labels: Sequence[str]  # (m,) names for messages

    @property
    def sizes(self) -> ca.SX:
        """The size of each value, (m,)."""
        size, m = ca.SX(self.size), self.value.numel()
        return size if size.numel() == m else ca.repmat(size, m, 1)


def state_first_event(mpcc: Mpcc, events: Sequence[Event], of: str) -> ca.SX:
    """State that the least active value is zero, for the unknown ``of``; return its kind."""
    stated = [event for event in events if event.labels]
    mpcc.first_event(
        "event",
        ca.vertcat(*(x.value for x in stated)),
        scale=ca.vertcat(*(x.sizes for x in stated)),
        active=ca.vertcat(*(x.active for x in stated)),
        of=of,
        labels=[label for x in stated for label in x.labels],
    )
    kind, least = ca.SX(0), ca.SX(ca.inf)
    for x in stated:
        value = ca.mmin(ca.if_else(x.active, x.value / x.sizes, ca.inf))
        kind, least = ca.if_else(value < least, x.kind, kind), ca.fmin(value, least)
    return kind
