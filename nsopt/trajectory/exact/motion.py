"""A motion through contact, stated and solved in a sequence of phases."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from nsopt.trajectory.exact.refusals import FAULTS, check_laws, check_parts, is_about_modes
from nsopt.trajectory.exact.sequence import ContactPhase
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases import (
    MotionPhase,
    Open,
    SearchedPhases,
    SolvedPhases,
    sample_symbols,
    solve_phases,
    with_modes,
)
from nsopt.trajectory.search import PLAN_OF_PHASES, FromGuess, Plan, Spent, StatedProgram

OFF_WALL = 1e-2
"""Share of its clearance by which a closed contact may be off its wall within steps."""

OFF_FLOOR = 1.0
"""The same of contacts without clearance, over their typical opening, `Gap.scale`."""

PLAN_OF_TRIALS = Plan[SearchedPhases]((FromGuess(),))
"""The plan for a sequence that is only compared with another."""


@dataclass(frozen=True)
class ConditionInPhase(Condition):
    """A condition on a motion, as one on a phase of it."""

    whole: Condition  # on the motion
    first: bool  # whether the phase is the first one
    last: bool  # whether it is the last one
    # Indices of the spans of ``whole.during`` that hold throughout the phase, or at its ends alone.
    throughout: tuple[int, ...] = ()
    at_start: tuple[int, ...] = ()
    at_end: tuple[int, ...] = ()

    def check(self, dynamics: Dynamics) -> None:
        self.whole.check(dynamics)

    def start(self, m: NodeSample) -> list[Bound]:
        of_start = self.whole.start(m) if self.first else []
        return [*of_start, *self._list_bounds(self.at_start, m)]

    def along(self, m: NodeSample) -> list[Bound]:
        return [*self.whole.along(m), *self._list_bounds(self.throughout, m)]

    def over_step(self, dynamics: Dynamics, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> list[Bound]:
        return self.whole.over_step(dynamics, a, h)

    def end(self, m: NodeSample) -> list[Bound]:
        of_end = self.whole.end(m) if self.last else []
        return [*of_end, *self._list_bounds(self.at_end, m)]

    def _list_bounds(self, numbers: tuple[int, ...], m: NodeSample) -> list[Bound]:
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
    """Return the conditions on phase k of a sequence, without those that its modes meet."""
    first, last = k == 0, k == len(sequence) - 1
    earliest, latest = _find_given_borders_around(sequence, k)
    m, found = sample_symbols(d), list[Condition]()
    for x in conditions:
        if isinstance(x, StartAt | EndAt):
            found += [x] if (first if isinstance(x, StartAt) else last) else []
        elif not is_about_modes(x):
            spans = list(enumerate(x.during(m)))
            through = tuple(i for i, y in spans if y.first <= earliest and latest <= y.last)
            at_start = tuple(i for i, y in spans if first and y.last == 0)
            border = 1.0 if last else sequence[k].ends
            at_end = tuple(i for i, y in spans if y.first == y.last == border)
            found.append(ConditionInPhase(x, first, last, through, at_start, at_end))
    return found


def _find_given_borders_around(sequence: Sequence[ContactPhase], k: int) -> tuple[float, float]:
    """Return the last given border before phase k and the first after it, as shares from 0 to 1."""
    before = [x.ends for x in sequence[:k] if x.ends is not None]
    after = [x.ends for x in sequence[k:] if x.ends is not None]
    return before[-1] if before else 0.0, after[0] if after else 1.0


def find_given_borders(contactless: Dynamics, conditions: Sequence[Condition]) -> list[float]:
    """Return at which shares of the steps, between 0 and 1, conditions begin or end.

    ``contactless`` is without contacts.
    """
    m = sample_symbols(contactless)
    spans = [y for x in conditions if not is_about_modes(x) for y in x.during(m)]
    return sorted({share for y in spans for share in (y.first, y.last) if 0 < share < 1})


def check_conditions(
    contactless: Dynamics, conditions: Sequence[Condition], sequence: Sequence[ContactPhase]
) -> None:
    """Raise NotExactError for a sequence whose phases cannot keep the conditions."""
    ends = {x.ends for x in sequence[:-1]}
    for share in find_given_borders(contactless, conditions):
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
                        f"sequence: {phase.describe()}"
                    )


def find_touching(conditions: Sequence[Condition]) -> list[str]:
    """Return the contacts that conditions keep closed all along."""
    return [x.contact for x in conditions if isinstance(x, Touching)]


def without_contacts(d: Dynamics, inputs: Sequence[str]) -> Dynamics:
    """Return a mechanism without its contacts; ``inputs`` are parameters that become inputs."""
    return with_modes(d, {x.name: Open() for x in d.contacts}, inputs)[0]


def divide_costs(costs: Sequence[Cost], k: int, n: int) -> list[Cost]:
    """Return the costs of phase k of n."""
    if k == n - 1:
        return [*costs]
    return [
        x if type(x).final is Cost.final else CostWithoutEnd(whole=x, weight=x.weight)
        for x in costs
    ]


@dataclass(frozen=True, eq=False)
class PhasedMotion:
    """A motion through contact, to be stated in phases for any sequence of contact.

    What phases cannot state is refused by a NotExactError.
    """

    program: StatedProgram  # the motion in steps
    least_steps: int  # of a phase
    shortest: float  # least duration of a phase, as a share of that of the motion
    spent: Spent  # counts all that is solved here

    def __post_init__(self) -> None:
        try:
            contactless = self.contactless
        except ValueError as error:  # an element names a contact
            raise NotExactError(str(error)) from None
        check_parts(self.program, self.costs, contactless)
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

    def solve(
        self, sequence: Sequence[ContactPhase], known: KnownMotion, *, briefly: bool = False
    ) -> SolvedPhases:
        """Return the optimum in a sequence of contact, from a known motion.

        ``briefly``: the solver gives up early, and limits between nodes are not enforced.
        """
        check_conditions(self.contactless, self.program.statement.conditions, sequence)
        solver, plan = self.program.solver, PLAN_OF_PHASES
        if briefly:
            solver, plan = replace(solver, backend=solver.backend.brief), PLAN_OF_TRIALS
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it was told of the motion in steps
                solved = solve_phases(
                    self._state(sequence, known),
                    self.program.transcription.horizon.bounds,
                    [x.ends for x in sequence[:-1]],
                    solver,
                    plan,
                )
        except FAULTS as error:
            raise NotExactError(str(error)) from None
        self.spent.add(solved.solution.stages, solved.solution.time)
        return solved

    def find_contact_off_wall(self, solved: SolvedPhases) -> str:
        """Return which closed contact is off its wall by most, in words; empty if by little.

        It follows a wall to the fourth order of the steps, which may be far beside a clearance.
        """
        d, p = self.program.transcription.dynamics, self.program.statement.p
        clearance, scale = (np.asarray(f(p)).ravel() for f in (d.clearance, d.gap_scale))
        limits = np.where(clearance > 0, OFF_WALL * clearance, OFF_FLOOR * scale)  # NaN for none
        allowed = dict(zip(map(joint_of, d.contact_names), limits.tolist(), strict=True))
        off = [(0.0, "")]
        for k, phase in enumerate(solved.linked.phases):
            fine = solved.trajectory(k)
            for name, contact in phase.closed_contacts.items():
                gap = float(np.abs(contact.measure(fine, phase.p)[0]).max())
                off.append((gap / allowed[name], name))
        share, name = max(off)
        if share <= 1:
            return ""
        gap = share * allowed[name]
        return f"contact {name!r} is off its wall by {gap:.2g} m within steps: give it more steps"

    def _state(self, sequence: Sequence[ContactPhase], known: KnownMotion) -> list[MotionPhase]:
        x, statement = self.program.transcription, self.program.statement
        names = [y.name for y in x.dynamics.parameters]
        values = dict(zip(names, statement.p.tolist(), strict=True))
        parameters = {name: value for name, value in values.items() if name not in x.inputs}
        low, high = x.horizon.bounds
        duration = (self.shortest * low, high) if len(sequence) > 1 else x.horizon.duration
        borders = np.cumsum([0.0, *(phase.duration for phase in sequence)])
        borders /= borders[-1]  # as shares of the duration
        times = known.t[0] + known.duration * borders
        counts = [round(x.horizon.steps * share) for share in np.diff(borders)]
        return [
            MotionPhase(
                x.dynamics,
                Horizon(duration, max(self.least_steps, n), defect=x.horizon.defect),
                costs=divide_costs(self.costs, k, len(sequence)),
                conditions=divide_conditions(self.contactless, statement.conditions, sequence, k),
                guess=PartOfMotion(known, *times[k : k + 2].tolist()),
                inputs=x.inputs,
                parameters=parameters,
                name=phase.describe(),
                modes=phase.modes,
                strikes=phase.strikes,
            )
            for k, (phase, n) in enumerate(zip(sequence, counts, strict=True))
        ]


def sum_costs(solved: SolvedPhases) -> dict[str, float]:
    """Return each cost that the user stated, by its name, summed over all phases."""
    linked, total = solved.linked, dict[str, float]()
    for phase, own in zip(linked.phases, linked.unknowns, strict=True):
        stated = [x.whole if isinstance(x, CostWithoutEnd) else x for x in phase.costs]
        terms = phase.nlp.terms(solved.solution.x[own], phase.program_parameters)
        for name, x in name_costs(stated, terms).items():
            total[name] = total.get(name, 0.0) + x
    return total
