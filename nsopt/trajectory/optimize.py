"""The best motion of a mechanism: `optimize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.trajectory.collocation import Collocation
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimum import Optimum, record
from nsopt.trajectory.parts import Array, Stack


@dataclass(frozen=True)
class HorizonSolver:
    """IPOPT for programs over a horizon, with exact second derivatives.

    Parameters
    ----------
    tolerance : float
        Of optimality and constraints.
    feasibility : float
        Largest violation of a row with which a motion counts as a solution, whatever IPOPT says.
    deviation : float [rad or m]
        By how much a step integrated afresh under the same forces may end beside the next node.
    max_iter : int
    """

    tolerance: float = 1e-8
    feasibility: float = 1e-6
    deviation: float = 1e-3
    max_iter: int = 500

    def build(self, stack: Stack) -> ca.Function:
        """Return the solver of a program."""
        options: dict[str, Any] = {
            "print_time": False,
            "error_on_fail": False,
            "show_eval_warnings": False,
            "ipopt.print_level": 0,
            "ipopt.sb": "yes",
            "ipopt.tol": self.tolerance,
            "ipopt.constr_viol_tol": self.tolerance,
            "ipopt.max_iter": self.max_iter,
            "ipopt.honor_original_bounds": "yes",
            **stack.derivatives(),
        }
        program: dict[str, Any] = {"x": stack.x, "p": stack.p, "f": stack.f, "g": stack.g}
        return ca.nlpsol("horizon", "ipopt", program, options)


def optimize(
    dynamics: Dynamics,
    horizon: Horizon,
    costs: Sequence[Cost],
    conditions: Sequence[Condition],
    guess: Guess,
    *,
    inputs: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None,
    solver: HorizonSolver | None = None,
    title: str = "optimum",
) -> Result:
    """Return the motion of least cost that keeps all conditions.

    Parameters
    ----------
    dynamics : Dynamics
        In coordinates that are angles and lengths, without contacts. Joints with an `Actuator` are
        driven by whatever force the motion takes; nothing drives the others.
    horizon : Horizon
        Duration, given or free within bounds, and number of steps.
    costs : sequence of Cost
        Their weighted sum is least.
    conditions : sequence of Condition
    guess : Guess
        Where to start from.
    inputs : sequence of str
        Parameters of the mechanism that are chosen anew at every moment.
    parameters : mapping of name to float, optional
        Values of the others.
    solver : HorizonSolver, optional
    title : str

    Returns
    -------
    Result
        With ``drive`` (time, v) [N m, N], ``acceleration``, ``input``; in ``attrs`` the
        ``objective``, ``detailed_cost`` (the share of each cost, JSON; ``guess_cost`` is that of
        the guess), ``status`` and
        ``deviation``, by how much a step integrated afresh under the same forces ends beside its
        node at most. If no
        solution was found ``completed`` is False, ``stop_reason`` says what is violated most and
        where, and the motion is the last one tried.

    Raises
    ------
    ValueError
        Before anything is solved: a mechanism, cost, condition or guess that does not fit.
    """
    begin, solver = perf_counter(), solver or HorizonSolver()
    if not costs:
        raise ValueError("an optimum needs a cost: give Effort(), Duration(), ...")
    for cost in costs:
        cost.check(dynamics)
    for condition in conditions:
        condition.check(dynamics)
    p = dynamics.values(parameters)
    collocation = Collocation(dynamics, horizon, tuple(costs), tuple(conditions), tuple(inputs))
    stack = collocation.stack()
    start, solve = collocation.start_from(guess), solver.build(stack)
    built = perf_counter() - begin
    low, high = (np.full(collocation.size, x) for x in (-np.inf, np.inf))
    low[-1], high[-1] = horizon.bounds
    bounds = {"lbx": low, "ubx": high, "lbg": stack.lower, "ubg": stack.upper}
    found = solve(x0=start, p=p, **bounds)
    x, g = (np.asarray(found[name]).ravel() for name in ("x", "g"))
    stats = solve.stats()
    outcome = Optimum(
        x=x,
        objective=float(found["f"]),
        shares=_shares(costs, np.asarray(stack.terms(x, p)).ravel()),
        at_guess=_shares(costs, np.asarray(stack.terms(start, p)).ravel()),
        word=str(stats["return_status"]),
        fault=_fault(stack, g, solver.feasibility, bool(stats["success"]), stats),
        iterations=int(stats["iter_count"]),
        built=built,
        seconds=perf_counter() - begin - built,
        violation=_violation(stack, g).max(initial=0.0),
    )
    return record(collocation, p, outcome, title, repr(solver), solver.deviation)


def _shares(costs: Sequence[Cost], terms: Array) -> dict[str, float]:
    """Return the part of each cost in the objective, numbered where one occurs twice."""
    found: dict[str, float] = {}
    for cost, value in zip(costs, terms, strict=True):
        name = type(cost).__name__
        count = sum(key.split(" ")[0] == name for key in found)
        found[f"{name} {count + 1}" if count else name] = float(value)
    return found


def _violation(stack: Stack, g: Array) -> Array:
    worst: Array = np.maximum(np.maximum(stack.lower - g, g - stack.upper), 0)
    return np.where(np.isfinite(g), worst, np.inf)


def _fault(stack: Stack, g: Array, limit: float, solved: bool, stats: Mapping[str, object]) -> str:
    """Return why a motion is no solution; nothing where it is one."""
    worst = _violation(stack, g)
    k = int(np.argmax(worst)) if worst.size else 0
    if worst.size and worst[k] > limit:
        label, place = stack.label(k)
        return (
            f"{label} is off by {worst[k]:.3g} at step {place}, the most of all conditions, after "
            f"{stats['iter_count']} iterations ({stats['return_status']}): check that it can be "
            "met together with the others, allow more time, or start from a better guess"
        )
    if not solved:
        return (
            f"all conditions are met, but the cost may not be least: {stats['return_status']} "
            f"after {stats['iter_count']} iterations; allow more, or scale the costs to about one"
        )
    return ""
