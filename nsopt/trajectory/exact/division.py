"""Costs and conditions of a motion through contact, divided among its phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from nsopt.contact_modes import joint_of
from nsopt.mechanics import Dynamics, Outline
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions import (
    Apart,
    Condition,
    During,
    EndAt,
    Periodic,
    StartAt,
    Touching,
)
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.exact.recognize import NotExactError
from nsopt.trajectory.exact.refusals import (
    SampleInModes,
    find_margin,
    is_about_modes,
    reads_contacts,
)
from nsopt.trajectory.exact.sequence import ContactPhase
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases import ContactMode, sample_symbols
from nsopt.trajectory.transcription.base import zero


@dataclass(frozen=True)
class ConditionInPhase(Condition):
    """A condition on a whole motion, as one on a phase: the bounds of it that hold there."""

    whole: Condition  # on the motion
    first: bool  # whether the phase is the first one
    last: bool  # whether it is the last one
    # Indices of the spans of ``whole.during`` that hold throughout the phase, or at its ends alone.
    throughout: tuple[int, ...] = ()
    at_start: tuple[int, ...] = ()
    at_end: tuple[int, ...] = ()
    # The mechanism with its contacts, if the condition is of these; phases have forces in place.
    stated: Dynamics | None = None

    def check(self, dynamics: Dynamics) -> None:
        self.whole.check(self.stated or dynamics)

    def start(self, m: NodeSample) -> list[Bound]:
        of_start = self.whole.start(_see(m, self.stated)) if self.first else []
        return [*of_start, *self._list_bounds(self.at_start, m)]

    def along(self, m: NodeSample) -> list[Bound]:
        of_all = self.whole.along(_see(m, self.stated))
        return [*of_all, *self._list_bounds(self.throughout, m)]

    def over_step(self, dynamics: Dynamics, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> list[Bound]:
        return self.whole.over_step(dynamics, a, h)

    def end(self, m: NodeSample) -> list[Bound]:
        of_end = self.whole.end(_see(m, self.stated)) if self.last else []
        return [*of_end, *self._list_bounds(self.at_end, m)]

    def _list_bounds(self, numbers: tuple[int, ...], m: NodeSample) -> list[Bound]:
        spans = self.whole.during(_see(m, self.stated)) if numbers else []
        return [b for k in numbers for b in spans[k].bounds]

    def at_rest(self, dynamics: Dynamics) -> bool:
        return self.last and self.whole.at_rest(dynamics)

    def outline(self) -> list[Outline]:
        return self.whole.outline()


def _see(m: NodeSample, stated: Dynamics | None) -> NodeSample:
    """Return a sample of a phase as one of the mechanism with its contacts, if that is given."""
    return m if stated is None else SampleInModes(m, stated)


@dataclass(frozen=True, kw_only=True)
class CostInPhase(Cost):
    """A cost of a motion, as one of a phase of it."""

    whole: Cost  # of the motion
    last: bool  # whether the phase is the last one: then it has the part at the end
    stated: Dynamics | None = None  # as of `ConditionInPhase`

    def check(self, dynamics: Dynamics) -> None:
        self.whole.check(self.stated or dynamics)

    def rate(self, m: NodeSample) -> ca.SX:
        return self.whole.rate(_see(m, self.stated))

    def final(self, m: NodeSample) -> ca.SX:
        return self.whole.final(_see(m, self.stated)) if self.last else ca.SX(0)

    def over_step(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        return self.whole.over_step(a, h)


@dataclass(frozen=True)
class WithoutImpact(Condition):
    """Contacts that close where a phase ends do so without speed, or slip if they stick then.

    Forces that count, by a cost or a limit, are without bound in an impact.
    """

    closing: Mapping[str, ContactMode]  # what each does after it has closed, by name
    stated: Dynamics  # with its contacts

    def end(self, m: NodeSample) -> list[Bound]:
        d, p = self.stated, SampleInModes(m, self.stated).p
        names = map(joint_of, d.contact_names)
        rows = [k for k, name in enumerate(names) if name in self.closing]
        bounds = [zero("speed of what closes", (d.gap_matrix(m.t, m.q, p).T @ m.v)[rows])]
        sticking = [x for x in d.contacts if x.name in self.closing and self.closing[x.name].sticks]
        if sticking:
            at = sample_symbols(d)
            slips = [gap.slip for x in sticking for gap in x.gaps(at.state)]
            f = ca.Function("slip", [at.t, at.q, at.v, at.p], [ca.densify(ca.vertcat(*slips))])
            bounds.append(zero("slip of what closes", f(m.t, m.q, m.v, p)))
        return bounds


def divide_conditions(
    contactless: Dynamics,
    stated: Dynamics,
    conditions: Sequence[Condition],
    sequence: Sequence[ContactPhase],
    k: int,
) -> list[Condition]:
    """Return the conditions on phase k of a sequence, without those that its modes meet.

    ``contactless`` is the mechanism ``stated`` without its contacts.
    """
    first, last = k == 0, k == len(sequence) - 1
    earliest, latest = _find_given_borders_around(sequence, k)
    m, found = SampleInModes(sample_symbols(contactless), stated), list[Condition]()
    for x in conditions:
        if isinstance(x, StartAt | EndAt):
            found += [x] if (first if isinstance(x, StartAt) else last) else []
        elif isinstance(x, Periodic):
            continue  # of all phases, see `PhasedMotion.periodic`
        elif not is_about_modes(x):
            spans = list(enumerate(x.during(m)))
            through = tuple(i for i, y in spans if y.first <= earliest and latest <= y.last)
            if margin := find_margin(x):  # the cones of the phase are smaller
                found += [margin] if x is margin or through else []
                continue
            at_start = tuple(i for i, y in spans if first and y.last == 0)
            border = 1.0 if last else sequence[k].ends
            at_end = tuple(i for i, y in spans if y.first == y.last == border)
            seen = stated if reads_contacts(x, contactless, stated) else None
            found.append(ConditionInPhase(x, first, last, through, at_start, at_end, seen))
    return found


def _find_given_borders_around(sequence: Sequence[ContactPhase], k: int) -> tuple[float, float]:
    """Return the last given border before phase k and the first after it, as shares from 0 to 1."""
    before = [x.ends for x in sequence[:k] if x.ends is not None]
    after = [x.ends for x in sequence[k:] if x.ends is not None]
    return before[-1] if before else 0.0, after[0] if after else 1.0


def find_given_borders(
    contactless: Dynamics, stated: Dynamics, conditions: Sequence[Condition]
) -> list[float]:
    """Return at which shares of the steps, between 0 and 1, conditions begin or end.

    ``contactless`` is the mechanism ``stated`` without its contacts.
    """
    m = SampleInModes(sample_symbols(contactless), stated)
    spans = [y for x in conditions if not is_about_modes(x) for y in x.during(m)]
    return sorted({share for y in spans for share in (y.first, y.last) if 0 < share < 1})


def check_conditions(
    stated: Dynamics,
    given: Sequence[float],
    conditions: Sequence[Condition],
    sequence: Sequence[ContactPhase],
) -> None:
    """Raise NotExactError for a sequence whose phases cannot keep the conditions.

    ``given`` are those of `find_given_borders`, ``stated`` is the mechanism with its contacts.
    """
    ends = {x.ends for x in sequence[:-1]}
    for share in given:
        if share not in ends:
            raise NotExactError(
                f"a condition begins or ends at {share:g} of the motion, where no phase of the "
                f"sequence does: give one that ends={share:g}, or more steps"
            )
    for x in conditions:
        if isinstance(x, During) and isinstance(x.condition, Touching):  # at one node, at any time
            name = joint_of(x.condition.contact)
            if not any(y.modes[name].closed or name in y.strikes for y in sequence):
                raise NotExactError(f"contact {x.condition.contact!r} is never touched, as it must")
        elif isinstance(x, Touching | Apart):
            name, closed = joint_of(x.contact), isinstance(x, Touching)
            for phase in sequence:  # a contact that strikes is not apart, though its mode is open
                if phase.modes[name].closed != closed or (name in phase.strikes and not closed):
                    raise NotExactError(
                        f"{type(x).__name__}({x.contact!r}) does not hold in a phase of the "
                        f"sequence: {phase.describe(stated)}"
                    )


def find_touching(conditions: Sequence[Condition]) -> list[str]:
    """Return the contacts that conditions keep closed all along."""
    return [x.contact for x in conditions if isinstance(x, Touching)]
