"""Dry friction that turns round within a step: where derivatives over a horizon are wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.trajectory.transcription.base import Array, TranscribedMotion

TURNED = -0.5
"""Scalar product of the frictions of two steps, over their limits, below which friction has turned
round between them."""

PRESSED = 1e-6
"""Limit of friction, over the largest one, above which a contact counts as pressing."""


class Reversals(NamedTuple):
    """Where dry friction of contacts turns round from one step to the next or the next but one.

    The time at which it does moves with the motion, but steps see that only where they are short
    beside the time it takes: else the derivative of the motion behind it is wrong by as much as
    the discontinuity, whatever the step size [Stewart, Anitescu 2010, Numer. Math. 114].
    """

    times: int  # how often, of all contacts
    contact: str
    time: float  # [s] of the largest
    change: float  # [m/s] of the slip over a step there, the largest


def find_reversals(d: Dynamics, motion: TranscribedMotion, p: Array) -> Reversals | None:
    """Return where dry friction turns round within a step or two; None if nowhere."""
    owners = np.array(d.slip_contacts, dtype=int)
    if not owners.size:
        return None
    (parts, _), slips = parts_of_limits(d, motion, p), _find_node_slips(d, motion, p)
    found = []
    for contact in np.unique(owners):
        mine = owners == contact
        friction, slip = parts[:, mine], slips[:, mine]
        last_turn = -1
        for k in range(len(friction) - 1):
            later = min(k + 2, len(friction) - 1)
            turned = min(friction[k] @ friction[k + 1], friction[k] @ friction[later]) < TURNED
            if turned and k > last_turn + 1:  # successive steps see the same turn
                change = np.linalg.norm(np.diff(slip[k : later + 1], axis=0), axis=1).max()
                found.append((float(change), int(contact), float(motion.t[k + 1])))
            last_turn = k if turned else last_turn
    if not found:
        return None
    change, contact, t = max(found)
    return Reversals(len(found), d.contact_names[contact], t, change)


def parts_of_limits(d: Dynamics, motion: TranscribedMotion, p: Array) -> tuple[Array, Array]:
    """Return tangential impulses of steps over the limits of dry friction, and these, (n, ns) each.

    Limits are in N s; both are zero where next to nothing presses.
    """
    steps, q, owners = motion.accepted, motion.nodes.q, np.array(d.slip_contacts, dtype=int)
    slopes = np.array(
        [np.asarray(d.slope(t, x, p)).ravel() for t, x in zip(motion.t[:-1], q[:-1], strict=True)]
    )
    by_contact = np.asarray(d.friction(p)).ravel() * slopes * steps.impulse
    least = PRESSED * np.max(by_contact, initial=0.0)
    limits = np.where(by_contact > least, by_contact, 0.0)[:, owners]
    parts = np.divide(steps.slip_impulse, limits, out=np.zeros_like(limits), where=limits > 0)
    return parts, limits


def _find_node_slips(d: Dynamics, motion: TranscribedMotion, p: Array) -> Array:
    """Return the slip at the nodes, (n + 1, ns) [m/s]."""
    rows = [
        np.asarray(d.slip_matrix(t, q, p).T @ v + d.slip_drift(t, q, p)).ravel()
        for t, q, v in zip(motion.t, motion.nodes.q, motion.nodes.v, strict=True)
    ]
    return np.array(rows)
