"""Sequences of contact next to another: a phase put in, one left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nsopt.trajectory.exact.borders import ContactAtBorder
from nsopt.trajectory.exact.sequence import ContactPhase, join_alike, leave_out

NEW_PHASE = 0.05
"""Duration at first of a phase that is put in, at most, as a share of that of the motion."""


def without_phase(sequence: Sequence[ContactPhase], k: int) -> Iterator[tuple[ContactPhase, ...]]:
    """Yield a sequence without phase k, then with an impact of what closes in phase k alone."""
    yield leave_out(sequence, k)
    if not 0 < k < len(sequence) - 1:
        return
    before, removed, after = sequence[k - 1 : k + 2]
    strikes = {
        name: mode
        for name, mode in removed.modes.items()
        if mode.closed and not before.modes[name].closed and not after.modes[name].closed
    }
    if strikes and removed.ends is None:
        longer = after.duration + removed.duration
        struck = replace(after, strikes={**strikes, **after.strikes}, duration=longer)
        yield (*sequence[:k], struck, *sequence[k + 2 :])


def with_new_phase(
    sequence: Sequence[ContactPhase], contacts: Sequence[ContactAtBorder]
) -> Iterator[tuple[ContactPhase, ...]]:
    """Yield sequences with one more phase, where a contact is at the limit of its mode."""
    total = sum(x.duration for x in sequence)
    for contact in contacts:
        k, phase = contact.phase, sequence[contact.phase]
        length = min(NEW_PHASE * total, phase.duration / 3)
        rest = replace(phase, duration=phase.duration - length)
        for mode in contact.other_modes():
            modes = {**phase.modes, contact.contact: mode}
            if contact.at_end:
                if k < len(sequence) - 1 and modes == sequence[k + 1].modes:
                    continue  # that phase follows already
                last = ContactPhase(modes, length, ends=phase.ends)
                yield _replace_phase(sequence, k, [replace(rest, ends=None), last])
            elif k == 0 or modes != sequence[k - 1].modes:
                first = ContactPhase(modes, length, phase.strikes)
                yield _replace_phase(sequence, k, [first, replace(rest, strikes={})])


def _replace_phase(
    sequence: Sequence[ContactPhase], k: int, phases: list[ContactPhase]
) -> tuple[ContactPhase, ...]:
    """Return a sequence with others in place of phase k."""
    # Contacts that are closed in a phase no longer strike at its start: they close there.
    found = [
        replace(x, strikes={n: m for n, m in x.strikes.items() if not x.modes[n].closed})
        for x in (*sequence[:k], *phases, *sequence[k + 1 :])
    ]
    return join_alike(found)
