"""Pins that cross their bores within a step and press at its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from nsopt.trajectory.transcription.base import Array, TranscribedMotion
from nsopt.trajectory.transcription.stepped import Stepped

CROSSED = -0.5
"""Cosine of the angle between the directions of a pin from the axis of its bore at both ends of a
step, below which it crosses the bore: the mean of both normals is shorter than a half."""


def count_crossed_bores(x: Stepped, unknowns: Array, motion: TranscribedMotion) -> dict[str, Any]:
    """Return as attributes how often a pin crosses its bore in a step in which it presses.

    With `Scheme.normal_implicitness` between 0 and 1 a contact in a bore presses along a mean of
    the normals at both ends of the step. Where they are opposite the mean is next to nothing, of
    any direction, and the force along it next to infinite: no law of contact is left.

    Parameters
    ----------
    x : Stepped
    unknowns : (size,)
        The solution of its program.
    motion : TranscribedMotion
        The motion that the unknowns are.

    Returns
    -------
    dict
        Name of the first such contact, its time [s] and the number of such steps; {} if none.
    """
    d = x.dynamics
    if not d.bores or not 0 < x.scheme.normal_implicitness < 1:
        return {}
    u = x.eccentricities(unknowns).reshape(
        len(motion.t), len(d.bores), 3
    )  # unit vectors at the wall
    cosine = np.sum(u[:-1] * u[1:], axis=2)
    step, bore = np.nonzero((cosine < CROSSED) & (motion.accepted.impulse[:, list(d.bores)] > 0))
    if not step.size:
        return {}
    return {
        "crossed_contact": d.contact_names[d.bores[int(bore[0])]],
        "crossed_time": float(motion.t[step[0]]),
        "crossed_steps": int(step.size),
    }
