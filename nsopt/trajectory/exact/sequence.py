"""Sequences of contact: what each contact does between changes (`ContactPhase`); their neighbours.

A neighbour has one phase less (`without_phase`) or one more (`with_new_phase`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.trajectory.exact.borders import ContactAtBorder
from nsopt.trajectory.phases import ContactMode
from nsopt.trajectory.smoothing.dry_friction import find_rubbing_joints, find_turning_joints

NEW_PHASE = 0.05  # of the duration of the motion: longest first duration of a phase that is put in


@dataclass(frozen=True)
class ContactPhase:
    """A time in which no contact changes its mode.

    Parameters
    ----------
    modes : mapping of name to ContactMode
        The mode of every contact: `Open`, `Sticking` or `Sliding`; and of every joint with a drive
        and dry friction: `Sticking`, at rest, or `Sliding`.
    duration : float [s]
        A guess of how long it lasts; the optimum has its own.
    strikes : mapping of name to ContactMode
        Contacts that strike where it begins and are open after that, see `MotionPhase`.
    ends : float, optional
        Share of the duration of the motion at which it must end.
    """

    modes: Mapping[str, ContactMode]
    duration: float
    strikes: Mapping[str, ContactMode] = field(default_factory=dict)
    ends: float | None = None

    def describe(self, dynamics: Dynamics) -> str:
        """Return in words what contacts and joints of a mechanism do in it; empty without any."""
        d, words = dynamics, [f"{name} strikes" for name in self.strikes]
        rubbing = {d.contact_owners[k] for k in d.slip_contacts}
        smooth, turning = {*d.contact_owners} - rubbing, find_turning_joints(d)
        in_space = {d.contact_owners[k] for k, n in Counter(d.slip_contacts).items() if n > 1}
        for name, mode in self.modes.items():
            if mode.closed:
                verb = mode.describe(turns=name in turning, in_space=name in in_space)
                words.append(f"{name} {'touches' if name in smooth else verb}")
        return ", ".join(words) or ("no contact" if d.contacts else "")

    def continues(self, before: ContactPhase) -> bool:
        """Return whether nothing changes between the phase before and this one."""
        return self.modes == before.modes and not self.strikes and before.ends is None


def describe_sequence(phases: Sequence[ContactPhase], dynamics: Dynamics) -> str:
    """Return in words what contacts and joints of a mechanism do, phase by phase."""
    return "; ".join(x.describe(dynamics) for x in phases)


def check_sequence(sequence: Sequence[ContactPhase], dynamics: Dynamics) -> None:
    """Raise TypeError or ValueError for what is no sequence of the contacts of a mechanism."""
    if isinstance(sequence, ContactPhase | str) or not all(
        isinstance(x, ContactPhase) for x in sequence
    ):
        raise TypeError(f"sequence of ExactContacts must be of ContactPhase, got {sequence!r:.80}")
    if not sequence:
        raise ValueError("sequence of ExactContacts is empty: give phases, or None")
    names, joints = [x.name for x in dynamics.contacts], find_rubbing_joints(dynamics)
    for k, x in enumerate(sequence):
        _check_phase(x, names, joints, f"phase {k} of the sequence")
    if sequence[0].strikes:
        raise ValueError(
            "phase 0 of the sequence has strikes: no contact strikes where the motion begins"
        )
    ends = [0.0, *(x.ends for x in sequence[:-1] if x.ends is not None), 1.0]
    if any(b <= a for a, b in pairwise(ends)):
        raise ValueError(
            f"phases of the sequence end at {ends[1:-1]} of the duration: give shares between 0 "
            "and 1 that rise"
        )


def _check_phase(
    x: ContactPhase, names: Collection[str], joints: Collection[str], label: str
) -> None:
    if not 0 < x.duration < float("inf"):
        raise ValueError(
            f"{label} lasts {x.duration!r} s: give about the time that it takes, above zero"
        )
    if set(x.modes) != {*names, *joints}:
        rubbing = f" and the joints with dry friction {', '.join(joints)}" if joints else ""
        raise ValueError(
            f"{label} has modes of {', '.join(x.modes) or 'no contact'}, the mechanism has the "
            f"contacts {', '.join(names)}{rubbing}: give each of them a mode, such as Sliding()"
        )
    for name, mode in (*x.modes.items(), *x.strikes.items()):
        if not isinstance(mode, ContactMode):
            raise TypeError(
                f"{label}: mode of contact {name!r} must be Open(), Sticking() or Sliding(), "
                f"got {mode!r}"
            )
    if wrong := [name for name in x.strikes if name not in names or x.modes[name].closed]:
        raise ValueError(
            f"{label} has strikes of {', '.join(wrong)}: name contacts that are Open() in it"
        )


def drop_phase(phases: Sequence[ContactPhase], gone: int) -> tuple[ContactPhase, ...]:
    """Return a sequence without phase ``gone``; neighbours that are alike become one.

    Its duration is added to the phase before (of the first phase to the second), its strikes go to
    the phase after.
    """
    rest = list(phases)
    removed = rest.pop(gone)
    if gone < len(rest):
        after = rest[gone]
        strikes = {n: mode for n, mode in removed.strikes.items() if not after.modes[n].closed}
        rest[gone] = replace(after, strikes={**strikes, **after.strikes})
    k = max(gone - 1, 0)
    ends = removed.ends if gone and removed.ends is not None else rest[k].ends
    rest[k] = replace(rest[k], duration=rest[k].duration + removed.duration, ends=ends)
    rest[0] = replace(rest[0], strikes={})  # nothing strikes where the motion begins
    return join_alike(rest)


def join_alike(phases: Sequence[ContactPhase]) -> tuple[ContactPhase, ...]:
    """Return a sequence in which neighbours that are alike are one."""
    found = [phases[0]]
    for x in phases[1:]:
        if x.continues(found[-1]):
            longer = found[-1].duration + x.duration
            found[-1] = replace(found[-1], duration=longer, ends=x.ends)
        else:
            found.append(x)
    return tuple(found)


def without_phase(sequence: Sequence[ContactPhase], k: int) -> Iterator[tuple[ContactPhase, ...]]:
    """Yield a sequence without phase k, then one with an impact of what closes in phase k alone."""
    yield drop_phase(sequence, k)
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
    """Yield sequences with one more phase at a border where a contact may change its mode."""
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
    # Contacts that are closed in a phase close at its start, and so do not strike there.
    found = [
        replace(x, strikes={n: m for n, m in x.strikes.items() if not x.modes[n].closed})
        for x in (*sequence[:k], *phases, *sequence[k + 1 :])
    ]
    return join_alike(found)


def list_shorter(sequences: Sequence[tuple[ContactPhase, ...]]) -> list[tuple[ContactPhase, ...]]:
    """Return the last sequences first, each without one of its two shortest phases."""
    return [
        drop_phase(sequence, k)
        for sequence in reversed(sequences)
        if len(sequence) > 1
        for k in np.argsort([x.duration for x in sequence], kind="stable")[:2].tolist()
    ]


def identify_sequence(sequence: Sequence[ContactPhase]) -> str:
    """Return a key, the same for sequences that differ in their durations alone."""
    return repr([(x.modes, x.strikes, x.ends) for x in sequence])
