"""Contacts of an optimum in steps: which are closed, and where their laws do not hold.

`record` puts what is found here into attributes of the result, of which `nsopt.caveats` warn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nsopt.arrays import Array
from nsopt.contact_modes import FREE
from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.trajectory.transcription.base import TranscribedMotion, Transcription
from nsopt.trajectory.transcription.kinds import as_steps

ROUND_OFF = 1e-8
"""Impulse, over the typical one of a program, that solvers leave of one that is zero."""

CLOSED = 1e-2  # gap, over a typical opening, beyond which no contact is closed

LIGHT = 1e-12
"""Least mobility, the inverse of the mass that a contact moves [1/kg]; keeps quotients finite."""

CROSSED = -0.5
"""Cosine of the angle between the directions of a pin from the axis of its bore at both ends of a
step, below which it crosses the bore: the mean of both normals is shorter than a half."""

TURNED = -0.5
"""Scalar product of the frictions of two steps, over their limits, below which friction has turned
round between them."""

PRESSED = 1e-6  # limit of friction, over the largest one, above which a contact counts as pressing

HOLDS = 0.95
"""Friction over its limit, up to which it should hold: where its law is smoothed, the slip there is
three times the speed of smoothing."""

CLOSED_AT_END = 1e-6
"""Gap, over its typical opening, up to which a contact counts as closed at the end."""

STILL = 1e-6
"""Speed into a wall, over 1 plus the largest velocity, up to which it counts as none."""


def find_closed_modes(x: Transcription, result: Result, p: Array) -> Array:
    """Return the modes of contacts over steps, those free whose gap is open.

    A relaxation lets the product of a gap and its impulse be a little above zero: the smaller one
    is meant to be zero. They are compared as the gap over a typical opening and the impulse over
    that of the weight of what the contact moves, so that a light contact is not judged by heavy
    ones. Modes of ``result`` are of impulses alone.
    """
    mode = result["contact_mode"].values.copy()
    rigid, steps, d = len(x.dynamics.contact_names), as_steps(x), x.dynamics
    if steps is None or not rigid:
        return mode
    scales, impulse = steps.model.scales, result["impulse"].values[:, :rigid]
    gap = result["gap"].values[:, :rigid] / np.asarray(scales.gap)
    states = zip(result["time"].values, result["q"].values, strict=True)
    masses = np.array([_find_masses(d.gap_matrix(t, q, p), d.mass(q, p)) for t, q in states])
    acceleration = float(scales.force) / float(scales.mass)
    typical = acceleration * float(scales.time) * masses  # [N s]
    is_zero = impulse <= ROUND_OFF * float(scales.impulse)
    mode[:, :rigid][is_zero | (gap > CLOSED) | (impulse <= typical * gap)] = FREE
    return mode


def count_crossed_bores(
    transcription: Transcription, unknowns: Array, motion: TranscribedMotion
) -> dict[str, Any]:
    """Return as attributes how often a pin crosses its bore in a step in which it presses.

    With `Scheme.normal_implicitness` between 0 and 1 a contact in a bore presses along a mean of
    the normals at both ends of the step. Where they are opposite the mean is next to nothing, of
    any direction, and the force along it next to infinite: no law of contact is left. The
    attributes are the first such contact, its time [s] and the number of such steps; {} if none.
    """
    x, d = as_steps(transcription), transcription.dynamics
    if x is None or not d.bores or not 0 < x.scheme.normal_implicitness < 1:
        return {}
    if motion.middle_accelerations is not None:  # made exact, so forces are along normals
        return {}
    # Unit vectors at the wall.
    u = x.eccentricities(unknowns).reshape(len(motion.t), len(d.bores), 3)
    cosine = np.sum(u[:-1] * u[1:], axis=2)
    step, bore = np.nonzero((cosine < CROSSED) & (motion.accepted.impulse[:, list(d.bores)] > 0))
    if not step.size:
        return {}
    return {
        "crossed_contact": d.contact_names[d.bores[int(bore[0])]],
        "crossed_time": float(motion.t[step[0]]),
        "crossed_steps": int(step.size),
    }


def find_friction_errors(x: Transcription, motion: TranscribedMotion, p: Array) -> dict[str, Any]:
    """Return attributes of friction that slips where it should hold, or reverses within a step."""
    d, steps = x.dynamics, as_steps(x)
    smoothed = steps is not None and steps.scheme.slip_creep
    creep = {"slip_creep": smoothed} if smoothed else {}
    if not d.slip_contacts:
        return creep
    parts, limits = _divide_by_limits(d, motion, p)
    held_slip = _measure_held_slip(d, motion, p, parts, limits)
    return held_slip | creep | _find_reversals(d, motion, p, parts)


def _divide_by_limits(d: Dynamics, motion: TranscribedMotion, p: Array) -> tuple[Array, Array]:
    """Return tangential impulses of n steps over the limits of dry friction, and these limits.

    (n, ns) each, limits in N s; both are zero where next to nothing presses.
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


