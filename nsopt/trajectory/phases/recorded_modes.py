"""What contacts in given modes did, as attributes of the result of a phase."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from nsopt.contact_modes import FREE, LASTING, joint_of
from nsopt.result import Result
from nsopt.trajectory.phases.mode_conditions import ContactMotion, InMode
from nsopt.trajectory.phases.phase import PhaseProgram
from nsopt.trajectory.transcription.base import Array

SLID = 1e-3
"""By how much a contact that sticks may be elsewhere at the end [m]: steps leave far less."""


def record_modes(phase: PhaseProgram, x: Array, impulses: Array) -> dict[str, Any]:
    """Return the modes of the contacts of a phase, what they leave, and impulses at its start.

    Parameters
    ----------
    phase : PhaseProgram
    x : (n,)
        Its unknowns.
    impulses : (k,) [N s]
        Of the contacts that strike, one after another; none without an impact.
    """
    if not phase.in_modes:
        return {}
    attrs: dict[str, Any] = {
        "modes": json.dumps({y.forces.name: repr(y.forces.mode) for y in phase.in_modes})
    }
    closed = phase.closed
    if closed:
        left = np.array([_find_left(phase, y, x) for y in closed.values()])
        attrs["modes_gap"], attrs["modes_slip"] = (float(z) for z in left.max(axis=0))
    if impulses.size:
        struck = phase.striking
        ends = np.cumsum([len(y.forces.inputs) for y in struck.values()])[:-1]
        parts = zip(struck, np.split(impulses, ends), strict=True)
        attrs["impact"] = json.dumps({name: part.tolist() for name, part in parts})
    return attrs


def losses_of_impact(
    phase: PhaseProgram, q: Array, before: Array, after: Array, impulses: Array
) -> dict[str, float]:
    """Return the energy that each contact takes in the impact at the start of a phase [J].

    Parameters
    ----------
    phase : PhaseProgram
    q : (nq,)
    before, after : (nv,)
        Velocities.
    impulses : (k,) [N s]
        As of `recorded_modes`.
    """
    found, at = {}, 0
    for name, x in phase.striking.items():
        n = len(x.forces.inputs)
        total = np.asarray(x.impulse(q, phase.p, impulses[at : at + n])[0]).ravel()
        found[name], at = -float(total @ (before + after)) / 2, at + n
    return found


def in_given_modes(result: Result, in_modes: Sequence[InMode]) -> Result:
    """Return a result whose contacts have their given modes, for no gap is closed exactly."""
    data = result.data.copy()
    closed = {x.forces.name: x.forces.mode.closed for x in in_modes}
    for k, contact in enumerate(data["contact"].values):
        name = str(contact)
        lasting = closed.get(name, closed.get(joint_of(name)))
        if lasting is not None:
            data["contact_mode"].values[1:, k] = LASTING if lasting else FREE
    return Result(data)


def tell_slide(phase: PhaseProgram, x: Array) -> str:
    """Return which contact that is to stick is elsewhere at the end of a phase; none by default.

    Where the postures at both ends are given, nothing else keeps it in its place in the last step.
    """
    for name, contact in phase.closed.items():
        if not contact.forces.mode.sticks:
            continue
        t, found = _points(phase, contact, x)
        slip = found["slip"]
        h = np.diff(t)[::2] * 2
        ways = h * (slip[:, :-2:2] + 4 * slip[:, 1::2] + slip[:, 2::2]) / 6
        way, k = float(np.linalg.norm(ways.sum(axis=1))), int(np.abs(ways).max(axis=0).argmax())
        if way > SLID:
            return (
                f"contact {name!r} is to stick, but slides by {way:.3g} m, most of it in step "
                f"{k + 1}, to t = {t[2 * k + 2]:.4g} s: the postures at the start and end of the "
                "phase put it elsewhere; change one, or its mode"
            )
    return ""


def _points(phase: PhaseProgram, contact: InMode, x: Array) -> tuple[Array, dict[str, Array]]:
    """Return times of nodes and midpoints [s], and the motion of a contact there, (., points)."""
    _, fine = phase.transcription.trajectory(x)
    p, n = np.tile(phase.p[:, None], len(fine.q)), len(fine.q)
    motion = contact.motion.map(n)(np.zeros((1, n)), fine.q.T, fine.v.T, fine.a.T, p)
    values = (np.asarray(y) for y in motion)
    found = dict(zip(ContactMotion._fields, values, strict=True))
    return np.linspace(0, fine.duration, n), found


def _find_left(phase: PhaseProgram, contact: InMode, x: Array) -> tuple[float, float]:
    """Return the largest gap [m], and the largest slip [m/s] of one that sticks, at all points."""
    _, found = _points(phase, contact, x)
    gap, slip = (float(np.abs(found[y]).max(initial=0.0)) for y in ("distance", "slip"))
    return gap, slip if contact.forces.mode.sticks else 0.0
