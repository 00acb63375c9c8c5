"""A motion through contact, stated and solved in a sequence of phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.trajectory.assessment import shares
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.exact.known_motion import KnownMotion, PartOfMotion
from nsopt.trajectory.exact.parts import (
    WithoutEnd,
    check_conditions,
    check_parts,
    divide_conditions,
    divide_costs,
    without_contacts,
)
from nsopt.trajectory.exact.recognize import NotExactError
from nsopt.trajectory.exact.sequence import ContactPhase
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.phases import MotionPhase, PhasesProgram, SolvedPhases, solve_phases
from nsopt.trajectory.search import PLAN_OF_PHASES, FromGuess, Plan, Spent, StatedProgram

BRIEFLY = Plan[PhasesProgram]((FromGuess(),))
"""The plan of trials."""


@dataclass(frozen=True, eq=False)
class PhasedMotion:
    """A motion through contact that is stated in phases for any sequence of contact.

    Parameters
    ----------
    program : StatedProgram
        As it is stated in steps.
    least_steps : int
        Of a phase.
    shortest : float
        Least duration of a phase, as a share of that of the motion.
    spent : Spent
        To which all that is solved is added.

    Raises
    ------
    NotExactError
        If phases cannot state it.
    """

    program: StatedProgram
    least_steps: int
    shortest: float
    spent: Spent

    def __post_init__(self) -> None:
        x = self.program.transcription
        stated = self.costs, self.program.statement.conditions, x.inputs
        check_parts(x.dynamics, x.horizon, *stated)

    @property
    def costs(self) -> list[Cost]:
        """The costs that are stated."""
        return [x for x in self.program.transcription.costs if x is not self.program.tie]

    @cached_property
    def flying(self) -> Dynamics:
        """The mechanism without its contacts."""
        x = self.program.transcription
        return without_contacts(x.dynamics, x.inputs)

    def solve(
        self, sequence: Sequence[ContactPhase], known: KnownMotion, *, briefly: bool = False
    ) -> SolvedPhases:
        """Return the optimum in a sequence of contact.

        Parameters
        ----------
        sequence : sequence of ContactPhase
        known : KnownMotion
            A motion nearby.
        briefly : bool
            Whether solvers give up early, and limits between nodes are left alone.

        Raises
        ------
        NotExactError
            If phases cannot state it.
        """
        check_conditions(self.flying, self.program.statement.conditions, sequence)
        solver, plan = self.program.solver, PLAN_OF_PHASES
        if briefly:
            solver, plan = replace(solver, backend=solver.backend.brief), BRIEFLY
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
        span = (self.shortest * low, high) if len(sequence) > 1 else x.horizon.duration
        shares = np.cumsum([0.0, *(part.duration for part in sequence)])
        shares /= shares[-1]
        times = known.t[0] + known.duration * shares
        counts = [round(x.horizon.steps * share) for share in np.diff(shares)]
        return [
            MotionPhase(
                x.dynamics,
                Horizon(span, max(self.least_steps, n), defect=x.horizon.defect),
                divide_costs(self.costs, k, len(sequence)),
                divide_conditions(self.flying, statement.conditions, sequence, k),
                PartOfMotion(known, *times[k : k + 2].tolist()),
                x.inputs,
                parameters,
                part.describe(),
                part.modes,
                part.strikes,
            )
            for k, (part, n) in enumerate(zip(sequence, counts, strict=True))
        ]


def divide_shares(solved: SolvedPhases) -> dict[str, float]:
    """Return the share of each cost that is stated, over all phases."""
    linked, total = solved.linked, dict[str, float]()
    for phase, own in zip(linked.phases, linked.unknowns, strict=True):
        stated = [x.whole if isinstance(x, WithoutEnd) else x for x in phase.costs]
        terms = phase.nlp.terms(solved.solution.x[own], phase.numbers)
        for name, x in shares(stated, terms).items():
            total[name] = total.get(name, 0.0) + x
    return total
