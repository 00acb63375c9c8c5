"""Which contacts of an optimum are closed: those that press by more than a solver's remainder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nsopt.contact_modes import FREE
from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.trajectory.transcription.base import Transcription
from nsopt.trajectory.transcription.kinds import as_steps

Array = NDArray[np.float64]

ROUND_OFF = 1e-8
"""Impulse, over the typical one of a program, that solvers leave of one that is zero."""

CLOSED = 1e-2
"""Gap, over a typical opening, beyond which no contact is closed."""

LIGHT = 1e-12
"""Least mobility, the inverse of the mass that a contact moves [1/kg]."""


def find_closed_modes(x: Transcription, result: Result, p: Array) -> Array:
    """Return the modes of contacts over steps, those free whose gap is open.

    A relaxation lets the product of a gap and its impulse be a little above zero: the smaller one
    is meant to be zero. They are compared as the gap over a typical opening and the impulse over
    that of the weight of what the contact moves, so that a light contact is not judged by heavy
    ones.

    Parameters
    ----------
    x : Transcription
    result : Result
        Its modes are of impulses alone.
    p : (np,)
        Parameters of the mechanism.
    """
    mode = result["contact_mode"].values.copy()
    rigid, steps = len(x.dynamics.contact_names), as_steps(x)
    if steps is None or not rigid:
        return mode
    scales, impulse = steps.model.scales, result["impulse"].values[:, :rigid]
    gap = result["gap"].values[:, :rigid] / np.asarray(scales.gap)
    acceleration = float(scales.force) / float(scales.mass)
    typical = acceleration * float(scales.time) * _masses(x.dynamics, result, p)  # [N s]
    is_zero = impulse <= ROUND_OFF * float(scales.impulse)
    mode[:, :rigid][is_zero | (gap > CLOSED) | (impulse <= typical * gap)] = FREE
    return mode


def _masses(d: Dynamics, result: Result, p: Array) -> Array:
    """Return the mass that each rigid contact moves along its normal at each time [kg]."""
    found = []
    for t, q in zip(result["time"].values, result["q"].values, strict=True):
        W, M = np.asarray(d.gap_matrix(t, q, p)), np.asarray(d.mass(q, p))
        mobility = np.einsum("ij,ij->j", W, np.linalg.lstsq(M, W, rcond=None)[0])
        found.append(1 / np.maximum(mobility, LIGHT))
    return np.array(found)
