"""How far contacts slid that dry friction should have held."""

from __future__ import annotations

from typing import Any

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.trajectory.transcription.base import Array, TranscribedMotion
from nsopt.trajectory.verification.reversals import parts_of_limits

BELOW = 0.95
"""Of what dry friction can hold, the part up to which it holds: smoothed, the slip there is three
times the creep."""


def measure_held_slip(d: Dynamics, motion: TranscribedMotion, p: Array) -> dict[str, Any]:
    """Return as attributes how far the contact slid that slid farthest where it should stick.

    In a step friction should hold a contact that presses where it neither reaches its limit, nor
    would have to reach it for the slip to stay as it is: where slip turns round, it would. By
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
    slips, masses = _slips(d, motion, p)
    h = np.diff(motion.t)
    before = np.vstack([slips[:1], slips[:-1]])
    needed = parts - np.divide(
        masses * (slips - before), limits, out=np.zeros_like(parts), where=limits > 0
    )
    found = []
    for contact in np.unique(owners):
        mine = owners == contact
        used, asked = (np.linalg.norm(x[:, mine], axis=1) for x in (parts, needed))
        holds = (limits[:, mine][:, 0] > 0) & (used < BELOW) & (asked < 1)
        speed = np.where(holds, np.linalg.norm(slips[:, mine], axis=1), 0.0)
        k = int(np.argmax(speed))
        found.append((float(speed @ h), float(speed[k]), float(motion.t[k]), int(contact)))
    way, speed_, t, contact = max(found)
    if not way:
        return {}
    return {
        "held_slip": way,
        "held_slip_contact": d.contact_names[contact],
        "held_slip_speed": speed_,
        "held_slip_time": t,
    }


def _slips(d: Dynamics, motion: TranscribedMotion, p: Array) -> tuple[Array, Array]:
    """Return the mean slip over steps [m/s] and the mass that each slip moves [kg], (n, ns) each.

    By the coordinates, for velocities at nodes are means of those before and after an impact.
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
        masses.append(1 / np.maximum(mobility, 1e-12))
    return np.array(slips), np.array(masses)
