"""Optimal motions of a mechanism: `optimize`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np

from nsopt.interrupt import interruptible, uninterrupted
from nsopt.mechanics import Dynamics, redundancy_note
from nsopt.mpcc import (
    Kind,
    Point,
    Relaxation,
    Settings,
    Solution,
    Solver,
    StationarityKind,
    StructuredNlp,
    StructuredProgram,
    Tolerances,
)
from nsopt.result import Result
from nsopt.schemes import Scheme, Variational
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost, flattened
from nsopt.trajectory.diagnosis import (
    Ending,
    Statement,
    check_arguments,
    check_costs,
    check_feasible,
    dependence,
    explain,
    scaling,
)
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimality import smoothed, what_it_is
from nsopt.trajectory.optimum import record
from nsopt.trajectory.schedules import SETTINGS, WARM_START, horizon_settings
from nsopt.trajectory.tie_breaker import recorded, tie_breaker, with_tie_breaker
from nsopt.trajectory.transcription.base import Array, TranscribedMotion, Transcription
from nsopt.trajectory.transcription.collocation import Collocation, no_accelerations
from nsopt.trajectory.transcription.stepped import Stepped
from nsopt.trajectory.verification.reintegration import explain_defect
from nsopt.trajectory.verification.resimulation import resimulate

FINER = 4
"""Steps of the verifying simulation for each step of the optimum."""


def optimize(
    dynamics: Dynamics,
    horizon: Horizon,
    costs: Sequence[Cost],
    conditions: Sequence[Condition],
    guess: Guess,
    *,
    inputs: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None,
    scheme: Scheme | None = None,
    solver: Solver | None = None,
    verify: bool = False,
    title: str = "optimum",
    progress: bool = True,
) -> Result:
    """Return the motion of least cost that keeps all conditions.

    Parameters
    ----------
    dynamics : Dynamics
        Joints with an `Actuator` are driven by the force that the motion needs, the others by none.
    horizon : Horizon
        Duration, given or free within bounds, and number of steps.
    costs : sequence of Cost
        Their weighted sum is minimized.
    conditions : sequence of Condition
    guess : Guess
        The initial motion. `Earlier` with the same grid starts from its multipliers too.
    inputs : sequence of str
        Parameters of the mechanism that are chosen anew at every moment.
    parameters : mapping of name to float, optional
        Values of the others.
    scheme : Scheme, optional
        The equations of each step. By default `Variational` where the mechanism has contacts,
        clearances, loops or free bodies; else collocation: polynomials between nodes, forces by
        inverse dynamics, which is more exact and faster.
    solver : Solver, optional
        By default IPOPT, along the schedules `GRADUAL`, `DAMPED` and `WIDE` where there are
        contacts; `Sqp` along `FINE`.
    verify : bool
        Whether to simulate the optimum from its start in steps four times as short, under its
        inputs and drives alone: ``resimulated`` (time, q) and in ``attrs``
        ``resimulated_defect`` [m, rad], its largest distance from the optimum, and
        ``resimulated_until`` [s].
    title : str
    progress : bool
        Whether to say on standard error, before the solve, which rows of the ideal joints are
        redundant.

    Of coordinates that no cost depends on the smoothest motion is taken, by a little `Smoothness`
    that is no part of the objective; ``tie_breaker`` in ``attrs`` names them.

    Returns
    -------
    Result
        With ``objective``, ``status``, in ``attrs`` ``stationarity`` (in a line what kind of point
        it is, or why that is not found out), ``detailed_cost`` (the share of each cost) and
        ``guess_cost`` (that of the guess, where it has forces), ``drive`` (time, v) [N m, N],
        ``acceleration``, ``input``; ``defect`` in ``attrs`` is the largest distance by which a
        step, reintegrated under the same forces, misses its node [m, rad] (NaN with a ``scheme``,
        where ``verify`` checks the motion). If no solution was found ``completed`` is False,
        ``stop_reason`` says what is violated and where, and the motion is the last iterate; or that
        all conditions are kept, and some branch of the contacts has less cost. So it
        is after Ctrl-C or SIGTERM, ``stop_reason`` then beginning with "interrupted".

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        Before anything is solved: a mechanism, cost, condition or guess that does not fit,
        conditions that cannot be met together, or costs of which none depends on the motion.
    KeyboardInterrupt
        After Ctrl-C before the solver has begun, and in a process told to end by SIGTERM.
    """
    begin, solver = perf_counter(), solver or Solver()
    with interruptible():  # nothing is computed yet
        check_arguments(
            dynamics,
            horizon,
            costs,
            conditions,
            guess,
            inputs=inputs,
            parameters=parameters,
            scheme=scheme,
            solver=solver,
        )
        p = dynamics.values(parameters)
        costs = flattened(costs)
        transcription = transcribed(
            dynamics,
            horizon,
            costs,
            conditions,
            inputs=inputs,
            p=p,
            scheme=scheme,
            relaxation=horizon_settings(solver).relaxation,
        )
        check_feasible(dynamics, horizon, conditions, inputs, p)
        nlp = transcription.nlp()
        depends = dependence(nlp, len(costs))
        check_costs(costs, depends)
        tie = tie_breaker(transcription, nlp, depends, guess, p)
        if tie is not None:
            transcription = with_tie_breaker(transcription, tie)
            nlp = transcription.nlp()
        if progress:
            _tell_of_redundancy(dynamics, horizon, guess, inputs, p)
        start = starting_point(transcription, nlp, guess)
        settings = _settings(transcription, guess, start, solver)
        program = StructuredProgram(nlp, solver.backend, settings, solver.compiled)
        built = perf_counter() - begin
    with uninterrupted("stopping after this iteration; the best motion so far is kept"):
        solution = program.solve(p, *transcription.limits(), start)
        motion = transcription.motion(solution, p)
        numbers = transcription.parameters(p)
        fault = _fault(transcription, nlp, solution, motion, p, settings.tolerances)
        shares = _shares(costs, nlp.terms(solution.x, numbers))
        attrs = {
            "title": title,
            "solver": repr(solver),
            "compile_time": built,
            "objective": sum(shares.values()),
            "detailed_cost": json.dumps(shares),
            **recorded(tie),
            **_of_guess(transcription, costs, nlp, start, numbers),
            "stationarity_kind": solution.stationarity.kind.name if solution.stationarity else "",
            "stationarity": what_it_is(transcription, settings, solution),
            "stop_reason": fault or explain_defect(motion.defect, horizon.defect),
        }
        backend = type(solver.backend).__name__.lower()
        result = record(transcription, solution, motion, p, backend, attrs)
        if not verify or solution.interrupted:
            return result
        try:
            with interruptible():
                return verified(result, transcription, motion, p, scheme)
        except KeyboardInterrupt:
            return stopped(result, "interrupted while it was simulated again")


def _tell_of_redundancy(
    dynamics: Dynamics, horizon: Horizon, guess: Guess, inputs: Sequence[str], p: Array
) -> None:
    q = guess.trajectory(np.linspace(0, 1, 3), horizon.bounds, inputs).q[0]
    if note := redundancy_note(dynamics, 0.0, q, p):
        print(f"note: {note}", file=sys.stderr)


def stopped(result: Result, why: str) -> Result:
    """Return a result as one that was interrupted, with what its motion is."""
    motion = result.stop_reason or "this motion is a solution"
    return Result(result.data.assign_attrs(completed=0, stop_reason=f"{why}; {motion}"))


def verified(
    result: Result,
    transcription: Transcription,
    motion: TranscribedMotion,
    p: Array,
    scheme: Scheme | None,
) -> Result:
    """Return a result with its simulation."""
    d = transcription.dynamics
    stepper = Variational() if scheme is None or scheme.chooses_h else scheme
    simulated = resimulate(d, motion, transcription.inputs, p, stepper, FINER)
    data = result.data.assign(
        resimulated=(("time", "q"), simulated.q, {"units": "m, 1", "long_name": "simulated again"})
    )
    data.attrs |= {
        "resimulated_defect": simulated.defect,
        "resimulated_until": simulated.until,
        "resimulated_seconds": simulated.seconds,
    }
    return Result(data)


def transcribed(
    dynamics: Dynamics,
    horizon: Horizon,
    costs: Sequence[Cost],
    conditions: Sequence[Condition],
    *,
    inputs: Sequence[str],
    p: Array,
    scheme: Scheme | None,
    relaxation: Relaxation = SETTINGS.relaxation,
) -> Transcription:
    """Return the program of a motion, arguments as for `optimize`."""
    stated = (dynamics, horizon, tuple(costs), tuple(conditions), tuple(inputs))
    if scheme is None and not no_accelerations(dynamics):
        return Collocation(*stated)
    return Stepped(*stated, scheme or Variational(), p, relaxation)


def starting_point(transcription: Transcription, nlp: StructuredNlp, guess: Guess) -> Point:
    """Return the starting point of a solve.

    If the guess is a solution with the same unknowns, these are taken, and its multipliers if the
    rows are the same too.
    """
    x = transcription.start_from(guess)
    cold = Point.cold(x, len(nlp.lower))
    if not (isinstance(guess, Earlier) and guess.result.completed):
        return cold
    data = guess.result.data
    same_unknowns = data["input_name"].values.tolist() == list(transcription.inputs)
    same_unknowns &= data.attrs["scheme_name"] == transcription.description[0]
    if not same_unknowns or data.sizes["unknown_index"] != transcription.size:
        return cold
    names = ("unknown", "bound_multiplier", "row_multiplier")
    x, lam_x, lam_g = (data[name].values for name in names)
    same_rows = len(lam_g) == len(nlp.lower)
    same_rows &= data.attrs["scheme"] == transcription.description[1]
    # Where there are no multipliers of the signs of limits, those of a branch lead astray.
    same_rows &= data.attrs.get("stationarity_kind") != StationarityKind.B.name
    same_rows &= bool(np.isfinite(lam_g).all())
    return Point(x, lam_x, lam_g) if same_rows else Point.cold(x, len(nlp.lower))


def _settings(transcription: Transcription, guess: Guess, start: Point, solver: Solver) -> Settings:
    """Return the settings of a solve, with the schedules that suit the motion and its start."""
    settings = horizon_settings(solver)
    last = transcription.last_stage
    if not transcription.unilateral:
        return replace(settings, schedules=((last,),), active_set=None)
    if smoothed(transcription) or not settings.relaxation.states_halves:
        settings = replace(settings, active_set=None)
    # Homotopy parameters that a stage leaves out keep their final values.
    schedules = [
        tuple((*stage, *last[len(stage) :]) for stage in stages) for stages in settings.schedules
    ]
    if isinstance(guess, Earlier) and guess.result.completed and not start.warm:
        schedules.insert(0, WARM_START)
    return replace(settings, schedules=tuple(schedules))


def _of_guess(
    transcription: Transcription,
    costs: Sequence[Cost],
    nlp: StructuredNlp,
    start: Point,
    numbers: Array,
) -> dict[str, Any]:
    """Return cost (if the guess determines forces) and constraint violation of the guess."""
    costs = costs if transcription.guesses_forces else ()
    g = np.asarray(nlp.rows(start.x, numbers)).ravel()
    return {
        "guess_cost": json.dumps(_shares(costs, nlp.terms(start.x, numbers)) if costs else {}),
        "guess_violation": float(nlp.violations(g).max(initial=0.0)),
    }


def _shares(costs: Sequence[Cost], terms: ca.DM) -> dict[str, float]:
    """Return the part of each cost in the objective; equal names are numbered."""
    kinds = [type(cost).__name__ for cost in costs]
    shares: dict[str, float] = {}
    values = np.asarray(terms).ravel()[: len(kinds)]  # without a tie-breaker
    for cost, kind, value in zip(costs, kinds, values, strict=True):
        # A cost is named with its input or joint; equal names are numbered.
        named = [kind, *(x for x in vars(cost).values() if isinstance(x, str))]
        name = kind if kinds.count(kind) == 1 else " ".join(named)
        count = sum(key == name or key.startswith(f"{name} #") for key in shares)
        shares[f"{name} #{count + 1}" if count else name] = float(value)
    return shares


def _fault(
    transcription: Transcription,
    nlp: StructuredNlp,
    solution: Solution,
    motion: TranscribedMotion,
    p: Array,
    limits: Tolerances,
) -> str:
    """Return why a motion is no solution; nothing where it is one."""
    if solution.ok:
        return ""
    if solution.interrupted or (solution.feasible and solution.stationarity is not None):
        return solution.status.reason
    x = transcription
    ending = Ending(
        Statement(x.dynamics, x.conditions, x.inputs, p),
        x.horizon,
        motion.t,
        motion.nodes,
        solution.status.solver_status,
        solution.iterations,
        x.remedy,
    )
    numbers = x.parameters(p)
    shares = _shares(x.costs, nlp.terms(solution.x, numbers))
    undefined = [f"{name} is {value:g}" for name, value in shares.items() if not np.isfinite(value)]
    if undefined:
        return f"the cost {', '.join(undefined)} at the last motion: start where it is a number"
    if solution.residuals.largest > 1 and solution.worst().kind is Kind.BOUNDS:
        return f"{solution.status.reason}; {solution.status.remedy}"
    sizes = scaling(nlp, solution.x, numbers, x.names(), list(shares))
    limit = min(limits.equality, limits.inequality)
    return explain(nlp, solution.residuals.rows, ending, limit, sizes)
