"""Reintegration of the steps of an optimum by an independent integrator."""

from __future__ import annotations

import casadi as ca
import numpy as np
import scipy

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Evaluator
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.transcription.base import Array, Transcription


def driving_forces(transcription: Transcription, fine: Trajectory, p: Array) -> tuple[Array, Array]:
    """Return actuator forces (n, nv) at the times of a motion, and the external power (n,) [W].

    The power is that of actuators, inputs and applied loads.
    """
    d = transcription.dynamics
    t, q, v, a, u, numbers = _symbols(d, len(transcription.inputs))
    m = NodeSample(d, t, q, v, a, transcription.with_inputs(numbers, u))
    power = ca.dot(m.drive + d.external(t, q, v, m.p), v)
    function = ca.Function("drive", [t, q, v, a, u, numbers], [m.drive, power], {"cse": True})
    n = len(fine.q)
    times = np.linspace(0, fine.duration, n)
    rows = (x.T for x in (fine.q, fine.v, fine.a, fine.inputs))
    columns = function.map(n)(times, *rows, np.tile(p[:, None], n))
    forces, powers = (np.asarray(x).T for x in columns)
    return forces.reshape(n, d.nv), powers.ravel()


def step_defect(transcription: Transcription, fine: Trajectory, drive: Array, p: Array) -> float:
    """Return the largest distance between a reintegrated step and the next node [rad or m].

    Each step is integrated from its own node under the same forces, so that errors of an unstable
    motion do not accumulate. Forces are quadratic in time over a step, as accelerations are.

    Parameters
    ----------
    fine : Trajectory
        At the nodes and the middles of the steps.
    drive : (2 n + 1, nv)
        Actuator forces there.
    """
    n, change = transcription.dynamics.nv, Evaluator(_equations_of_motion(transcription))
    steps = transcription.horizon.steps
    h, worst = fine.duration / steps, 0.0
    for k in range(steps):
        rows = slice(2 * k, 2 * k + 3)
        forces, inputs = drive[rows], fine.inputs[rows]

        def rate(
            s: float, y: Array, k: int = k, forces: Array = forces, inputs: Array = inputs
        ) -> Array:
            tau, u = quadratic(forces, s), quadratic(inputs, s)
            return h * change(np.array([(k + s) * h]), y[:n], y[n:], tau, u, p)[0]

        begin = np.concatenate([fine.q[2 * k], fine.v[2 * k]])
        solution = scipy.integrate.solve_ivp(
            rate, (0, 1), begin, method="LSODA", rtol=1e-8, atol=1e-10
        )
        worst = max(worst, float(np.max(np.abs(solution.y[:n, -1] - fine.q[2 * k + 2]))))
    return worst


def explain_defect(defect: float, limit: float) -> str:
    """Return the message for a defect above its limit; empty otherwise."""
    if not defect > limit:  # NaN where no step was integrated
        return ""
    return (
        "all conditions are met at the nodes, but a step reintegrated under the same forces ends "
        f"{defect:.3g} (m, rad) from the next node, more than {limit:g}: give it more "
        "steps, or a cost on its inputs or accelerations"
    )


def _symbols(d: Dynamics, inputs: int) -> tuple[ca.SX, ...]:
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "a": d.nv, "u": inputs, "p": len(d.parameters)}
    return tuple(ca.SX.sym(name, n) for name, n in sizes.items())


def _equations_of_motion(transcription: Transcription) -> ca.Function:
    """Return (t, q, v, forces, inputs, p) -> (v, acceleration)."""
    d = transcription.dynamics
    t, q, v, tau, u, p = _symbols(d, len(transcription.inputs))
    given = transcription.with_inputs(p, u)
    still = NodeSample(d, t, q, v, ca.SX.zeros(d.nv), given)
    known = [t, q, v, tau, u, p]
    parts = ca.Function("parts", known, [still.drive, d.mass(q, given)], {"cse": True})
    symbols = [ca.MX.sym("x", x.numel()) for x in known]
    drive, M = parts(*symbols)
    change = ca.solve(M, symbols[3] - drive)
    return ca.Function("motion", symbols, [ca.vertcat(symbols[2], change)])


def quadratic(values: Array, s: float) -> Array:
    """Return the parabola through three values at 0, 1/2 and 1, evaluated at s."""
    a, b, c = values
    value: Array = a * (2 * s - 1) * (s - 1) + 4 * b * s * (1 - s) + c * s * (2 * s - 1)
    return value
