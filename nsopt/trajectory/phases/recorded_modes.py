"""How well contacts kept their modes, as attributes of the result of a phase."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from nsopt.contact_modes import FREE, LASTING, joint_of
from nsopt.result import Result
from nsopt.trajectory.phases.mode_conditions import SLIP, ContactInMode
from nsopt.trajectory.phases.phase import PhaseProgram
from nsopt.trajectory.transcription.base import Array

MOST_SLIDE = 1e-3
"""How far a contact that sticks may slide in a phase [m]; errors of the steps are far smaller."""


def record_modes(phase: PhaseProgram, x: Array, impulses: Array) -> dict[str, Any]:
    """Return the attributes ``modes``, ``modes_gap``, ``modes_slip`` and ``impact`` of a phase.

    The modes of its contacts, the largest gap [m] and slip [m/s] that those in contact leave, and
    the impulses at its start [N s]. ``x`` are its unknowns (n,); ``impulses`` (k,) are those of
    `PhaseProgram.contacts_with_impulse` in turn, none without an impact.
    """
    if not phase.contacts:
        return {}
    attrs: dict[str, Any] = {"modes": json.dumps({y.name: repr(y.mode) for y in phase.contacts})}
    errors, (_, fine) = [], phase.transcription.trajectory(x)
    for contact in phase.closed_contacts.values():
        gap, _, slip, *_ = contact.measure(fine, phase.p)
        largest = (np.abs(gap).max(initial=0.0), np.abs(slip).max(initial=0.0))
        errors.append((largest[0], largest[1] if contact.mode.sticks else 0.0))
    if errors:
        attrs["modes_gap"], attrs["modes_slip"] = (float(max(y)) for y in zip(*errors, strict=True))
    if impulses.size:
        parts = phase.divide_impulses(impulses)
        attrs["impact"] = json.dumps({y.name: part.tolist() for y, part in parts})
    return attrs


def compute_impact_losses(
    phase: PhaseProgram, q: Array, before: Array, after: Array, impulses: Array
) -> dict[str, float]:
    """Return the energy that each contact takes in the impact at the start of a phase [J].

    ``q`` (nq,) is the posture there, ``before`` and ``after`` (nv,) are the velocities;
    ``impulses`` as of `record_modes`.
    """
    found = {}
    for x, own in phase.divide_impulses(impulses):
        total = np.asarray(x.impulse_and_margins(q, phase.p, own)[0]).ravel()
        # The work of an impulse is that on the mean velocity.
        found[x.name] = -float(total @ (before + after)) / 2
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
    fine = phase.transcription.trajectory(x)[1]
    t = np.linspace(0, fine.duration, len(fine.q))  # of nodes and midpoints
    h = np.diff(t)[::2] * 2
    for name, contact in phase.closed_contacts.items():
        if not contact.mode.sticks:
            continue
        slip = contact.measure(fine, phase.p)[SLIP]
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
