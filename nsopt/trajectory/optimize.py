"""The best motion of a mechanism: `optimize`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.stepping import Scheme, Variational
from nsopt.trajectory.afresh import strayed
from nsopt.trajectory.collocation import Collocation, no_accelerations
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost, spread
from nsopt.trajectory.diagnosis.arguments import check_arguments
from nsopt.trajectory.diagnosis.failure import Ending, explain
from nsopt.trajectory.diagnosis.feasibility import check_feasible
from nsopt.trajectory.diagnosis.scaling import scaling
from nsopt.trajectory.diagnosis.statement import Statement
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.homotopy import Stage
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimum import record
from nsopt.trajectory.parts import Array, Stack
from nsopt.trajectory.resimulation import resimulate
from nsopt.trajectory.solver import HorizonSolver, Point
from nsopt.trajectory.stepped import Stepped
from nsopt.trajectory.transcription import Motion, Outcome, Transcription

FINER = 4
"""Steps of the simulation that verifies an optimum, for each of its own."""


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
    solver: HorizonSolver | None = None,
    verify: bool = False,
    title: str = "optimum",
) -> Result:
    """Return the motion of least cost that keeps all conditions.

    Parameters
    ----------
    dynamics : Dynamics
        Joints with an `Actuator` are driven by whatever force the motion takes; nothing drives the
        others.
    horizon : Horizon
        Duration, given or free within bounds, and number of steps.
    costs : sequence of Cost
        Their weighted sum is least.
    conditions : sequence of Condition
    guess : Guess
        Where to start from. `Earlier` with the same grid starts from its multipliers too.
    inputs : sequence of str
        Parameters of the mechanism that are chosen anew at every moment.
    parameters : mapping of name to float, optional
        Values of the others.
    scheme : Scheme, optional
        The step equations that the motion keeps: contacts, clearances, loops, free bodies. By
        default `Variational` where the mechanism has any of these, else polynomials between nodes
        whose forces follow from inverse dynamics, which is more exact and faster.
    solver : HorizonSolver, optional
    verify : bool
        Whether to simulate the optimum from its start in steps four times as short, under its
        inputs and drives alone: ``resimulated`` (time, q) and in ``attrs``
        ``resimulated_deviation`` [m, rad], its largest distance from the optimum, and
        ``resimulated_until`` [s].
    title : str

    Returns
    -------
    Result
        With ``objective``, ``status``, ``detailed_cost`` (the share of each cost) and
        ``guess_cost`` (that of the guess, where it has forces), ``drive`` (time, v) [N m, N],
        ``acceleration``, ``input``; ``deviation`` in ``attrs`` is by how much a step integrated
        afresh under the same forces ends beside its node at most (not a number for motions in the
        steps of a scheme, for which there is ``verify``). If no solution was found ``completed`` is
        False, ``stop_reason`` says what is violated and where, and the motion is the last one
        tried.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        Before anything is solved: a mechanism, cost, condition or guess that does not fit, or
        conditions that cannot be met together.
    """
    begin, solver = perf_counter(), solver or HorizonSolver()
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
    costs = spread(costs)
    p = dynamics.values(parameters)
    transcription = transcribed(
        dynamics, horizon, costs, conditions, inputs=inputs, p=p, scheme=scheme
    )
    check_feasible(dynamics, horizon, conditions, inputs, p)
    stack = transcription.stack()
    start = starting_point(transcription, stack, guess)
    compiled = solver.build(stack, transcription.unilateral)
    built = perf_counter() - begin
    outcome = solver.solve(transcription, stack, compiled, p, start)
    motion = transcription.motion(outcome, p)
    numbers = transcription.numbers(p, Stage(1e-8))
    fault = _fault(transcription, stack, outcome, motion, p, solver)
    attrs = {
        "title": title,
        "solver": repr(solver),
        "compile_time": built,
        "detailed_cost": json.dumps(_shares(costs, stack.terms(outcome.x, numbers))),
        **_of_guess(transcription, stack, start, numbers),
        "stop_reason": fault or strayed(motion.deviation, solver.deviation),
    }
    result = record(transcription, outcome, motion, p, attrs)
    return verified(result, transcription, motion, p, scheme) if verify else result


def verified(
    result: Result,
    transcription: Transcription,
    motion: Motion,
    p: Array,
    scheme: Scheme | None,
) -> Result:
    """Return a result with its simulation."""
    d = transcription.dynamics
    stepper = Variational() if scheme is None or scheme.chooses_h else scheme
    found = resimulate(d, motion, transcription.inputs, p, stepper, FINER)
    data = result.data.assign(
        resimulated=(("time", "q"), found.q, {"units": "m, 1", "long_name": "simulated afresh"})
    )
    data.attrs |= {
        "resimulated_deviation": found.deviation,
        "resimulated_until": found.until,
        "resimulated_seconds": found.seconds,
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
) -> Transcription:
    """Return the program of a motion, arguments as for `optimize`."""
    stated = (dynamics, horizon, tuple(costs), tuple(conditions), tuple(inputs))
    if scheme is None and not no_accelerations(dynamics):
        return Collocation(*stated)
    return Stepped(*stated, scheme or Variational(), p)


def starting_point(transcription: Transcription, stack: Stack, guess: Guess) -> Point:
    """Return where a solve starts.

    From a solution with the same unknowns at these, with its multipliers if rows are the same too.
    """
    if not (isinstance(guess, Earlier) and guess.result.completed):
        return Point(transcription.start_from(guess))
    data = guess.result.data
    same = data["input_name"].values.tolist() == list(transcription.inputs)
    same &= data.attrs["scheme_name"] == transcription.told[0]
    if not same or data.sizes["unknown_index"] != transcription.size:
        return Point(transcription.start_from(guess), settled=True)
    names = ("unknown", "bound_multiplier", "row_multiplier")
    x, lam_x, lam_g = (data[name].values for name in names)
    alike = len(lam_g) == len(stack.lower) and data.attrs["scheme"] == transcription.told[1]
    return Point(x, lam_x, lam_g) if alike else Point(x, settled=True)


def _of_guess(
    transcription: Transcription, stack: Stack, start: Point, numbers: Array
) -> dict[str, Any]:
    """Return what the guess costs, if it has forces, and by how much it breaks the conditions."""
    costs = transcription.costs if transcription.guesses_forces else ()
    g = np.asarray(stack.rows(start.x, numbers)).ravel()
    return {
        "guess_cost": json.dumps(_shares(costs, stack.terms(start.x, numbers)) if costs else {}),
        "guess_violation": float(stack.violations(g).max(initial=0.0)),
    }


def _shares(costs: Sequence[Cost], terms: ca.DM) -> dict[str, float]:
    """Return the part of each cost in the objective, told apart where one occurs twice."""
    kinds = [type(cost).__name__ for cost in costs]
    found: dict[str, float] = {}
    for cost, kind, value in zip(costs, kinds, np.asarray(terms).ravel(), strict=True):
        # Of an input or joint, which it names; what names none, or one again, is numbered.
        named = [kind, *(x for x in vars(cost).values() if isinstance(x, str))]
        name = kind if kinds.count(kind) == 1 else " ".join(named)
        count = sum(key == name or key.startswith(f"{name} #") for key in found)
        found[f"{name} #{count + 1}" if count else name] = float(value)
    return found


def _fault(
    transcription: Transcription,
    stack: Stack,
    outcome: Outcome,
    motion: Motion,
    p: Array,
    solver: HorizonSolver,
) -> str:
    """Return why a motion is no solution; nothing where it is one."""
    if outcome.success and outcome.violation <= solver.feasibility:
        return ""
    x = transcription
    ending = Ending(
        Statement(x.dynamics, x.conditions, x.inputs, p),
        x.horizon,
        motion.t,
        motion.nodes,
        outcome.success,
        outcome.word,
        outcome.iterations,
        x.remedy,
    )
    numbers = x.numbers(p, Stage(1e-8))
    shares = _shares(x.costs, stack.terms(outcome.x, numbers))
    lost = [f"{name} is {value:g}" for name, value in shares.items() if not np.isfinite(value)]
    if lost:
        return f"the cost {', '.join(lost)} at the last motion: start where it is a number"
    sizes = scaling(stack, outcome.x, numbers, x.names(), list(shares))
    return explain(stack, outcome.g, ending, solver.feasibility, sizes)
