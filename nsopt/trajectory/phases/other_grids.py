"""Phases solved again on half and on twice as many steps, where that is quick."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from nsopt.result import Result
from nsopt.simulation import Check
from nsopt.trajectory.grid_error import (
    estimate_total_error,
    explain_unknown_error,
    measure_grid_error,
)
from nsopt.trajectory.guesses import Earlier
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.other_grids import NoOptimumError, check_violation, measure_by_other_grids
from nsopt.trajectory.phases.phase import MotionPhase
from nsopt.trajectory.phases.result import PhasedResult
from nsopt.trajectory.phases.solve import SolvedPhases

FEWEST = 2  # steps of a phase; the grids of all differ by those of the others then


@dataclass(frozen=True, eq=False)
class PhasesOnOtherGrids:
    """Optimal phases on other grids, each solved from themselves."""

    found: PhasedResult
    solved: SolvedPhases
    solve: Callable[[Sequence[MotionPhase]], Sequence[Result]]  # the same in other phases

    def check(self, check: Check) -> PhasedResult:
        """Return the phases with their errors, if these are told within the time allowed."""
        spent = self.solved.solve_seconds, self.solved.seconds
        told = measure_by_other_grids(check, *spent, self._solve_on, self._measure)
        if not isinstance(told, str):
            return told
        unknown = [explain_unknown_error(x, told) for x in self.found.phases]
        return replace(self.found, phases=unknown, error_unknown=told)

    def _measure(self, others: Mapping[float, Sequence[Result]]) -> PhasedResult:
        programs, phases = self.solved.linked.phases, list[Result]()
        costs = [json.loads(x.data.attrs["detailed_cost"]) for x in self.found.phases]
        size = sum(abs(y) for x in costs for y in x.values())
        for k, (own, program) in enumerate(zip(self.found.phases, programs, strict=True)):
            of_phase = {factor: x[k] for factor, x in others.items()}
            d = program.transcription.dynamics
            found = measure_grid_error(own, of_phase, d, program.p)
            phases.append(Result(found.data.assign_attrs(cost_of_phases=size)))
        error, order = estimate_total_error(phases, others, self.found.limits_cost)
        total = replace(self.found, phases=phases, error_unknown="")
        return replace(total, objective_error=error, objective_order=order)

    def _solve_on(self, factor: float) -> Sequence[Result]:
        programs, limit = self.solved.linked.phases, self.solved.settings.tolerances.rows
        try:
            stated = [
                replace(x.phase, horizon=_scale_steps(x.phase, factor), guess=Earlier(own))
                for x, own in zip(programs, self.found.phases, strict=True)
            ]
            phases = self.solve(stated)
        except ValueError as error:
            raise NoOptimumError(str(error)) from None
        return [check_violation(x, x.data.sizes["time"] - 1, limit) for x in phases]


def _scale_steps(phase: MotionPhase, factor: float) -> Horizon:
    """Return the horizon of a phase in so many times as many steps, `FEWEST` at least."""
    return phase.horizon.with_steps(max(math.ceil(factor * phase.horizon.steps), FEWEST))
