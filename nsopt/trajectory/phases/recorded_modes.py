"""How well contacts kept their modes, as attributes of the result of a phase."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from nsopt.contact_modes import FREE, LASTING, joint_of
from nsopt.result import Result
from nsopt.trajectory.phases.mode_conditions import ContactInMode, ContactMotion
from nsopt.trajectory.phases.phase import PhaseProgram
from nsopt.trajectory.transcription.base import Array

MOST_SLIDE = 1e-3
"""How far a contact that sticks may slide in a phase [m]; errors of the steps are far smaller."""


def record_modes(phase: PhaseProgram, x: Array, impulses: Array) -> dict[str, Any]:
    """Return the attributes ``modes``, ``modes_gap``, ``modes_slip`` and ``impact`` of a phase.

    The modes of its contacts, the largest gap [m] and slip [m/s] that those in contact leave, and
    the impulses at its start [N s].

    Parameters
    ----------
    phase : PhaseProgram
    x : (n,)
        Its unknowns.
    impulses : (k,) [N s]
        Those of `PhaseProgram.contacts_with_impulse` in turn; empty without an impact.
    """
    if not phase.contacts:
        return {}
    attrs: dict[str, Any] = {"modes": json.dumps({y.name: repr(y.mode) for y in phase.contacts})}
    closed = phase.closed_contacts.values()
    if closed:
        errors = np.array([_find_largest_errors(phase, y, x) for y in closed])
        attrs["modes_gap"], attrs["modes_slip"] = (float(z) for z in errors.max(axis=0))
    if impulses.size:
        contacts = phase.contacts_with_impulse
        ends = np.cumsum([len(y.forces.inputs) for y in contacts.values()])[:-1]
        parts = zip(contacts, np.split(impulses, ends), strict=True)
        attrs["impact"] = json.dumps({name: part.tolist() for name, part in parts})
    return attrs


def compute_impact_losses(
    phase: PhaseProgram, q: Array, before: Array, after: Array, impulses: Array
) -> dict[str, float]:
    """Return the energy that each contact takes in the impact at the start of a phase [J].

    Parameters
    ----------
    phase : PhaseProgram
    q : (nq,)
    before, after : (nv,)
        Velocities before and after the impact.
    impulses : (k,) [N s]
        As of `record_modes`.
    """
    found, at = {}, 0
    for name, x in phase.contacts_with_impulse.items():
        n = len(x.forces.inputs)
        total = np.asarray(x.impulse_and_margins(q, phase.p, impulses[at : at + n])[0]).ravel()
        # The work of an impulse is that on the mean velocity.
        found[name], at = -float(total @ (before + after)) / 2, at + n
    return found


def set_contact_modes(result: Result, contacts: Sequence[ContactInMode]) -> Result:
    """Return a result with ``contact_mode`` by the given modes: no gap is closed exactly."""
    data = result.data.copy()
    closed = {x.name: x.mode.closed for x in contacts}
    for k, gap in enumerate(data["contact"].values):
        name = str(gap)
        is_closed = closed.get(name, closed.get(joint_of(name)))
        if is_closed is not None:
            data["contact_mode"].values[1:, k] = LASTING if is_closed else FREE
    return Result(data)


def describe_slide(phase: PhaseProgram, x: Array) -> str:
    """Return in words which contact slides though it is to stick; empty if none does.

    With the postures at both ends given, nothing keeps it in its place in the last step: see
    `ContactInMode`.
    """
    for name, contact in phase.closed_contacts.items():
        if not contact.mode.sticks:
            continue
        t, motion = _evaluate(phase, contact, x)
        slip = motion["slip"]
        h = np.diff(t)[::2] * 2
        slides = h * (slip[:, :-2:2] + 4 * slip[:, 1::2] + slip[:, 2::2]) / 6  # (k, steps) [m]
        slide = float(np.linalg.norm(slides.sum(axis=1)))
        k = int(np.abs(slides).max(axis=0).argmax())
        if slide > MOST_SLIDE:
            return (
                f"contact {name!r} is to stick, but slides by {slide:.3g} m, most of it in step "
                f"{k + 1}, to t = {t[2 * k + 2]:.4g} s: the postures at the start and end of the "
                "phase put it elsewhere; change one, or its mode"
            )
    return ""


def _evaluate(
    phase: PhaseProgram, contact: ContactInMode, x: Array
) -> tuple[Array, dict[str, Array]]:
    """Return times of nodes and midpoints (n,) [s], and the fields of `ContactMotion` (., n)."""
    _, fine = phase.transcription.trajectory(x)
    p, n = np.tile(phase.p[:, None], len(fine.q)), len(fine.q)
    motion = contact.motion.map(n)(np.zeros((1, n)), fine.q.T, fine.v.T, fine.a.T, p)
    values = (np.asarray(y) for y in motion)
    found = dict(zip(ContactMotion._fields, values, strict=True))
    return np.linspace(0, fine.duration, n), found


def _find_largest_errors(
    phase: PhaseProgram, contact: ContactInMode, x: Array
) -> tuple[float, float]:
    """Return the largest gap [m] and, of one that sticks, the largest slip [m/s] of a contact."""
    _, motion = _evaluate(phase, contact, x)
    gap, slip = (float(np.abs(motion[y]).max(initial=0.0)) for y in ("distance", "slip"))
    return gap, slip if contact.mode.sticks else 0.0
