"""What a solve found, as attributes of its result: costs, kind of point, fault, a simulation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Kind, Point, Settings, Solution, StructuredNlp, Tolerances
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.diagnosis import (
    Ending,
    LeastViolation,
    Statement,
    explain,
    least_violation,
    scaling,
)
from nsopt.trajectory.smoothing.dry_friction import compute_exact_costs, record_friction
from nsopt.trajectory.smoothing.small_costs import record_bend
from nsopt.trajectory.transcription.base import TranscribedMotion, Transcription
from nsopt.trajectory.transcription.kinds import is_relaxed_in_space
from nsopt.trajectory.verification.resimulation import resimulate


def mark_stopped(result: Result, why: str) -> Result:
    """Return a result as one that was interrupted; its own stop reason follows ``why``."""
    own = result.stop_reason or "this motion is a solution"
    return Result(result.data.assign_attrs(completed=0, interrupted=1, stop_reason=f"{why}; {own}"))


def add_simulation(
    result: Result,
    dynamics: Dynamics,
    inputs: Sequence[str],
    motion: TranscribedMotion,
    p: Array,
    scheme: Scheme | None,
) -> Result:
    """Return a result with its simulation; arguments as of `resimulate`."""
    q, attrs = resimulate(dynamics, motion, inputs, p, scheme)
    described = {"units": "m, 1", "long_name": "simulated again"}
    data = result.data.assign(resimulated=(("time", "q"), q, described))
    return Result(data.assign_attrs(attrs))


def record_costs(
    transcription: Transcription,
    nlp: StructuredNlp,
    costs: Sequence[Cost],
    solution: Solution,
    start: Point,
    p: Array,
) -> dict[str, Any]:
    """Return the attributes that tell the costs of a solution and of its guess, ``start``.

    With smoothed and with exact friction; of a guess only if it has forces. ``costs`` are those
    that the user stated, without small ones beside them.
    """
    parameters = transcription.parameters(p)
    parts = name_costs(costs, nlp.terms(solution.x, parameters))
    kind = solution.stationarity.kind.name if solution.stationarity else ""
    guess: dict[str, float] = {}
    if transcription.by_polynomials:  # a guess has forces
        guess = name_costs(costs, nlp.terms(start.x, parameters))
    g = np.asarray(nlp.rows(start.x, parameters)).ravel()
    both = {"exact_cost": (solution.x, parts), "guess_exact_cost": (start.x, guess)}
    exact = {
        name: compute_exact_costs(transcription, nlp, x, p, costs)
        for name, (x, costs) in both.items()
    }
    return {
        "objective": sum(parts.values()),
        "detailed_cost": json.dumps(parts),
        "stationarity_kind": kind,
        "guess_cost": json.dumps(guess),
        "guess_violation": float(nlp.violations(g).max(initial=0.0)),
        **record_friction(transcription),
        **record_bend(transcription),
        **{name: json.dumps(costs) for name, costs in exact.items() if costs},
    }


def name_costs(costs: Sequence[Cost], terms: ca.DM) -> dict[str, float]:
    """Return the value of each cost by its class, if need be with its strings and a number.

    ``terms`` may be more than the costs: small costs come last.
    """
    kinds = [type(cost).__name__ for cost in costs]
    found: dict[str, float] = {}
    values = np.asarray(terms).ravel()[: len(kinds)]
    for cost, kind, value in zip(costs, kinds, values, strict=True):
        strings = [x for x in vars(cost).values() if isinstance(x, str)]  # such as its joint
        name = kind if kinds.count(kind) == 1 else " ".join([kind, *strings])
        count = sum(key == name or key.startswith(f"{name} #") for key in found)
        found[f"{name} #{count + 1}" if count else name] = float(value)
    return found


def explain_fault(
    transcription: Transcription,
    nlp: StructuredNlp,
    solution: Solution,
    motion: TranscribedMotion,
    p: Array,
    limits: Tolerances,
    least: LeastViolation | None = None,
) -> str:
    """Return why a motion is no solution; empty if it is one.

    ``least`` is the least violation nearby, if it is known, as of a phase from all of them.
    """
    if solution.ok:
        return ""
    if solution.interrupted or (solution.feasible and solution.stationarity is not None):
        return solution.status.reason
    x, parameters = transcription, transcription.parameters(p)
    if least is None:
        least = least_violation(nlp, solution.x, parameters, x.limits(), x.durations.tolist())
    ending = Ending(
        Statement(x.dynamics, x.conditions, x.inputs, p),
        x.horizon,
        motion.t,
        motion.nodes,
        solution.status.solver_status,
        solution.iterations,
        x.remedy,
        least,
    )
    parts = name_costs(x.costs, nlp.terms(solution.x, parameters))
    undefined = [f"{name} is {value:g}" for name, value in parts.items() if not np.isfinite(value)]
    if undefined:
        return f"the cost {', '.join(undefined)} at the last motion: start where it is a number"
    if solution.residuals.largest > 1 and solution.worst().kind is Kind.BOUNDS:
        return f"{solution.status.reason}; {solution.status.remedy}"
    sizes = scaling(nlp, solution.x, parameters, x.names(), list(parts))
    return explain(nlp, solution.residuals.rows, ending, limits.rows, sizes)


def describe_stationarity(
    transcription: Transcription, settings: Settings, solution: Solution
) -> str:
    """Return in one line what kind of stationary point a motion is; empty if it is no solution."""
    found = solution.stationarity
    if found is not None:
        if solution.ok:
            pairs = f", {found.biactive} pairs with both halves zero" if found.biactive else ""
            return f"B-stationary: no direction lowers the cost to first order{pairs}"
        return solution.status.reason
    if not solution.ok:
        return ""
    if transcription.friction_modes is not None:
        return "stationary while joints rest and slide when they do (friction_modes)"
    if not transcription.is_complementary:
        return "stationary: no direction lowers the cost to first order"
    if is_relaxed_in_space(transcription):
        return "not found out: friction in space is relaxed"
    if not settings.relaxation.states_halves:
        name = type(settings.relaxation).__name__
        return (
            f"not found out: contacts are equations by {name}; go on by Scholtes from this motion"
        )
    return "not found out: phase II is off"