def _measure_held_slip(
    d: Dynamics, motion: TranscribedMotion, p: Array, parts: Array, limits: Array
) -> dict[str, Any]:
    """Return as attributes how far the contact slid that slid farthest where it should stick.

    In a step friction should hold a contact that presses if it does not reach its limit, and would
    not have to for the slip of the step before to go on: where slip turns round, it would. By
    Coulomb's law such a contact does not slide at all. It does where the law is smoothed
    (`Scheme.slip_creep`), and a little where slip is judged at one end of a step. Exact motions
    have impacts at the ends of steps, where friction holds nothing before. {} where none holds.
    """
    owners = np.array(d.slip_contacts, dtype=int)
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
        if motion.middle_accelerations is not None:
            holds &= ~(motion.accepted.impact_impulse[:, contact] > 0)
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
        T = np.asarray(d.slip_matrix(*at))
        slips.append(T.T @ v + np.asarray(d.slip_drift(*at)).ravel())
        masses.append(_find_masses(T, d.mass(middle, p)))
    return np.array(slips), np.array(masses)


def _find_masses(directions: Any, mass: Any) -> Array:
    """Return the mass that moves along each of k directions (nv, k), (k,) [kg]."""
    W, M = np.asarray(directions), np.asarray(mass)
    mobility = np.einsum("ij,ij->j", W, np.linalg.lstsq(M, W, rcond=None)[0])
    return np.asarray(1 / np.maximum(mobility, LIGHT))


def _find_reversals(
    d: Dynamics, motion: TranscribedMotion, p: Array, parts: Array
) -> dict[str, Any]:
    """Return as attributes where dry friction turns round within a step or two; {} if nowhere.

    The time at which it does moves with the motion, but steps see that only where they are short
    beside the time it takes: else the derivative of the motion behind it is wrong by as much as
    the discontinuity, whatever the step size [Stewart, Anitescu 2010, Numer. Math. 114]. The
    attributes are how often, of all contacts, and of the largest its contact, time [s] and change
    of the slip over a step [m/s].
    """
    owners = np.array(d.slip_contacts, dtype=int)
    nodes = zip(motion.t, motion.nodes.q, motion.nodes.v, strict=True)
    slips = np.array(
        [
            np.asarray(d.slip_matrix(t, q, p).T @ v + d.slip_drift(t, q, p)).ravel()
            for t, q, v in nodes
        ]
    )
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
        return {}
    change, contact, t = max(found)
    return {
        "reversal_times": len(found),
        "reversal_contact": d.contact_names[contact],
        "reversal_time": t,
        "reversal_change": change,
    }


def find_closing_at_end(d: Dynamics, motion: TranscribedMotion, p: Array) -> dict[str, Any]:
    """Return the closed contact that moves into its wall fastest, as attributes; {} if none does.

    At the last node a step ends and none begins: nothing there keeps bodies from moving into each
    other after the end.
    """
    if not d.contact_names:
        return {}
    t, q, v = motion.t[-1], motion.nodes.q[-1], motion.nodes.v[-1]
    gap, W, drift = (np.asarray(f(t, q, p)) for f in (d.gap, d.gap_matrix, d.gap_drift))
    speed = -(W.T @ v + drift.ravel())
    speed[gap.ravel() > CLOSED_AT_END * np.asarray(d.gap_scale(p)).ravel()] = 0
    k = int(np.argmax(speed))
    if speed[k] <= STILL * (1 + np.abs(v).max(initial=0.0)):
        return {}
    return {"closing_contact": d.contact_names[k], "closing_speed": float(speed[k])}
