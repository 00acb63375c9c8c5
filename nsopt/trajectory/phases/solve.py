"""From stated phases to their solution: `solve_phases` checks them, states one program, solves it.

For `optimize_phases`, and for `PhasedMotion`, which states phases itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real
from time import perf_counter, thread_time

import numpy as np

from nsopt.arrays import Array
from nsopt.culprit import naming
from nsopt.interrupt import guard, interruptible
from nsopt.mpcc import Point, Settings, Solution, Solver
from nsopt.trajectory.conditions import Condition, EndAt, Periodic, StartAt
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.optimum import import_xarray
from nsopt.trajectory.phases.few_steps_first import FewStepsFirst
from nsopt.trajectory.phases.period import Period
from nsopt.trajectory.phases.phase import MotionPhase, PhaseProgram
from nsopt.trajectory.phases.program import LinkedPhases, SearchedPhases
from nsopt.trajectory.phases.slip_directions import find_resting
from nsopt.trajectory.programs import choose_settings, suit_solver
from nsopt.trajectory.search import (
    FinishAcceptable,
    FromGuess,
    KeepLimits,
    LessenTie,
    LimitExcess,
    MotionSearch,
    Plan,
    ResolveSteps,
    RoughFirst,
    StrategyRun,
)
from nsopt.trajectory.transcription.base import TranscribedMotion

SAME_POSTURE = 1e-9  # [rad, m] difference of coordinates up to which two postures are one

PLAN_OF_PHASES = Plan[SearchedPhases](
    (
        FewStepsFirst(),
        RoughFirst(),
        FromGuess(),
        FinishAcceptable(),
        LessenTie(),
        ResolveSteps(),
        KeepLimits(),
    )
)
"""The plan of `optimize_phases`."""


@dataclass(frozen=True, eq=False)
class SolvedPhases:
    """A solution of the program of phases."""

    linked: LinkedPhases
    solution: Solution
    excess: LimitExcess | None  # over limits between nodes; None if not measured
    start: Array  # (n,) unknowns of the guesses
    settings: Settings
    solver: Solver
    seconds: float  # that it took to state the program
    solve_seconds: float  # of the processor, that its solves took
    ran: Sequence[StrategyRun]  # what led to it

    def trajectory(self, k: int) -> Trajectory:
        """Return the trajectory of phase k at nodes and midpoints."""
        x = self.solution.x[self.linked.unknowns[k]]
        return self.linked.phases[k].transcription.trajectory(x)[1]

    def motion(self, k: int) -> TranscribedMotion:
        """Return the motion of phase k, its time from zero."""
        own = self.linked.phases[k]
        return own.transcription.motion(self.linked.extract_part(self.solution, k), own.p)

    @property
    def borders(self) -> Array:
        """Times at which phases begin, and that at which the last ends, (phases + 1,) [s]."""
        lengths = [self.solution.x[own.stop - 1] for own in self.linked.unknowns]
        return np.asarray(np.cumsum([0.0, *lengths]))


def compute_impact_losses(solved: SolvedPhases, k: int) -> dict[str, float]:
    """Return the energy [J] that each contact dissipates in the impact at the start of phase k."""
    phase, found = solved.linked.phases[k], dict[str, float]()
    for x, impulses in phase.divide_impulses(solved.solution.x[solved.linked.impulses[k]]):
        before, after = solved.trajectory(k - 1), solved.trajectory(k)
        total = np.asarray(x.impulse_and_margins(after.q[0], phase.p, impulses)[0]).ravel()
        # The work of an impulse is its power at the mean of the velocities before and after it.
        found[x.name] = -float(total @ (before.v[-1] + after.v[0])) / 2
    return found


def solve_phases(
    phases: Sequence[MotionPhase],
    duration: float | tuple[float, float],
    borders: Sequence[float | None],
    solver: Solver,
    plan: Plan[SearchedPhases] = PLAN_OF_PHASES,
    periodic: Periodic | None = None,
) -> SolvedPhases:
    """Return what the plan finds; arguments and errors as of `optimize_phases`."""
    begin = perf_counter()
    with interruptible():
        programs = _state_programs(phases, solver, periodic)
        total = _limit_duration(phases, duration)
        linked = LinkedPhases(programs, total, _check_borders(phases, borders), periodic)
        settings = choose_settings(linked.phases[0].transcription, solver)
        # One stage without homotopy numbers: speeds that smooth friction are parameters of phases.
        settings = replace(settings, schedules=(((),),))
        steps = sum(x.phase.horizon.steps for x in linked.phases)
        suited, start = suit_solver(solver, steps, often=False), linked.start()
        program = SearchedPhases.of(linked, suited, settings)
        guess = Point.cold(start, len(program.nlp.lower))
        search = MotionSearch[SearchedPhases](plan, guess, settings.schedules)
        import_xarray()
    with guard():
        seconds, begin = perf_counter() - begin, thread_time()
        found, ran = search.run(program)
        solution, linked = search.with_all_stages(found.end), found.program.linked
        told = seconds, thread_time() - begin, ran
        return SolvedPhases(linked, solution, found.excess, start, settings, solver, *told)


def _state_programs(
    phases: Sequence[MotionPhase], solver: Solver, periodic: Periodic | None
) -> list[PhaseProgram]:
    """Return the programs of the phases; refuse those that do not fit each other."""
    for phase in phases:
        if not isinstance(phase, MotionPhase):
            raise TypeError(f"phases of optimize_phases must be MotionPhase, got {phase!r}")
        if not isinstance(phase.modes, Mapping):
            raise TypeError(
                "modes of a MotionPhase must be a mapping of contact to mode, such as "
                f"{{'foot': Sticking()}}, got {phase.modes!r:.60}"
            )
    if not phases:
        raise ValueError("phases of optimize_phases must be one or more, got none")
    period = None
    if periodic is not None:
        _check_period(periodic, phases[0])
        period = Period(periodic, [x.modes for x in phases])
    modes, strikes = [x.modes for x in phases], [x.strikes for x in phases]
    resting = find_resting(modes, strikes, is_periodic=period is not None)
    programs: list[PhaseProgram] = []
    for k, phase in enumerate(phases):
        label = f"phase {k}" + (f" ({phase.name})" if phase.name else "")
        before = programs[-1] if programs else None
        names = phase.dynamics.q_names if before is None else before.phase.dynamics.q_names
        if before is not None and phase.dynamics.q_names != names:
            raise ValueError(
                f"{label} has the coordinates {', '.join(phase.dynamics.q_names)}, {before.label} "
                f"has {', '.join(names)}: give mechanisms with the same ones"
            )
        try:
            with naming(Cost, Condition):
                ending = period if k == len(phases) - 1 else None
                if ending is not None and programs:
                    ending = replace(ending, first=programs[0].contacts)
                programs.append(PhaseProgram.of(phase, label, before, solver, resting[k], ending))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{label}: {error}") from None
    for before, after in pairwise(programs):
        _check_postures(before, after)
    return programs


def _check_period(periodic: Periodic, first: MotionPhase) -> None:
    if not isinstance(periodic, Periodic):
        raise TypeError(f"periodic of optimize_phases must be Periodic(), got {periodic!r:.60}")
    periodic.check(first.dynamics)


def _check_postures(before: PhaseProgram, after: PhaseProgram) -> None:
    """Refuse a phase that is to begin elsewhere than the one before ends."""
    ends = [x for x in before.phase.conditions if isinstance(x, EndAt)]
    starts = [x for x in after.phase.conditions if isinstance(x, StartAt)]
    for end in ends:
        for start in starts:
            a, b = end.coordinates(before.phase.dynamics), start.coordinates(after.phase.dynamics)
            off = np.abs(a - b)
            if np.nanmax(off, initial=0.0) > SAME_POSTURE:
                k = int(np.nanargmax(off))
                raise ValueError(
                    f"{before.label} ends with {before.phase.dynamics.q_names[k]} at {a[k]:.6g}, "
                    f"{after.label} starts with {b[k]:.6g}: leave one of them out"
                )


def _limit_duration(
    phases: Sequence[MotionPhase], duration: float | tuple[float, float]
) -> tuple[float, float]:
    """Return least and greatest duration of all phases, infinite where those of each imply it.

    Refuses a duration that they cannot add up to.
    """
    low, high = duration if isinstance(duration, tuple) else (duration, duration)
    least, most = (sum(x.horizon.bounds[k] for x in phases) for k in (0, 1))
    if not low <= high or low > most or high < least:
        raise ValueError(
            f"duration of optimize_phases is {low:g} to {high:g} s, those of the phases add up to "
            f"{least:g} to {most:g} s: change one of them"
        )
    return (float(low) if low > least else -np.inf), (float(high) if high < most else np.inf)


def _check_borders(
    phases: Sequence[MotionPhase], borders: Sequence[float | None]
) -> Sequence[float | None]:
    """Return the shares at which phases end; refuse those that do not rise from zero to one."""
    if not isinstance(borders, Sequence) or not all(
        x is None or isinstance(x, Real) for x in borders
    ):
        raise TypeError(f"borders of optimize_phases must be numbers or None, got {borders!r:.60}")
    given = [0.0, *(float(x) for x in borders if x is not None), 1.0]
    if len(borders) >= len(phases) or not (np.diff(given) > 0).all():
        raise ValueError(
            f"borders of optimize_phases are {list(borders)}: give shares of the duration between "
            f"0 and 1 that rise, or None, for at most {len(phases) - 1} ends of phases"
        )
    return borders
