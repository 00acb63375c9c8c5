"""Optimal motions in phases: `optimize_phases`."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from nsopt.interrupt import suspend_interrupts
from nsopt.mpcc import Point, Solution, Solver
from nsopt.result import Result
from nsopt.trajectory.assessment import add_simulation, explain_fault, record_costs
from nsopt.trajectory.diagnosis import LeastViolation
from nsopt.trajectory.optimality import describe_stationarity
from nsopt.trajectory.optimum import record
from nsopt.trajectory.phases.phase import MotionPhase
from nsopt.trajectory.phases.program import LinkedPhases
from nsopt.trajectory.phases.recorded_modes import (
    compute_impact_losses,
    describe_slide,
    record_modes,
    set_contact_modes,
)
from nsopt.trajectory.phases.result import PhasedResult
from nsopt.trajectory.phases.solve import SAME_POSTURE, SolvedPhases, solve_phases
from nsopt.trajectory.smoothing.small_costs import record_tie
from nsopt.trajectory.transcription.base import TranscribedMotion


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

    Coordinates and velocities are continuous, accelerations and forces need not be. Where the
    mechanism changes there is no impact: a load that is picked up at rest needs ``EndAt(v=...)`` in
    the phase before. Where a contact closes, velocities jump by an impact without restitution,
    whose impulses on all closed contacts are unknowns.

    Parameters
    ----------
    phases : sequence of MotionPhase
        Their mechanisms must have the same coordinates.
    duration : float or (float, float) [s]
        Duration of all phases together, given or within bounds.
    borders : sequence of float or None
        Share of that duration at which each phase ends, from the first on; None where it is free.
        Those left out are free.
    solver : Solver, optional
    verify : bool
        Whether each phase is simulated from its start by the compiled stepper, under its inputs and
        drives, its contacts free to change their modes.
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
    linked, solution = solved.linked, solved.solution
    with suspend_interrupts("stopping after this iteration; the best motion so far is kept"):
        known = solution.ok or solution.interrupted
        least = None if known else linked.least_violation(solution.x)
        results = [_record(solved, k, title, least) for k in range(len(linked.phases))]
        if verify and not solution.interrupted:
            results = [_simulate(solved, k, x) for k, x in enumerate(results)]
        worst_first = sorted(range(len(results)), key=lambda k: -_violation(linked, k, solution))
        labels = [x.label for x in linked.phases]
        faults = [f"{labels[k]}: {x}" for k in worst_first if (x := results[k].stop_reason)]
        faults += _describe_broken_link(linked, solution)
        if least is not None and least.total:
            longest = f"{linked.duration[1]:g} s"
            faults.insert(
                0, f"the duration of all phases is the longest allowed, {longest}: allow more"
            )
        if not (faults or solution.ok):
            faults = [solution.status.reason]
        return PhasedResult(results, labels, "\n".join(faults))


def _record(solved: SolvedPhases, k: int, title: str, least: LeastViolation | None) -> Result:
    """Return the result of phase k."""
    linked, solution, settings = solved.linked, solved.solution, solved.settings
    own = linked.phases[k]
    x, p, part = own.transcription, own.p, linked.extract_part(solution, k)
    motion = x.motion(part, p)
    kept = None if solved.kept is None else solved.kept.of_part(k)
    guess = Point.cold(solved.start[linked.unknowns[k]], len(own.nlp.lower))
    limit = min(settings.tolerances.equality, settings.tolerances.inequality)
    least_here = None if least is None else least.of_part(linked.rows[k], k)
    violated = ""
    if _violation(linked, k, solution) > limit:
        violated = explain_fault(x, own.nlp, part, motion, p, settings.tolerances, least_here)
    result = record(
        x,
        part,
        motion,
        p,
        type(solved.solver.backend).__name__.lower(),
        {
            "title": f"{title}, {own.label}",
            "solver": repr(solved.solver),
            "compile_time": solved.seconds,
            **record_costs(x, own.nlp, own.costs, part, guess, p),
            **record_tie(own.tie),
            **record_modes(own, part.x, solution.x[linked.impulses[k]]),
            **_record_impact_losses(linked, k, solution, motion),
            "stationarity": describe_stationarity(x, settings, solution),
            **({} if kept is None else kept.attrs),
            "stop_reason": violated
            or ("" if kept is None else kept.fault)
            or (solution.ok and describe_slide(own, part.x))
            or (motion.unresolved if solution.ok else ""),
        },
    )
    return set_contact_modes(result, own.contacts)


def _record_impact_losses(
    linked: LinkedPhases, k: int, solution: Solution, motion: TranscribedMotion
) -> dict[str, str]:
    """Return the attribute ``impact_loss``: what each contact takes at the start of a phase [J]."""
    impulses = solution.x[linked.impulses[k]]
    if not impulses.size:
        return {}
    before = linked.phases[k - 1].transcription.trajectory(solution.x[linked.unknowns[k - 1]])[0]
    state = motion.nodes.q[0], before.v[-1], motion.nodes.v[0]
    return {"impact_loss": json.dumps(compute_impact_losses(linked.phases[k], *state, impulses))}


def _simulate(solved: SolvedPhases, k: int, result: Result) -> Result:
    """Return the result of a phase with its simulation, contacts as the user stated them."""
    stated, motion = solved.linked.phases[k].phase, solved.motion(k)
    d, p = stated.dynamics, stated.dynamics.values(stated.parameters)
    return add_simulation(result, d, stated.inputs, motion, p, None)


def _violation(linked: LinkedPhases, k: int, solution: Solution) -> float:
    """Return the largest violation of the rows of one phase."""
    rows = solution.residuals.rows[linked.rows[k]]
    return float(linked.phases[k].nlp.violations(rows).max(initial=0.0))


def _describe_broken_link(linked: LinkedPhases, solution: Solution) -> list[str]:
    """Return in words the row between phases that is off by most; empty if all are met."""
    if solution.ok:
        return []
    nlp, first = linked.nlp, linked.rows[-1].stop  # rows between phases come last
    off = nlp.violations(solution.residuals.rows)[first:]
    if not off.size or off.max() <= SAME_POSTURE:
        return []
    k = int(np.argmax(off))
    return [f"{nlp.label(first + k)[0]} is off by {off[k]:.3g}"]
