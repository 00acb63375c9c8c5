"""A phase of a motion: as it is stated, and as a part of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Point, Solution, Solver, StructuredNlp
from nsopt.trajectory.conditions import Condition, StartAt
from nsopt.trajectory.costs import Cost, Smoothness, flattened
from nsopt.trajectory.diagnosis import (
    Statement,
    check_arguments,
    check_costs,
    check_feasible,
    dependence,
)
from nsopt.trajectory.dry_friction import grid_creep
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.step_bend import step_bend
from nsopt.trajectory.tie_breaker import smaller, tie_breaker
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.transcription.collocation import Collocation, no_accelerations


@dataclass(frozen=True, eq=False)
class MotionPhase:
    """A phase of a motion.

    Parameters
    ----------
    dynamics : Dynamics
        Its mechanism; without contacts, clearances, closed loops and free bodies that turn.
    horizon : Horizon
        Its duration, given or free within bounds, and its steps.
    costs : sequence of Cost
        The sum over all phases is minimized.
    conditions : sequence of Condition
        Times and shares of the steps are those of the phase.
    guess : Guess
        What it leaves out at the start is where the guess of the phase before ends.
    inputs : sequence of str
        Parameters of the mechanism that are chosen anew at every moment.
    parameters : mapping of name to float, optional
        Values of the others.
    name : str
        For messages and results.
    """

    dynamics: Dynamics
    horizon: Horizon
    costs: Sequence[Cost]
    conditions: Sequence[Condition]
    guess: Guess
    inputs: Sequence[str] = ()
    parameters: Mapping[str, float] | None = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class PhaseProgram:
    """The program of a phase by itself.

    Attributes
    ----------
    phase : MotionPhase
    label : str
        Its number and name, in messages.
    p : (np,)
        Values of its parameters.
    guess : Guess
        As placed.
    tie : Smoothness or None
        The tie-breaker among its costs.
    """

    phase: MotionPhase
    label: str
    p: Array
    guess: Guess
    statement: Statement
    transcription: Collocation
    nlp: StructuredNlp
    tie: Smoothness | None

    @classmethod
    def of(
        cls, phase: MotionPhase, label: str, before: PhaseProgram | None, solver: Solver
    ) -> PhaseProgram:
        """Return the program of a phase, checked as by `optimize`.

        Raises
        ------
        TypeError, ValueError
            As of `optimize`, the phase named first.
        """
        try:
            return cls._of(phase, label, before, solver)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{label}: {error}") from None

    @classmethod
    def _of(
        cls, phase: MotionPhase, label: str, before: PhaseProgram | None, solver: Solver
    ) -> PhaseProgram:
        d, horizon, inputs, parameters = (
            getattr(phase, x) for x in ("dynamics", "horizon", "inputs", "parameters")
        )
        conditions, guess = tuple(phase.conditions), phase.guess
        if before is not None and isinstance(guess, Guess):
            guess = guess.placed(d, [*conditions, StartAt(before.last_posture)], parameters)
        guess = check_arguments(
            d,
            horizon,
            phase.costs,
            conditions,
            guess,
            inputs=inputs,
            parameters=parameters,
            scheme=None,
            solver=solver,
        )
        if fault := no_accelerations(d):
            raise ValueError(f"{fault}: phases are of motions by polynomials, without contacts")
        costs = tuple(flattened(phase.costs))
        transcription = Collocation(d, horizon, costs, conditions, tuple(inputs))
        transcription = transcription.with_creep(grid_creep(d, horizon, guess, inputs))
        p = d.values(parameters)
        statement = Statement(d, conditions, inputs, p)
        check_feasible(statement, horizon)
        nlp = transcription.nlp()
        depends = dependence(nlp, len(costs))
        check_costs(costs, depends)
        tie = tie_breaker(transcription, nlp, depends, guess, p)
        bend = step_bend(transcription, nlp, guess, p) if any(transcription.creep) else None
        more = [x for x in (bend, tie) if x is not None]
        if more:
            transcription = replace(transcription, costs=(*costs, *more))
            nlp = transcription.nlp()
        return cls(phase, label, p, guess, statement, transcription, nlp, tie)

    def settled(self, terms: Array) -> PhaseProgram:
        """Return the phase with a tie-breaker that decides between equals alone.

        Parameters
        ----------
        terms : (k,)
            Its costs at an optimum, that of the tie-breaker last.
        """
        tie = smaller(self.tie, terms)
        if tie is None:
            return self
        transcription = replace(self.transcription, costs=(*self.transcription.costs[:-1], tie))
        return replace(self, transcription=transcription, nlp=transcription.nlp(), tie=tie)

    @property
    def numbers(self) -> Array:
        """Parameters of the program: of the mechanism, then of the friction that is smoothed."""
        return self.transcription.parameters(self.p)

    @property
    def costs(self) -> Sequence[Cost]:
        """The costs that are stated."""
        return flattened(self.phase.costs)

    @property
    def last_posture(self) -> Array:
        """Where the guess ends, (nq,)."""
        phase = self.phase
        known = (np.array([0.0, 1.0]), phase.horizon.bounds, phase.inputs)
        posture: Array = self.guess.trajectory(*known).q[-1]
        return posture

    def part(self, solution: Solution, unknowns: slice, rows: slice) -> Solution:
        """Return what a solution of all phases is of this one."""
        point, residuals = solution.point, solution.residuals
        own = Point(point.x[unknowns], point.lam_x[unknowns], point.lam_g[rows])
        return replace(solution, point=own, residuals=replace(residuals, rows=residuals.rows[rows]))
