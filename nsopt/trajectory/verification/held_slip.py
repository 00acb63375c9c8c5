"""How far contacts slid that dry friction should have held."""

from __future__ import annotations

from typing import Any

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.trajectory.transcription.base import Array, TranscribedMotion
from nsopt.trajectory.verification.reversals import parts_of_limits

HOLDS = 0.95
"""Friction over its limit, up to which it should hold: where its law is smoothed, the slip there is
three times the speed of smoothing."""

LIGHT = 1e-12
"""Least mobility, the inverse of the mass that a slip moves [1/kg]."""


def measure_held_slip(d: Dynamics, motion: TranscribedMotion, p: Array) -> dict[str, Any]:
    """Return as attributes how far the contact slid that slid farthest where it should stick.

    In a step friction should hold a contact that presses if it does not reach its limit, and would
    not have to for the slip of the step before to go on: where slip turns round, it would. By
    Coulomb's law such a contact does not slide at all. It does where the law is smoothed
    (`Scheme.slip_creep`), and a little where slip is judged at one end of a step. {} where there is
    no dry friction, or none holds.

    Parameters
    ----------
    d : Dynamics
    motion : TranscribedMotion
    p : (np,)
        Parameters of the mechanism.
    """
    owners = np.array(d.slip_contacts, dtype=int)
    if not owners.size:
        return {}
    parts, limits = parts_of_limits(d, motion, p)
    slips, masses = _find_slips(d, motion, p)
    h = np.diff(motion.t)
    before = np.vstack([slips[:1], slips[:-1]])
    needed = parts - np.divide(
        masses * (slips - before), limits, out=np.zeros_like(parts), where=limits > 0
    )
    found = []
    for contact in np.unique(owners):
        mine = owners == contact
        used, asked = (np.linalg.norm(x[:, mine], axis=1) for x in (parts, needed))
        holds = (limits[:, mine][:, 0] > 0) & (used < HOLDS) & (asked < 1)
        speed = np.where(holds, np.linalg.norm(slips[:, mine], axis=1), 0.0)
        k = int(np.argmax(speed))
        found.append((float(speed @ h), float(speed[k]), float(motion.t[k]), int(contact)))
    way, largest_speed, t, contact = max(found)
    if not way:
        return {}
    return {
        "held_slip": way,
        "held_slip_contact": d.contact_names[contact],
        "held_slip_speed": largest_speed,
        "held_slip_time": t,
    }


def _find_slips(d: Dynamics, motion: TranscribedMotion, p: Array) -> tuple[Array, Array]:
    """Return the mean slip over steps [m/s] and the mass that each slip moves [kg], (n, ns) each.

    From coordinates, as velocities at nodes are means of those before and after an impact.
    """
    slips, masses = [], []
    t, q = motion.t, motion.nodes.q
    for k, h in enumerate(np.diff(t)):
        middle = np.asarray(d.renormalise((q[k] + q[k + 1]) / 2)).ravel()
        at = (t[k] + h / 2, middle, p)
        v = np.asarray(d.velocity(middle, (q[k + 1] - q[k]) / h)).ravel()
        T, M = np.asarray(d.slip_matrix(*at)), np.asarray(d.mass(middle, p))
        slips.append(T.T @ v + np.asarray(d.slip_drift(*at)).ravel())
        mobility = np.einsum("ij,ij->j", T, np.linalg.lstsq(M, T, rcond=None)[0])
        masses.append(1 / np.maximum(mobility, LIGHT))
    return np.array(slips), np.array(masses)
