"""What an optimization leaves behind, as a Result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

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
    history.add(_taken(nodes, t, drive[::2], outcome))
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


def _taken(course: Course, t: Array, drive: Array, outcome: Optimum) -> Taken:
    """Return the nodes as steps."""
    n = len(t) - 1
    power = np.sum(drive * course.v, axis=1)
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
        work=np.diff(t) * (power[1:] + power[:-1]) / 2,
        iterations=np.full(n, float(outcome.iterations)),
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
    """Return how far the motion ends from one integrated under the same forces and inputs.

    Runge-Kutta of fourth order in four parts of each step, forces interpolated as the motion is.
    """
    d, n = collocation.dynamics, collocation.dynamics.nv
    q, v, tau = ca.MX.sym("q", n), ca.MX.sym("v", n), ca.MX.sym("tau", n)
    t, u = ca.MX.sym("t"), ca.MX.sym("u", len(collocation.inputs))
    parameters = ca.MX.sym("p", len(p))
    x = ca.vertcat(q, v, ca.MX.zeros(n), u)
    ts, xs, ps = ca.SX.sym("t"), ca.SX.sym("x", collocation.node), ca.SX.sym("p", len(p))
    still = ca.Function("still", [ts, xs, ps], [collocation.moment(ts, xs, ps).drive])
    change = ca.solve(d.mass(q, parameters), tau - still(t, x, parameters))
    function = ca.Function("change", [t, q, v, tau, u, parameters], [ca.vertcat(v, change)])
    steps, h = collocation.horizon.steps, fine.duration / collocation.horizon.steps
    state = np.concatenate([fine.q[0], fine.v[0]])
    for k in range(steps):
        rows = slice(2 * k, 2 * k + 3)

        def rate(s: float, y: Array, rows: slice = rows, k: int = k) -> Array:
            force, inputs = (_quadratic(z[rows], s) for z in (drive, fine.inputs))
            return np.asarray(function((k + s) * h, y[:n], y[n:], force, inputs, p)).ravel()

        for i in range(PARTS):
            s, part = i / PARTS, 1 / PARTS
            one = rate(s, state)
            two = rate(s + part / 2, state + h * part / 2 * one)
            three = rate(s + part / 2, state + h * part / 2 * two)
            four = rate(s + part, state + h * part * three)
            state = state + h * part / 6 * (one + 2 * two + 2 * three + four)
    return float(np.max(np.abs(state[:n] - fine.q[-1]), initial=0.0))


def _strayed(deviation: float, limit: float) -> str:
    """Return why a motion that keeps all conditions at its nodes is none; nothing if it is one."""
    if deviation <= limit:
        return ""
    return (
        f"all conditions are met at the nodes, but under the same forces the motion ends "
        f"{deviation:.3g} (m, rad) away, more than {limit:g}: give it more steps, or a cost on its "
        "inputs or accelerations"
    )


PARTS = 2
"""Of each step, by which a motion is integrated afresh."""


def _quadratic(values: Array, s: float) -> Array:
    """Return what passes through three values at 0, 1/2, 1, at s."""
    a, b, c = values
    found: Array = a * (2 * s - 1) * (s - 1) + 4 * b * s * (1 - s) + c * s * (2 * s - 1)
    return found
