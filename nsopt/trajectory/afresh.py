"""Steps of an optimum integrated afresh, by an integrator that knows nothing of the program."""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

from nsopt.mechanics import Dynamics
from nsopt.trajectory.guesses import Course
from nsopt.trajectory.moment import Moment
from nsopt.trajectory.parts import Array
from nsopt.trajectory.transcription import Transcription


def drives(transcription: Transcription, fine: Course, p: Array) -> tuple[Array, Array]:
    """Return forces of the drives (n, nv) at all moments of a course, and power from outside (n,).

    The power [W] is that of drives, inputs and applied loads.
    """
    d = transcription.dynamics
    t, q, v, a, u, numbers = _symbols(d, len(transcription.inputs))
    m = Moment(d, t, q, v, a, transcription.given(numbers, u))
    power = ca.dot(m.drive + d.external(t, q, v, m.p), v)
    function = ca.Function("drive", [t, q, v, a, u, numbers], [m.drive, power], {"cse": True})
    n = len(fine.q)
    times = np.linspace(0, fine.duration, n)
    rows = (x.T for x in (fine.q, fine.v, fine.a, fine.inputs))
    found = function.map(n)(times, *rows, np.tile(p[:, None], n))
    forces, powers = (np.asarray(x).T for x in found)
    return forces.reshape(n, d.nv), powers.ravel()


def deviation(transcription: Transcription, fine: Course, drive: Array, p: Array) -> float:
    """Return by how much a step, integrated afresh under the same forces, ends beside its node.

    The largest of all steps, each from its own node: an arm that would fall over is no less right
    for that. Forces are interpolated as accelerations are.

    Parameters
    ----------
    fine : Course
        At nodes and middles.
    drive : (2 n + 1, nv)
    """
    n, change = transcription.dynamics.nv, _change(transcription)
    steps = transcription.horizon.steps
    h, worst = fine.duration / steps, 0.0
    for k in range(steps):
        rows = slice(2 * k, 2 * k + 3)
        forces, inputs = drive[rows], fine.inputs[rows]

        def rate(
            s: float, y: Array, k: int = k, forces: Array = forces, inputs: Array = inputs
        ) -> Array:
            tau, u = quadratic(forces, s), quadratic(inputs, s)
            return h * np.asarray(change((k + s) * h, y[:n], y[n:], tau, u, p)).ravel()

        begin = np.concatenate([fine.q[2 * k], fine.v[2 * k]])
        found = solve_ivp(rate, (0, 1), begin, method="LSODA", rtol=1e-8, atol=1e-10)
        worst = max(worst, float(np.max(np.abs(found.y[:n, -1] - fine.q[2 * k + 2]))))
    return worst


def strayed(deviation: float, limit: float) -> str:
    """Return why a motion that keeps all conditions at its nodes is none; nothing if it is one."""
    if not deviation > limit:  # not a number where no step was integrated
        return ""
    return (
        "all conditions are met at the nodes, but integrated afresh under the same forces a step "
        f"ends {deviation:.3g} (m, rad) beside the next node, more than {limit:g}: give it more "
        "steps, or a cost on its inputs or accelerations"
    )


def _symbols(d: Dynamics, inputs: int) -> tuple[ca.SX, ...]:
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "a": d.nv, "u": inputs, "p": len(d.parameters)}
    return tuple(ca.SX.sym(name, n) for name, n in sizes.items())


def _change(transcription: Transcription) -> ca.Function:
    """Return (t, q, v, forces, inputs, p) -> (v, acceleration)."""
    d = transcription.dynamics
    t, q, v, tau, u, p = _symbols(d, len(transcription.inputs))
    given = transcription.given(p, u)
    still = Moment(d, t, q, v, ca.SX.zeros(d.nv), given)
    known = [t, q, v, tau, u, p]
    parts = ca.Function("parts", known, [still.drive, d.mass(q, given)], {"cse": True})
    symbols = [ca.MX.sym("x", x.numel()) for x in known]
    drive, M = parts(*symbols)
    change = ca.solve(M, symbols[3] - drive)
    return ca.Function("motion", symbols, [ca.vertcat(symbols[2], change)])


def quadratic(values: Array, s: float) -> Array:
    """Return what passes through three values at 0, 1/2, 1, at s."""
    a, b, c = values
    found: Array = a * (2 * s - 1) * (s - 1) + 4 * b * s * (1 - s) + c * s * (2 * s - 1)
    return found
