"""What an optimization leaves behind, as a Result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

from nsopt.result import Result
from nsopt.stepping.history import History
from nsopt.stepping.initial import Start
from nsopt.stepping.taken import Taken, objects
from nsopt.trajectory.collocation import Collocation
from nsopt.trajectory.guesses import Course
from nsopt.trajectory.moment import Moment
from nsopt.trajectory.parts import Array


@dataclass(frozen=True, eq=False)
class Optimum:
    """How a program ended."""

    x: Array
    objective: float
    shares: dict[str, float]
    at_guess: dict[str, float]  # shares of the motion it started from
    word: str
    fault: str
    iterations: int
    built: float  # [s]
    seconds: float  # [s]
    violation: float


def record(
    collocation: Collocation, p: Array, outcome: Optimum, title: str, solver: str, limit: float
) -> Result:
    """Return the motion with its forces, costs and how it was found.

    ``limit`` is the largest deviation from a motion integrated afresh.
    """
    d = collocation.dynamics
    nodes, fine = collocation.course(outcome.x)
    n, h = len(nodes.q) - 1, nodes.duration / collocation.horizon.steps
    t: Array = h * np.arange(n + 1, dtype=float)
    drive = _drives(collocation, fine, p)
    deviation = _deviation(collocation, fine, drive, p)
    fault = outcome.fault or _strayed(deviation, limit)
    history = History(d, Start(nodes.q[0], nodes.v[0]), p)
    history.add(_taken(nodes, t, np.sum(drive * fine.v, axis=1), outcome))
    result = history.result(
        {
            "title": title,
            "scheme": "Hermite-Simpson, inverse dynamics",
            "scheme_name": "HermiteSimpson",
            "acceptance": "{}",
            "solver": solver,
            "solver_name": f"ipopt, {outcome.iterations} iterations",
            "step_control": "",
            "h_min": h,
            "h_max": h,
            "duration": nodes.duration,
            "completed": int(not fault),
            "stop_reason": fault,
            "steps_below_h_min": 0,
            "compile_time": outcome.built,
            "checkpoint": "",
            "objective": outcome.objective,
            "detailed_cost": json.dumps(outcome.shares),
            "guess_cost": json.dumps(outcome.at_guess),
            "status": outcome.word,
            "violation": outcome.violation,
            "deviation": deviation,
        }
    )
    more: dict[str, tuple[tuple[str, str], Array, dict[str, Any]]] = {
        "acceleration": (("time", "v"), nodes.a, {"units": "rad/s^2, m/s^2"}),
        "drive": (("time", "v"), drive[::2], {"units": "N m, N"}),
        "input": (("time", "input_name"), nodes.inputs, {"units": ""}),
    }
    data = result.data.assign(more).assign_coords(input_name=list(collocation.inputs))
    return Result(data)


def _taken(course: Course, t: Array, power: Array, outcome: Optimum) -> Taken:
    """Return the nodes as steps; ``power`` [W] of the drives is that of nodes and middles."""
    n = len(t) - 1
    still = np.zeros((n, 0))
    seconds = np.full(n, outcome.seconds / n)
    return Taken(
        t=t[1:],
        h=np.diff(t),
        q=course.q[1:],
        v=course.v[1:],
        impulse=still,
        joint_impulse=still,
        slip_impulse=still,
        motion_residual=np.full(n, outcome.violation),
        loss=still,
        work=np.diff(t) / 6 * (power[:-2:2] + 4 * power[1::2] + power[2::2]),
        iterations=np.full(n, outcome.iterations / n),
        solve_time=seconds,
        retries=np.zeros(n),
        reason=objects(["optimum"] * n),
        tried=objects([()] * n),
        at_end=np.ones(n, dtype=bool),
    )


def _drives(collocation: Collocation, fine: Course, p: Array) -> Array:
    """Return the forces of the drives at nodes and middles, (2 n + 1, nv)."""
    d, n = collocation.dynamics, collocation.dynamics.nv
    t, x, parameters = ca.SX.sym("t"), ca.SX.sym("x", collocation.node), ca.SX.sym("p", len(p))
    m: Moment = collocation.moment(t, x, parameters)
    function = ca.Function("drive", [t, x, parameters], [m.drive], {"cse": True})
    times = np.linspace(0, fine.duration, len(fine.q))
    rows = np.hstack([fine.q, fine.v, fine.a, fine.inputs])
    found = np.asarray(function.map(len(rows))(times, rows.T, np.tile(p[:, None], len(rows))))
    return found.reshape(n, -1).T if d.nv else found.T


def _deviation(collocation: Collocation, fine: Course, drive: Array, p: Array) -> float:
    """Return by how much a step, integrated afresh under the same forces, ends beside its node.

    The largest of all steps, each from its own node: an arm that would fall over is no less right
    for that. Forces are interpolated as accelerations are.
    """
    n, change = collocation.dynamics.nv, _motion(collocation)
    steps, h = collocation.horizon.steps, fine.duration / collocation.horizon.steps
    worst = 0.0
    for k in range(steps):
        rows = slice(2 * k, 2 * k + 3)
        forces, inputs = drive[rows], fine.inputs[rows]

        def rate(
            s: float, y: Array, k: int = k, forces: Array = forces, inputs: Array = inputs
        ) -> Array:
            tau, u = _quadratic(forces, s), _quadratic(inputs, s)
            return h * np.asarray(change((k + s) * h, y[:n], y[n:], tau, u, p)).ravel()

        begin = np.concatenate([fine.q[2 * k], fine.v[2 * k]])
        found = solve_ivp(rate, (0, 1), begin, method="LSODA", rtol=1e-8, atol=1e-10)
        worst = max(worst, float(np.max(np.abs(found.y[:n, -1] - fine.q[2 * k + 2]))))
    return worst


def _motion(collocation: Collocation) -> ca.Function:
    """Return (t, q, v, forces, inputs, p) -> (v, acceleration)."""
    d, n = collocation.dynamics, collocation.dynamics.nv
    t, q, v, tau = ca.SX.sym("t"), ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("tau", n)
    u, p = ca.SX.sym("u", len(collocation.inputs)), ca.SX.sym("p", len(d.parameters))
    still = collocation.moment(t, ca.vertcat(q, v, ca.SX.zeros(n), u), p)
    known = [t, q, v, tau, u, p]
    parts = ca.Function("parts", known, [still.drive, d.mass(q, still.p)], {"cse": True})
    symbols = [ca.MX.sym(x.name() if x.numel() == 1 else "x", x.numel()) for x in known]
    drive, M = parts(*symbols)
    change = ca.solve(M, symbols[3] - drive)
    return ca.Function("motion", symbols, [ca.vertcat(symbols[2], change)])


def _strayed(deviation: float, limit: float) -> str:
    """Return why a motion that keeps all conditions at its nodes is none; nothing if it is one."""
    if deviation <= limit:
        return ""
    return (
        "all conditions are met at the nodes, but integrated afresh under the same forces a step "
        f"ends {deviation:.3g} (m, rad) beside the next node, more than {limit:g}: give it more "
        "steps, or a cost on its inputs or accelerations"
    )


def _quadratic(values: Array, s: float) -> Array:
    """Return what passes through three values at 0, 1/2, 1, at s."""
    a, b, c = values
    found: Array = a * (2 * s - 1) * (s - 1) + 4 * b * s * (1 - s) + c * s * (2 * s - 1)
    return found
