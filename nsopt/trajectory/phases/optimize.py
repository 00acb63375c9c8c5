"""Optimal motions in phases: `optimize_phases`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from time import perf_counter

import numpy as np

from nsopt.interrupt import interruptible, suspend_interrupts
from nsopt.mpcc import (
    Point,
    Settings,
    Solution,
    Solver,
)
from nsopt.result import Result
from nsopt.trajectory.assessment import add_simulation, fault, figures
from nsopt.trajectory.conditions import EndAt, StartAt
from nsopt.trajectory.diagnosis import LeastViolation
from nsopt.trajectory.optimality import what_it_is
from nsopt.trajectory.optimum import load_xarray, record
from nsopt.trajectory.phases.phase import MotionPhase, PhaseProgram
from nsopt.trajectory.phases.program import LinkedPhases
from nsopt.trajectory.phases.recorded_modes import in_given_modes, record_modes, tell_slide
from nsopt.trajectory.phases.result import PhasedResult
from nsopt.trajectory.phases.search import PhasesProgram
from nsopt.trajectory.programs import program_settings, suit_solver
from nsopt.trajectory.search import PLAN_OF_PHASES, KeptMotion, MotionSearch
from nsopt.trajectory.smoothing.tie_breaker import record_tie
from nsopt.trajectory.transcription.base import Array

SAME = 1e-9
"""Difference of coordinates of one posture [rad, m]."""


def optimize_phases(
    phases: Sequence[MotionPhase],
    *,
    duration: float | tuple[float, float] = (0.0, np.inf),
    solver: Solver | None = None,
    verify: bool = False,
    title: str = "optimum",
) -> PhasedResult:
    """Return the motion of least cost in phases, each of which starts where the one before ends.

    Coordinates and velocities are continuous, accelerations and forces need not be. A load is taken
    up without impact: where the mechanism changes, what is taken up must have the velocity that it
    is given, such as by ``EndAt(v=...)`` of the phase before. Where a contact closes, velocities
    jump by an impact without restitution, whose impulses on all closed contacts are unknowns.

    Parameters
    ----------
    phases : sequence of MotionPhase
        Two or more, of mechanisms with the same coordinates.
    duration : float or (float, float) [s]
        Of all phases together, given or within bounds.
    solver : Solver, optional
    verify : bool
        Whether each phase is simulated from its start by the compiled stepper, under its inputs and
        drives alone: its contacts may then do as they would.
    title : str

    Returns
    -------
    PhasedResult

    Raises
    ------
    TypeError, ValueError
        As for `optimize`, the phase named; if phases have other coordinates than the one before,
        or begin elsewhere than it ends, or their durations do not add up to that of all.
    KeyboardInterrupt
        After Ctrl-C before the solver has begun.
    """
    begin, solver = perf_counter(), solver or Solver()
    with interruptible():
        linked = LinkedPhases(_programs(phases, solver), _bounds(phases, duration))
        # Without a homotopy: phases have the speeds up to which friction is smoothed of their own.
        settings = program_settings(linked.phases[0].transcription, solver)
        settings = replace(settings, schedules=(((),),))
        steps = sum(x.phase.horizon.steps for x in linked.phases)
        suited, start = suit_solver(solver, steps, often=False), linked.start()
        now = PhasesProgram.of(linked, suited, settings)
        begun = Point.cold(start, len(now.nlp.lower))
        search = MotionSearch[PhasesProgram](PLAN_OF_PHASES, begun, settings.schedules)
        load_xarray()
    with suspend_interrupts("stopping after this iteration; the best motion so far is kept"):
        built = perf_counter() - begin
        found, _ = search.run(now)
        linked, kept, solution = found.program.linked, found.kept, search.complete(found.end)
        attrs = {"title": title, "solver": repr(solver), "compile_time": built}
        known = solution.ok or solution.interrupted
        least = None if known else linked.least_violation(solution.x)
        results = [
            _record(linked, k, solution, kept, start, settings, solver, attrs, least)
            for k in range(len(phases))
        ]
        if verify and not solution.interrupted:
            results = [_simulate(linked, k, solution, x) for k, x in enumerate(results)]
        worst_first = sorted(range(len(phases)), key=lambda k: -_violation(linked, k, solution))
        labels = [x.label for x in linked.phases]
        why = [f"{labels[k]}: {x}" for k in worst_first if (x := results[k].stop_reason)]
        why += _apart(linked, solution)
        if least is not None and least.total:
            longest = f"{linked.duration[1]:g} s"
            why.insert(
                0, f"the duration of all phases is the longest allowed, {longest}: allow more"
            )
        if not (why or solution.ok):
            why = [solution.status.reason]
        return PhasedResult(results, labels, "\n".join(why))


def _programs(phases: Sequence[MotionPhase], solver: Solver) -> list[PhaseProgram]:
    """Return the programs of the phases, which fit each other."""
    for phase in phases:
        if not isinstance(phase, MotionPhase):
            raise TypeError(f"phases of optimize_phases must be MotionPhase, got {phase!r}")
    if len(phases) < 2:
        raise ValueError(f"phases of optimize_phases must be two or more, got {len(phases)}")
    programs: list[PhaseProgram] = []
    for k, phase in enumerate(phases):
        label = f"phase {k}" + (f" ({phase.name})" if phase.name else "")
        before = programs[-1] if programs else None
        if before is not None:
            _check_coordinates(before, phase, label)
        programs.append(PhaseProgram.of(phase, label, before, solver))
    for before, after in pairwise(programs):
        _check_border(before, after)
    return programs


def _check_coordinates(before: PhaseProgram, phase: MotionPhase, label: str) -> None:
    """Refuse a phase whose coordinates are not those of the one before."""
    names = before.phase.dynamics.q_names
    if phase.dynamics.q_names != names:
        raise ValueError(
            f"{label} has the coordinates {', '.join(phase.dynamics.q_names)}, {before.label} has "
            f"{', '.join(names)}: give mechanisms with the same ones"
        )


def _check_border(before: PhaseProgram, after: PhaseProgram) -> None:
    """Refuse a phase that is to begin elsewhere than the one before ends."""
    ends = [x for x in before.phase.conditions if isinstance(x, EndAt)]
    starts = [x for x in after.phase.conditions if isinstance(x, StartAt)]
    for end in ends:
        for start in starts:
            a, b = end.coordinates(before.phase.dynamics), start.coordinates(after.phase.dynamics)
            off = np.abs(a - b)
            if np.nanmax(off, initial=0.0) > SAME:
                k = int(np.nanargmax(off))
                raise ValueError(
                    f"{before.label} ends with {before.phase.dynamics.q_names[k]} at {a[k]:.6g}, "
                    f"{after.label} starts with {b[k]:.6g}: leave one of them out"
                )


def _bounds(
    phases: Sequence[MotionPhase], duration: float | tuple[float, float]
) -> tuple[float, float]:
    """Return least and greatest duration of all phases, which those of each can add up to."""
    low, high = duration if isinstance(duration, tuple) else (duration, duration)
    least, most = (sum(x.horizon.bounds[k] for x in phases) for k in (0, 1))
    if not low <= high or low > most or high < least:
        raise ValueError(
            f"duration of optimize_phases is {low:g} to {high:g} s, those of the phases add up to "
            f"{least:g} to {most:g} s: change one of them"
        )
    return (float(low) if low > least else -np.inf), (float(high) if high < most else np.inf)


def _record(
    linked: LinkedPhases,
    k: int,
    solution: Solution,
    kept: KeptMotion | None,
    start: Array,
    settings: Settings,
    solver: Solver,
    attrs: dict[str, object],
    least: LeastViolation | None,
) -> Result:
    """Return the result of one phase."""
    own = linked.phases[k]
    x, p = own.transcription, own.p
    part = own.part(solution, linked.unknowns[k], linked.rows[k])
    motion = x.motion(part, p)
    mine = None if kept is None else kept.of_part(k)
    begun = Point.cold(start[linked.unknowns[k]], len(own.nlp.lower))
    violated = _violation(linked, k, solution)
    limit = min(settings.tolerances.equality, settings.tolerances.inequality)
    mine_alone = None if least is None else least.of_part(linked.rows[k], k)
    why = ""
    if violated > limit:
        why = fault(x, own.nlp, part, motion, p, settings.tolerances, mine_alone)
    result = record(
        x,
        part,
        motion,
        p,
        type(solver.backend).__name__.lower(),
        {
            **attrs,
            "title": f"{attrs['title']}, {own.label}",
            **figures(x, own.nlp, own.costs, part, begun, p),
            **record_tie(own.tie),
            **record_modes(own, part.x, solution.x[linked.impulses[k]]),
            "stationarity": what_it_is(x, settings, solution),
            **({} if mine is None else mine.attrs),
            "stop_reason": why
            or ("" if mine is None else mine.fault)
            or (solution.ok and tell_slide(own, part.x))
            or (motion.unresolved if solution.ok else ""),
        },
    )
    return in_given_modes(result, own.in_modes)


def _simulate(linked: LinkedPhases, k: int, solution: Solution, result: Result) -> Result:
    """Return the result of a phase with its simulation by the mechanism as it is stated."""
    own = linked.phases[k]
    motion = own.transcription.motion(own.part(solution, linked.unknowns[k], linked.rows[k]), own.p)
    d, inputs = own.phase.dynamics, own.phase.inputs
    return add_simulation(result, d, inputs, motion, d.values(own.phase.parameters), None)


def _violation(linked: LinkedPhases, k: int, solution: Solution) -> float:
    """Return the largest violation of the rows of one phase."""
    rows = solution.residuals.rows[linked.rows[k]]
    return float(linked.phases[k].nlp.violations(rows).max(initial=0.0))


def _apart(linked: LinkedPhases, solution: Solution) -> list[str]:
    """Return what the rows that link phases are off by, where they are not met."""
    if solution.ok:
        return []
    nlp, first = linked.nlp, linked.rows[-1].stop
    off = nlp.violations(solution.residuals.rows)[first:]
    if not off.size or off.max() <= SAME:
        return []
    k = int(np.argmax(off))
    return [f"{nlp.label(first + k)[0]} is off by {off[k]:.3g}"]
