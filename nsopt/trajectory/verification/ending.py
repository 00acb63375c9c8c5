"""Contacts at the end of a motion, where no step follows that would stop them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.trajectory.transcription.base import TranscribedMotion

Array = NDArray[np.float64]

CLOSED = 1e-6
"""Gap, over its typical opening, up to which a contact counts as closed."""

STILL = 1e-6
"""Speed into a wall, over 1 plus the largest velocity, up to which it counts as none."""


def find_closing_at_end(d: Dynamics, motion: TranscribedMotion, p: Array) -> dict[str, Any]:
    """Return the closed contact that moves into its wall fastest, as attributes; {} if none does.

    At the last node a step ends and none begins: nothing there keeps bodies from moving into each
    other after the end.

    Parameters
    ----------
    d : Dynamics
    motion : TranscribedMotion
    p : (np,)
    """
    if not d.contact_names:
        return {}
    t, q, v = motion.t[-1], motion.nodes.q[-1], motion.nodes.v[-1]
    gap, W, drift = (np.asarray(f(t, q, p)) for f in (d.gap, d.gap_matrix, d.gap_drift))
    speed = -(W.T @ v + drift.ravel())
    speed[gap.ravel() > CLOSED * np.asarray(d.gap_scale(p)).ravel()] = 0
    k = int(np.argmax(speed))
    if speed[k] <= STILL * (1 + np.abs(v).max(initial=0.0)):
        return {}
    return {"closing_contact": d.contact_names[k], "closing_speed": float(speed[k])}
