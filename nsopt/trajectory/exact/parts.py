"""What of a motion belongs to each of its phases: conditions, costs, the guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from nsopt.contact_modes import joint_of
from nsopt.mechanics import Dynamics, Outline
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions import Apart, Condition, During, EndAt, Span, StartAt, Touching
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.exact.recognize import NotExactError
from nsopt.trajectory.exact.sequence import ContactPhase
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases import Open, sample_symbols, with_modes


@dataclass(frozen=True)
class ConditionInPhase(Condition):
    """A condition on a motion, as one on a phase of it."""

    whole: Condition  # on the motion
    first: bool  # the phase is the first one
    last: bool
    # Indices of the spans of ``whole.during`` that hold throughout the phase, or at its ends alone.
    throughout: tuple[int, ...] = ()
    at_start: tuple[int, ...] = ()
    at_end: tuple[int, ...] = ()

    def check(self, dynamics: Dynamics) -> None:
        self.whole.check(dynamics)

    def start(self, m: NodeSample) -> list[Bound]:
        of_start = self.whole.start(m) if self.first else []
        return [*of_start, *self._of_spans(self.at_start, m)]

    def along(self, m: NodeSample) -> list[Bound]:
        return [*self.whole.along(m), *self._of_spans(self.throughout, m)]

    def over_step(self, dynamics: Dynamics, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> list[Bound]:
        return self.whole.over_step(dynamics, a, h)

    def end(self, m: NodeSample) -> list[Bound]:
        of_end = self.whole.end(m) if self.last else []
        return [*of_end, *self._of_spans(self.at_end, m)]

    def _of_spans(self, numbers: tuple[int, ...], m: NodeSample) -> list[Bound]:
        return [b for k in numbers for b in self.whole.during(m)[k].bounds]

    def at_rest(self, dynamics: Dynamics) -> bool:
        return self.last and self.whole.at_rest(dynamics)

    def outline(self) -> list[Outline]:
        return self.whole.outline()


@dataclass(frozen=True, kw_only=True)
class CostWithoutEnd(Cost):
    """A cost without its part at the end of the motion, for all phases but the last."""

    whole: Cost

    def check(self, dynamics: Dynamics) -> None:
        self.whole.check(dynamics)

    def rate(self, m: NodeSample) -> ca.SX:
        return self.whole.rate(m)

    def over_step(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        return self.whole.over_step(a, h)


def divide_conditions(
    d: Dynamics, conditions: Sequence[Condition], sequence: Sequence[ContactPhase], k: int
) -> list[Condition]:
    """Return the conditions on phase k of a sequence; its modes see to which contacts touch."""
    first, last = k == 0, k == len(sequence) - 1
    earliest, latest = _find_given_around(sequence, k)
    m, found = sample_symbols(d), list[Condition]()
    for x in conditions:
        if isinstance(x, StartAt | EndAt):
            found += [x] if (first if isinstance(x, StartAt) else last) else []
        elif not _is_of_modes(x):
            spans = list(enumerate(x.during(m)))
            through = tuple(i for i, y in spans if y.first <= earliest and latest <= y.last)
            at_start = tuple(i for i, y in spans if first and y.last == 0)
            border = 1.0 if last else sequence[k].ends
            at_end = tuple(i for i, y in spans if y.first == y.last == border)
            found.append(ConditionInPhase(x, first, last, through, at_start, at_end))
    return found


def _find_given_around(sequence: Sequence[ContactPhase], k: int) -> tuple[float, float]:
    """Return the last given border before phase k and the first after it, 0 to 1 of the motion."""
    before = [x.ends for x in sequence[:k] if x.ends is not None]
    after = [x.ends for x in sequence[k:] if x.ends is not None]
    return before[-1] if before else 0.0, after[0] if after else 1.0


def find_given_borders(flying: Dynamics, conditions: Sequence[Condition]) -> list[float]:
    """Return at which shares of the steps, between 0 and 1, conditions begin or end.

    ``flying`` is the mechanism without its contacts.
    """
    m = sample_symbols(flying)
    spans = [y for x in conditions if not _is_of_modes(x) for y in x.during(m)]
    return sorted({share for y in spans for share in (y.first, y.last) if 0 < share < 1})


def check_conditions(
    flying: Dynamics, conditions: Sequence[Condition], sequence: Sequence[ContactPhase]
) -> None:
    """Raise NotExactError for a sequence whose phases cannot keep the conditions."""
    ends = {x.ends for x in sequence[:-1]}
    for share in find_given_borders(flying, conditions):
        if share not in ends:
            raise NotExactError(
                f"a condition begins or ends at {share:g} of the motion, where no phase of the "
                f"sequence does: give one that ends={share:g}, or more steps"
            )
    for x in conditions:
        if isinstance(x, Touching | Apart):
            name, closed = joint_of(x.contact), isinstance(x, Touching)
            for phase in sequence:  # a contact that strikes is not apart, though open after that
                if phase.modes[name].closed != closed or (name in phase.strikes and not closed):
                    raise NotExactError(
                        f"{type(x).__name__}({x.contact!r}) does not hold in a phase of the "
                        f"sequence: {phase.describe()}"
                    )


def find_touching(conditions: Sequence[Condition]) -> list[str]:
    """Return the contacts that conditions keep closed all along."""
    return [x.contact for x in conditions if isinstance(x, Touching)]


def without_contacts(d: Dynamics, inputs: Sequence[str]) -> Dynamics:
    """Return a mechanism without its contacts; ``inputs`` are parameters chosen over time."""
    return with_modes(d, {x.name: Open() for x in d.contacts}, inputs)[0]


def _is_of_modes(x: Condition) -> bool:
    """Return whether a condition only says which contacts touch."""
    return isinstance(x.condition if isinstance(x, During) else x, Touching | Apart)


def divide_costs(costs: Sequence[Cost], k: int, n: int) -> list[Cost]:
    """Return the costs of phase k of n."""
    if k == n - 1:
        return [*costs]
    return [
        x if type(x).final is Cost.final else CostWithoutEnd(whole=x, weight=x.weight)
        for x in costs
    ]


def check_parts(
    d: Dynamics,
    horizon: Horizon,
    costs: Sequence[Cost],
    conditions: Sequence[Condition],
    inputs: Sequence[str],
) -> None:
    """Raise NotExactError for costs and conditions that cannot be divided among phases."""
    for cost in costs:
        if type(cost).impact is not Cost.impact:
            raise NotExactError(f"{type(cost).__name__} is of impacts in steps")
    try:
        m = sample_symbols(without_contacts(d, inputs))
        spans = [y for x in conditions if not _is_of_modes(x) for y in _find_spans(x, m)]
        of_costs = [ca.SX(x) for c in costs for x in (c.rate(m), c.final(m))]
    except ValueError as error:  # a cost or condition needs what phases do not have
        raise NotExactError(str(error)) from None
    if spans and horizon.h is not None:  # shares of the steps are not those of the duration
        raise NotExactError(
            "conditions hold for a part of the steps, which have sizes of their own"
        )
    if any(ca.depends_on(x, m.t) for x in (*of_costs, m.drive)):
        raise NotExactError("forces or costs depend on time, phases have times of their own")


def _find_spans(x: Condition, m: NodeSample) -> list[Span]:
    """Return the spans of a condition; refuse one that a single phase cannot keep."""
    name, spans = type(x).__name__, x.during(m)
    if x.couple(m, m):
        raise NotExactError(f"{name} couples start and end of the motion")
    bounds = [*x.along(m), *x.end(m), *(b for y in spans for b in y.bounds)]
    if any(ca.depends_on(ca.SX(b.value), m.t) for b in bounds):
        raise NotExactError(f"{name} depends on time, phases have times of their own")
    return spans
