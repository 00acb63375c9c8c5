"""Optimal motions in phases: `optimize_phases`."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from nsopt.interrupt import suspend_interrupts
from nsopt.mpcc import Point, Settings, Solution, Solver
from nsopt.result import Result
from nsopt.trajectory.assessment import add_simulation, fault, figures
from nsopt.trajectory.diagnosis import LeastViolation
from nsopt.trajectory.optimality import what_it_is
from nsopt.trajectory.optimum import record
from nsopt.trajectory.phases.phase import MotionPhase
from nsopt.trajectory.phases.program import LinkedPhases
from nsopt.trajectory.phases.recorded_modes import (
    in_given_modes,
    losses_of_impact,
    record_modes,
    tell_slide,
)
from nsopt.trajectory.phases.result import PhasedResult
from nsopt.trajectory.phases.solve import SAME, SolvedPhases, solve_phases
from nsopt.trajectory.search import KeptMotion
from nsopt.trajectory.smoothing.tie_breaker import record_tie
from nsopt.trajectory.transcription.base import Array, TranscribedMotion


def optimize_phases(
    phases: Sequence[MotionPhase],
    *,
    duration: float | tuple[float, float] = (0.0, np.inf),
    borders: Sequence[float | None] = (),
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
        Of mechanisms with the same coordinates.
    duration : float or (float, float) [s]
        Of all phases together, given or within bounds.
    borders : sequence of float or None
        Shares of that duration at which the first, the second phase, and so on end; None, as those
        that are left out, where that is free.
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
    solved = solve_phases(phases, duration, borders, solver or Solver())
    return record_phases(solved, verify, title)


def record_phases(solved: SolvedPhases, verify: bool, title: str) -> PhasedResult:
    """Return the results of phases that are solved; arguments as of `optimize_phases`."""
    linked, solution, kept, solver = solved.linked, solved.solution, solved.kept, solved.solver
    with suspend_interrupts("stopping after this iteration; the best motion so far is kept"):
        attrs = {"title": title, "solver": repr(solver), "compile_time": solved.seconds}
        known = solution.ok or solution.interrupted
        least = None if known else linked.least_violation(solution.x)
        results = [
            _record(linked, k, solution, kept, solved.start, solved.settings, solver, attrs, least)
            for k in range(len(linked.phases))
        ]
        if verify and not solution.interrupted:
            results = [_simulate(linked, k, solution, x) for k, x in enumerate(results)]
        worst_first = sorted(range(len(results)), key=lambda k: -_violation(linked, k, solution))
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
    struck = solution.x[linked.impulses[k]]
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
            **record_modes(own, part.x, struck),
            **_losses(linked, k, solution, motion),
            "stationarity": what_it_is(x, settings, solution),
            **({} if mine is None else mine.attrs),
            "stop_reason": why
            or ("" if mine is None else mine.fault)
            or (solution.ok and tell_slide(own, part.x))
            or (motion.unresolved if solution.ok else ""),
        },
    )
    return in_given_modes(result, own.in_modes)


def _losses(
    linked: LinkedPhases, k: int, solution: Solution, motion: TranscribedMotion
) -> dict[str, str]:
    """Return as an attribute what contacts take in the impact at the start of a phase [J]."""
    struck = solution.x[linked.impulses[k]]
    if not struck.size:
        return {}
    before = linked.phases[k - 1].transcription.trajectory(solution.x[linked.unknowns[k - 1]])[0]
    state = motion.nodes.q[0], before.v[-1], motion.nodes.v[0]
    return {"impact_loss": json.dumps(losses_of_impact(linked.phases[k], *state, struck))}


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
