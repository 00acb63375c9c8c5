"""A motion through contact, stated and solved in a sequence of phases: `PhasedMotion`.

From the program of the motion in steps and a sequence of contact modes, costs and conditions are
divided among phases; `ExactContacts` calls it for each sequence that it tries.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import casadi as ca
import numpy as np

from nsopt.contact_modes import joint_of
from nsopt.mechanics import Dynamics, Outline
from nsopt.mpcc import Bound
from nsopt.trajectory.assessment import name_costs
from nsopt.trajectory.conditions import Apart, Condition, During, EndAt, StartAt, Touching
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.exact.known_motion import KnownMotion, PartOfMotion
from nsopt.trajectory.exact.recognize import NotExactError
from nsopt.trajectory.exact.refusals import (
    FAULTS,
    SampleInModes,
    check_laws,
    check_parts,
    find_margin,
    is_about_modes,
    reads_contacts,
)
from nsopt.trajectory.exact.sequence import ContactPhase
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases import (
    ContactMode,
    MotionPhase,
    Open,
    SearchedPhases,
    SolvedPhases,
    sample_symbols,
    solve_phases,
    with_modes,
)
from nsopt.trajectory.search import PLAN_OF_PHASES, FromGuess, Plan, Spent, StatedProgram
from nsopt.trajectory.transcription.base import zero

OFF_WALL = 1e-2
"""Share of its clearance by which a closed contact may be off its wall within steps."""

OFF_FLOOR = 1.0
"""The same of contacts without clearance, over their typical opening, `Gap.scale`."""

PLAN_OF_TRIALS = Plan[SearchedPhases]((FromGuess(),))
"""The plan for a sequence that is only compared with another."""


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


def without_contacts(d: Dynamics, inputs: Sequence[str]) -> Dynamics:
    """Return a mechanism without its contacts; ``inputs`` are parameters that become inputs."""
    return with_modes(d, {x.name: Open() for x in d.contacts}, inputs)[0]


@dataclass(frozen=True, eq=False)
class PhasedMotion:
    """A motion through contact, to be stated in phases for any sequence of contact.

    What phases cannot state is refused by a NotExactError.
    """

    program: StatedProgram  # the motion in steps
    least_steps: int  # of a phase
    shortest: float  # least duration of a phase, as a share of that of the motion
    spent: Spent  # counts all that is solved here
    counts_forces: bool = field(init=False)  # whether costs or conditions are of contact forces

    def __post_init__(self) -> None:
        try:
            contactless = self.contactless
        except ValueError as error:  # an element names a contact
            raise NotExactError(str(error)) from None
        counts = check_parts(self.program, self.costs, contactless)
        object.__setattr__(self, "counts_forces", counts)
        check_laws(self.program.transcription, self.program.statement.p)

    @property
    def costs(self) -> list[Cost]:
        """The costs that the user stated: without the tie-breaker."""
        return [x for x in self.program.transcription.costs if x is not self.program.tie]

    @cached_property
    def contactless(self) -> Dynamics:
        """The mechanism without its contacts."""
        x = self.program.transcription
        return without_contacts(x.dynamics, x.inputs)

    @cached_property
    def given_borders(self) -> list[float]:
        """The shares of the motion at which phases must end, as conditions begin or end there."""
        stated, conditions = self.program.transcription.dynamics, self.program.statement.conditions
        return find_given_borders(self.contactless, stated, conditions)

    def solve(
        self,
        sequence: Sequence[ContactPhase],
        known: KnownMotion,
        *,
        steps: Sequence[int] | None = None,
        briefly: bool = False,
    ) -> SolvedPhases:
        """Return the optimum in a sequence of contact, from a known motion.

        ``steps`` of each phase, by default as long as those of the motion in steps. ``briefly``:
        the solver gives up early, and limits between nodes are not enforced.
        """
        stated = self.program.transcription.dynamics
        conditions = self.program.statement.conditions
        check_conditions(stated, self.given_borders, conditions, sequence)
        solver, plan = self.program.solver, PLAN_OF_PHASES
        if briefly:
            solver, plan = replace(solver, backend=solver.backend.brief), PLAN_OF_TRIALS
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the motion in steps has given the same warnings
                solved = solve_phases(
                    self._state(sequence, known, steps),
                    self.program.transcription.horizon.bounds,
                    [x.ends for x in sequence[:-1]],
                    solver,
                    plan,
                )
        except FAULTS as error:
            raise NotExactError(str(error)) from None
        self.spent.add(solved.solution.stages, solved.solution.time)
        return solved

    def find_what_opens(self, solved: SolvedPhases) -> str:
        """Return in words which joint is open, or closed contact off its wall; empty if by little.

        Both are kept to the fourth order of the steps, which may be far beside a clearance.
        """
        d, p = self.program.transcription.dynamics, self.program.statement.p
        clearance, scale = (np.asarray(f(p)).ravel() for f in (d.clearance, d.gap_scale))
        limits = np.where(clearance > 0, OFF_WALL * clearance, OFF_FLOOR * scale)  # NaN for none
        allowed = dict(zip(map(joint_of, d.contact_names), limits.tolist(), strict=True))
        off = [(0.0, "")]
        for k, phase in enumerate(solved.linked.phases):
            fine = solved.trajectory(k)
            if opening := phase.describe_open_loop(fine):
                return opening
            for name, contact in phase.closed_contacts.items():
                gap = float(np.abs(contact.measure(fine, phase.p)[0]).max())
                off.append((gap / allowed[name], name))
        share, name = max(off)
        if share <= 1:
            return ""
        gap = share * allowed[name]
        return f"contact {name!r} is off its wall by {gap:.2g} m within steps: give it more steps"

    def _state(
        self, sequence: Sequence[ContactPhase], known: KnownMotion, steps: Sequence[int] | None
    ) -> list[MotionPhase]:
        x, statement = self.program.transcription, self.program.statement
        values = dict(zip(x.dynamics.parameter_names, statement.p.tolist(), strict=True))
        parameters = {name: value for name, value in values.items() if name not in x.inputs}
        low, high = x.horizon.bounds
        duration = (self.shortest * low, high) if len(sequence) > 1 else x.horizon.duration
        borders = np.cumsum([0.0, *(phase.duration for phase in sequence)])
        borders /= borders[-1]  # as shares of the duration
        times = known.t[0] + known.duration * borders
        shares = np.diff(borders)
        counts = steps or [max(self.least_steps, round(x.horizon.steps * y)) for y in shares]
        return [
            MotionPhase(
                x.dynamics,
                Horizon(duration, n, defect=x.horizon.defect),
                costs=self._divide_costs(last=k == len(sequence) - 1),
                conditions=self._divide_conditions(sequence, k),
                guess=PartOfMotion(known, *times[k : k + 2].tolist()),
                inputs=x.inputs,
                parameters=parameters,
                name=phase.describe(x.dynamics),
                modes=phase.modes,
                strikes=phase.strikes,
            )
            for k, (phase, n) in enumerate(zip(sequence, counts, strict=True))
        ]

    def _divide_costs(self, *, last: bool) -> list[Cost]:
        """Return the costs of a phase, which may be the last one."""
        found, x = list[Cost](), self.program.transcription
        for cost in self.costs:
            seen = x.dynamics if reads_contacts(cost, self.contactless, x.dynamics) else None
            is_same = seen is None and (last or type(cost).final is Cost.final)
            part = CostInPhase(whole=cost, last=last, stated=seen, weight=cost.weight)
            found.append(cost if is_same else part)
        return found

    def _divide_conditions(self, sequence: Sequence[ContactPhase], k: int) -> list[Condition]:
        """Return the conditions on phase k of a sequence."""
        d, conditions = self.program.transcription.dynamics, self.program.statement.conditions
        found = divide_conditions(self.contactless, d, conditions, sequence, k)
        if self.counts_forces and k < len(sequence) - 1:
            now, after = sequence[k : k + 2]
            then = {**{n: x for n, x in after.modes.items() if x.closed}, **after.strikes}
            closing = {n: x for n, x in then.items() if not now.modes[n].closed}
            found += [WithoutImpact(closing, d)] if closing else []
        return found


def sum_costs(solved: SolvedPhases) -> dict[str, float]:
    """Return each cost that the user stated, by its name, summed over all phases."""
    linked, total = solved.linked, dict[str, float]()
    for phase, own in zip(linked.phases, linked.unknowns, strict=True):
        stated = [x.whole if isinstance(x, CostInPhase) else x for x in phase.costs]
        terms = phase.nlp.terms(solved.solution.x[own], phase.program_parameters)
        for name, x in name_costs(stated, terms).items():
            total[name] = total.get(name, 0.0) + x
    return total
