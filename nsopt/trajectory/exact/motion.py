"""A motion through contact, stated and solved in a sequence of phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.trajectory.assessment import name_costs
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.exact.known_motion import KnownMotion, PartOfMotion
from nsopt.trajectory.exact.parts import (
    CostWithoutEnd,
    check_conditions,
    check_parts,
    divide_conditions,
    divide_costs,
    without_contacts,
)
from nsopt.trajectory.exact.recognize import NotExactError
from nsopt.trajectory.exact.sequence import ContactPhase
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.phases import MotionPhase, SearchedPhases, SolvedPhases, solve_phases
from nsopt.trajectory.search import PLAN_OF_PHASES, FromGuess, Plan, Spent, StatedProgram

PLAN_OF_TRIALS = Plan[SearchedPhases]((FromGuess(),))
"""The plan for a sequence that is only compared with another."""


@dataclass(frozen=True, eq=False)
class PhasedMotion:
    """A motion through contact, to be stated in phases for any sequence of contact.

    Raises
    ------
    NotExactError
        If phases cannot state it.
    """

    program: StatedProgram  # the motion in steps
    least_steps: int  # of a phase
    shortest: float  # least duration of a phase, as a share of that of the motion
    spent: Spent  # counts all that is solved here

    def __post_init__(self) -> None:
        x = self.program.transcription
        stated = self.costs, self.program.statement.conditions, x.inputs
        check_parts(x.dynamics, x.horizon, *stated)

    @property
    def costs(self) -> list[Cost]:
        """The costs that the user stated: without the tie-breaker."""
        return [x for x in self.program.transcription.costs if x is not self.program.tie]

    @cached_property
    def flying(self) -> Dynamics:
        """The mechanism without its contacts."""
        x = self.program.transcription
        return without_contacts(x.dynamics, x.inputs)

    def solve(
        self, sequence: Sequence[ContactPhase], known: KnownMotion, *, briefly: bool = False
    ) -> SolvedPhases:
        """Return the optimum in a sequence of contact, from a known motion.

        ``briefly``: the solver gives up early, and limits between nodes are not enforced.

        Raises
        ------
        NotExactError
            If phases cannot state it.
        """
        check_conditions(self.flying, self.program.statement.conditions, sequence)
        solver, plan = self.program.solver, PLAN_OF_PHASES
        if briefly:
            solver, plan = replace(solver, backend=solver.backend.brief), PLAN_OF_TRIALS
        try:
            solved = solve_phases(
                self._phases(sequence, known),
                self.program.transcription.horizon.bounds,
                [x.ends for x in sequence[:-1]],
                solver,
                plan,
            )
        except ValueError as error:
            raise NotExactError(str(error)) from None
        self.spent.add(solved.solution.stages, solved.solution.time)
        # Each phase has a grid of its own, and so smooths friction by another speed.
        if any(any(x.transcription.creep) for x in solved.linked.phases):
            raise NotExactError(
                "friction of driven joints is smoothed, in phases of few steps most"
            )
        return solved

    def _phases(self, sequence: Sequence[ContactPhase], known: KnownMotion) -> list[MotionPhase]:
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
                divide_costs(self.costs, k, len(sequence)),
                divide_conditions(self.flying, statement.conditions, sequence, k),
                PartOfMotion(known, *times[k : k + 2].tolist()),
                x.inputs,
                parameters,
                phase.describe(),
                phase.modes,
                phase.strikes,
            )
            for k, (phase, n) in enumerate(zip(sequence, counts, strict=True))
        ]


def sum_costs(solved: SolvedPhases) -> dict[str, float]:
    """Return each cost that the user stated, by name, summed over all phases."""
    linked, total = solved.linked, dict[str, float]()
    for phase, own in zip(linked.phases, linked.unknowns, strict=True):
        stated = [x.whole if isinstance(x, CostWithoutEnd) else x for x in phase.costs]
        terms = phase.nlp.terms(solved.solution.x[own], phase.program_parameters)
        for name, x in name_costs(stated, terms).items():
            total[name] = total.get(name, 0.0) + x
    return total
