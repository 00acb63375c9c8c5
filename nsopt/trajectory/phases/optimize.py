"""Optimal motions in phases: `optimize_phases`, and how well contacts kept their modes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from nsopt.arrays import Array
from nsopt.contact_modes import FREE, LASTING, joint_of
from nsopt.interrupt import guard
from nsopt.mpcc import Point, Solution, Solver
from nsopt.result import Result
from nsopt.simulation import Check
from nsopt.trajectory.assessment import (
    add_simulation,
    describe_stationarity,
    explain_fault,
    record_costs,
)
from nsopt.trajectory.conditions import Periodic
from nsopt.trajectory.diagnosis import LeastViolation
from nsopt.trajectory.optimum import record
from nsopt.trajectory.other_grids import IF_QUICK, refuse_other_checks
from nsopt.trajectory.phases.cone_excess import find_cone_excess
from nsopt.trajectory.phases.few_steps_first import FewStepsFirst
from nsopt.trajectory.phases.mode_conditions import SLIP, ContactInMode
from nsopt.trajectory.phases.other_grids import PhasesOnOtherGrids
from nsopt.trajectory.phases.phase import MotionPhase, PhaseProgram
from nsopt.trajectory.phases.program import LinkedPhases
from nsopt.trajectory.phases.result import PhasedResult
from nsopt.trajectory.phases.solve import (
    PLAN_OF_PHASES,
    SAME_POSTURE,
    SolvedPhases,
    compute_impact_losses,
    solve_phases,
)
from nsopt.trajectory.search import KeepLimits
from nsopt.trajectory.smoothing.small_costs import record_tie
from nsopt.trajectory.verification.switching_limits import find_switching_limits

MOST_SLIDE = 1e-3  # [m] that a sticking contact may slide in a phase; errors of steps are far less


def optimize_phases(
    phases: Sequence[MotionPhase],
    *,
    duration: float | tuple[float, float] = (0.0, np.inf),
    borders: Sequence[float | None] = (),
    periodic: Periodic | None = None,
    solver: Solver | None = None,
    verify: bool = False,
    check: Check | None = IF_QUICK,
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
    periodic : Periodic, optional
        The last phase ends as the first one begins, as a gait does.
    solver : Solver, optional
    verify : bool
        Whether each phase is simulated from its start by the compiled stepper, under its inputs and
        drives, its contacts free to change their modes.
    check : Check or None
        Whether to solve all phases again, from themselves, on half and on twice as many steps, as
        by `optimize`.
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
    refuse_other_checks(check)
    of_all = duration, borders, solver or Solver()
    solved = solve_phases(phases, *of_all, periodic=periodic)
    found = record_phases(solved, verify, title)
    if check is None or not found.completed:
        return found

    def solve_else(others: Sequence[MotionPhase]) -> Sequence[Result]:
        # What limits between nodes cost is known from the optimum itself, which is the guess.
        plan = PLAN_OF_PHASES.without(FewStepsFirst, KeepLimits)
        again = solve_phases(others, *of_all, plan, periodic)
        return record_phases(again, False, title).phases

    return PhasesOnOtherGrids(found, solved, solve_else).check(check)


def record_phases(solved: SolvedPhases, verify: bool, title: str) -> PhasedResult:
    """Return the results of phases that are solved; arguments as of `optimize_phases`."""
    linked, solution = solved.linked, solved.solution
    with guard():
        known = solution.ok or solution.interrupted
        least = None if known else linked.least_violation(solution.x)
        results = [_record(solved, k, title, least) for k in range(len(linked.phases))]
        if verify and not solution.interrupted:
            results = [_simulate(solved, k, x) for k, x in enumerate(results)]
        worst_first = sorted(
            range(len(results)), key=lambda k: -_measure_violation(linked, k, solution)
        )
        labels = [x.label for x in linked.phases]
        faults = [f"{labels[k]}: {x}" for k in worst_first if (x := results[k].stop_reason)]
        faults += _describe_broken_link(linked, solution)
        if least is not None and least.total:
            longest = f"the longest allowed, {linked.duration[1]:g} s"
            faults.insert(0, f"the duration of all phases is {longest}: allow more")
        if not (faults or solution.ok):
            faults = [solution.status.reason]
        cost = 0.0 if solved.excess is None else solved.excess.cost
        reason, unknown = "\n".join(faults), "not asked for"
        return PhasedResult(results, labels, reason, error_unknown=unknown, limits_cost=cost)


def _record(solved: SolvedPhases, k: int, title: str, least: LeastViolation | None) -> Result:
    """Return the result of phase k."""
    linked, solution, settings = solved.linked, solved.solution, solved.settings
    own = linked.phases[k]
    x, p, part = own.transcription, own.p, linked.extract_part(solution, k)
    motion, losses = x.motion(part, p), compute_impact_losses(solved, k)
    excess = None if solved.excess is None else solved.excess.of_part(k)
    guess = Point.cold(solved.start[linked.unknowns[k]], len(own.nlp.lower))
    least_here = None if least is None else least.of_part(linked.rows[k], k)
    limits, violated = find_switching_limits(own.nlp, part.point.lam_g), ""
    if _measure_violation(linked, k, solution) > settings.tolerances.rows:
        violated = explain_fault(x, own.nlp, part, motion, p, settings.tolerances, least_here)
    result = record(
        x,
        part,
        motion,
        p,
        solved.solver.backend,
        {
            "title": f"{title}, {own.label}",
            "solver": repr(solved.solver),
            "compile_time": solved.seconds,
            "search": json.dumps([run._asdict() for run in solved.ran]),
            **record_costs(x, own.nlp, own.costs, part, guess, p),
            **record_tie(own.tie),
            **record_modes(own, part.x, solution.x[linked.impulses[k]]),
            **({"impact_loss": json.dumps(losses)} if losses else {}),
            **find_cone_excess(solved)[k],
            "stationarity": describe_stationarity(x, settings, solution),
            **({} if excess is None else excess.attrs),
            "error_unknown": "not asked for",
            **({"switching_limits": ", ".join(limits)} if limits else {}),
            "stop_reason": violated
            or ("" if excess is None else excess.fault)
            or (solution.ok and describe_slide(own, part.x))
            or (solution.ok and own.describe_open_loop(x.trajectory(part.x)[1]))
            or (motion.unresolved if solution.ok else ""),
        },
    )
    return set_contact_modes(result, own.contacts)


def _simulate(solved: SolvedPhases, k: int, result: Result) -> Result:
    """Return the result of a phase with its simulation, contacts as the user stated them."""
    stated, motion = solved.linked.phases[k].phase, solved.motion(k)
    d, p = stated.dynamics, stated.dynamics.values(stated.parameters)
    return add_simulation(result, d, stated.inputs, motion, p, None)


def _measure_violation(linked: LinkedPhases, k: int, solution: Solution) -> float:
    """Return the largest violation of the rows of phase k."""
    rows = solution.residuals.rows[linked.rows[k]]
    return float(linked.phases[k].nlp.violations(rows).max(initial=0.0))


def _describe_broken_link(linked: LinkedPhases, solution: Solution) -> list[str]:
    """Return in words which row between phases is violated most; no text if all are met."""
    if solution.ok:
        return []
    nlp, first = linked.nlp, linked.rows[-1].stop  # rows between phases come last
    off = nlp.violations(solution.residuals.rows)[first:]
    if not off.size or off.max() <= SAME_POSTURE:
        return []
    k = int(np.argmax(off))
    return [f"{nlp.label(first + k)[0]} is off by {off[k]:.3g}"]


def record_modes(phase: PhaseProgram, x: Array, impulses: Array) -> dict[str, Any]:
    """Return the attributes ``modes``, ``modes_gap``, ``modes_slip`` and ``impact`` of a phase.

    The modes of its contacts; the largest gap [m] of closed ones and slip [m/s] of those that
    stick, both errors; the impulses at its start [N s]. ``x`` are its unknowns (n,); ``impulses``
    (k,) are those of `PhaseProgram.contacts_with_impulse` in turn, none without an impact.
    """
    if not phase.contacts:
        return {}
    attrs: dict[str, Any] = {"modes": json.dumps({y.name: repr(y.mode) for y in phase.contacts})}
    errors, (_, fine) = [], phase.transcription.trajectory(x)
    for contact in phase.closed_contacts.values():
        gap, _, slip, *_ = contact.measure(fine, phase.p)
        largest = (np.abs(gap).max(initial=0.0), np.abs(slip).max(initial=0.0))
        errors.append((largest[0], largest[1] if contact.mode.sticks else 0.0))
    if errors:
        attrs["modes_gap"], attrs["modes_slip"] = (float(y) for y in np.max(errors, axis=0))
    if impulses.size:
        parts = phase.divide_impulses(impulses)
        attrs["impact"] = json.dumps({y.name: part.tolist() for y, part in parts})
    return attrs


def set_contact_modes(result: Result, contacts: Sequence[ContactInMode]) -> Result:
    """Return a result with ``contact_mode`` from given modes: closed gaps have small errors."""
    data = result.data.copy()
    closed = {x.name: x.mode.closed for x in contacts}
    for k, gap in enumerate(data["contact"].values):
        name = str(gap)
        is_closed = closed.get(name, closed.get(joint_of(name)))
        if is_closed is not None:
            data["contact_mode"].values[1:, k] = LASTING if is_closed else FREE
    return Result(data)


def describe_slide(phase: PhaseProgram, x: Array) -> str:
    """Return in words which contact slides though it is to stick; empty if none does.

    If the postures at both ends are given, no row keeps it in its place in the last step, see
    `ContactInMode`.
    """
    fine = phase.transcription.trajectory(x)[1]
    t = np.linspace(0, fine.duration, len(fine.q))  # of nodes and midpoints
    h = np.diff(t)[::2] * 2  # of steps, twice as long as from node to midpoint
    for name, contact in phase.closed_contacts.items():
        if not contact.mode.sticks:
            continue
        slip = contact.measure(fine, phase.p)[SLIP]
        # By Simpson's rule, (tangents, steps) [m].
        slides = h * (slip[:, :-2:2] + 4 * slip[:, 1::2] + slip[:, 2::2]) / 6
        slide = float(np.linalg.norm(slides.sum(axis=1)))
        k = int(np.abs(slides).max(axis=0).argmax())
        if slide > MOST_SLIDE:
            return (
                f"contact {name!r} is to stick, but slides by {slide:.3g} m, most of it in step "
                f"{k + 1}, to t = {t[2 * k + 2]:.4g} s: the postures at the start and end of the "
                "phase put it elsewhere; change one, or its mode"
            )
    return ""
