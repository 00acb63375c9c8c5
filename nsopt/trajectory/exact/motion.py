"""A motion through contact, stated and solved in a sequence of phases: `PhasedMotion`.

From the program of the motion in steps and a sequence of contact modes, costs and conditions are
divided among phases; `ExactContacts` calls it for each sequence that it tries.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from nsopt.contact_modes import joint_of
from nsopt.mechanics import Dynamics
from nsopt.mpcc import IN_FEW_STEPS, IN_OTHER_STEPS, WarmStart
from nsopt.trajectory.assessment import name_costs
from nsopt.trajectory.conditions import (
    Condition,
    Periodic,
)
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.exact.division import (
    CostInPhase,
    WithoutImpact,
    check_conditions,
    divide_conditions,
    find_given_borders,
)
from nsopt.trajectory.exact.known_motion import KnownMotion, PartOfMotion
from nsopt.trajectory.exact.recognize import NotExactError
from nsopt.trajectory.exact.refusals import (
    FAULTS,
    check_laws,
    check_parts,
    reads_contacts,
)
from nsopt.trajectory.exact.sequence import ContactPhase
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.phases import (
    PLAN_OF_PHASES,
    FewStepsFirst,
    MotionPhase,
    Open,
    SearchedPhases,
    SolvedPhases,
    solve_phases,
    with_modes,
)
from nsopt.trajectory.search import (
    Found,
    FromGuess,
    MotionSearch,
    Plan,
    RoughFirst,
    Spent,
    StatedProgram,
)

HELD = 1e-3  # share by which a duration that is held may differ, as all have to add up
OFF_WALL = 1e-2  # share of its clearance by which a closed contact may be off its wall within steps
OFF_FLOOR = 1.0  # the same of contacts without clearance, over their typical opening, `Gap.scale`


@dataclass(frozen=True)
class FromKnown(FromGuess[SearchedPhases]):
    """Solves from a motion that is near, with a barrier as small as that allows."""

    starts: WarmStart = IN_FEW_STEPS

    def solve(
        self, search: MotionSearch[SearchedPhases], found: Found[SearchedPhases]
    ) -> Found[SearchedPhases]:
        by = found.program.structured.restate(found.program.nlp, self.starts)
        return replace(found, solution=search.solve(found.program, search.start, by=by))


PLAN_OF_TRIALS = Plan[SearchedPhases]((FromKnown(),))
"""The plan for a sequence that is only compared with another."""

# The known motion is nearer than one in few steps.
PLAN_FROM_STEPS = PLAN_OF_PHASES.without(FewStepsFirst)

PLAN_FROM_OTHER_STEPS = Plan[SearchedPhases](
    (FromKnown(IN_OTHER_STEPS), *PLAN_FROM_STEPS.without(RoughFirst, FromGuess).strategies)
)


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

    @property
    def periodic(self) -> Periodic | None:
        """The condition that the motion ends as it begins; None if there is none."""
        found = (x for x in self.program.statement.conditions if isinstance(x, Periodic))
        return next(found, None)

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
        held: bool = False,
        near: bool = False,
    ) -> SolvedPhases:
        """Return the optimum in a sequence of contact, from a known motion.

        ``steps`` of each phase, by default as long as those of the motion in steps. ``briefly``:
        the solver gives up early, and limits between nodes are not enforced. ``held``: phases last
        as long as the sequence says. ``near``: the motion is of the same sequence in other steps.
        """
        stated = self.program.transcription.dynamics
        conditions = self.program.statement.conditions
        check_conditions(stated, self.given_borders, conditions, sequence)
        solver = self.program.solver
        plan = PLAN_FROM_OTHER_STEPS if near else PLAN_FROM_STEPS
        if briefly:
            solver, plan = replace(solver, backend=solver.backend.brief), PLAN_OF_TRIALS
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the motion in steps has given the same warnings
                solved = solve_phases(
                    self._state(sequence, known, steps, held),
                    self.program.transcription.horizon.bounds,
                    [x.ends for x in sequence[:-1]],
                    solver,
                    plan,
                    self.periodic,
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
        self,
        sequence: Sequence[ContactPhase],
        known: KnownMotion,
        steps: Sequence[int] | None,
        held: bool,
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
        durations = [
            ((1 - HELD) * y.duration, (1 + HELD) * y.duration) if held else duration
            for y in sequence
        ]
        return [
            MotionPhase(
                x.dynamics,
                Horizon(durations[k], n, defect=x.horizon.defect),
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
