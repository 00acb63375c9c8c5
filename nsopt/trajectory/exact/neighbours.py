"""Sequences of contact next to another: a phase put in, one left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nsopt.trajectory.exact.borders import ContactAtBorder
from nsopt.trajectory.exact.sequence import ContactPhase, join_alike, leave_out

BRIEF = 0.05
"""Of the duration of the motion, that of a phase that is put in, at most."""


def without_short(sequence: Sequence[ContactPhase], k: int) -> Iterator[tuple[ContactPhase, ...]]:
    """Yield a sequence without phase k; then with strikes in place of what closes in it alone."""
    yield leave_out(sequence, k)
    if not 0 < k < len(sequence) - 1:
        return
    before, x, after = sequence[k - 1 : k + 2]
    struck = {
        name: mode
        for name, mode in x.modes.items()
        if mode.closed and not before.modes[name].closed and not after.modes[name].closed
    }
    if struck and x.ends is None:
        now = [*sequence]
        now[k + 1] = replace(
            after, strikes={**struck, **after.strikes}, duration=after.duration + x.duration
        )
        del now[k]
        yield tuple(now)


def with_another(
    sequence: Sequence[ContactPhase], contacts: Sequence[ContactAtBorder]
) -> Iterator[tuple[ContactPhase, ...]]:
    """Yield sequences with a phase more, where a contact is at the limit of its mode.

    Parameters
    ----------
    sequence : sequence of ContactPhase
    contacts : sequence of ContactAtBorder
        At the start and the end of each phase.
    """
    total = sum(x.duration for x in sequence)
    for at in contacts:
        k, phase = at.phase, sequence[at.phase]
        length = min(BRIEF * total, phase.duration / 3)
        rest = replace(phase, duration=phase.duration - length)
        for mode in at.other_modes():
            other = {**phase.modes, at.contact: mode}
            if at.at_end:
                if k < len(sequence) - 1 and other == sequence[k + 1].modes:
                    continue
                last = ContactPhase(other, length, ends=phase.ends)
                yield _put_in(sequence, k, [replace(rest, ends=None), last])
            elif k == 0 or other != sequence[k - 1].modes:
                first = ContactPhase(other, length, phase.strikes)
                yield _put_in(sequence, k, [first, replace(rest, strikes={})])


def _put_in(
    sequence: Sequence[ContactPhase], k: int, phases: list[ContactPhase]
) -> tuple[ContactPhase, ...]:
    """Return a sequence with others in place of phase k; none strikes that is closed after it."""
    now = [*sequence[:k], *phases, *sequence[k + 1 :]]
    found = [
        replace(x, strikes={n: m for n, m in x.strikes.items() if not x.modes[n].closed})
        for x in now
    ]
    return join_alike(found)
