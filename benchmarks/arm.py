"""A 7-DOF arm from pose to pose, smooth: by nsopt, and in plain CasADi.

The arm is that of ``arm_7dof`` with its brakes and pads, without the cones of
``arm_least_resistance``, whose nearest points would be most of the work of either side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import NamedTuple

import casadi as ca
import numpy as np
from common import Array
from scipy.integrate import solve_ivp

from nsopt import CubicLaw, Result, assemble, load_problem
from nsopt.robots import resistances
from nsopt.sampled import interpolate_parts, quadratic
from nsopt.trajectory import (
    ActuatorLimits,
    EndAt,
    Horizon,
    JointResistance,
    NodeSample,
    Optimization,
    Quintic,
    Smoothness,
    StartAt,
)

FROM = (0.3, 0.6, -0.2, -1.4, 0.1, 0.9, 0.0)  # rad
TO = (-1.1, 1.2, 0.5, -0.7, 0.9, -0.3, 0.6)  # rad
TOLERANCE = 1e-8  # that of nsopt over a horizon


EXACT = {"rtol": 1e-9, "atol": 1e-10, "method": "DOP853"}

Control = Callable[[float], Array]
"""Forces of the drives (nv,) at a time."""


class Solved(NamedTuple):
    """An optimum and what it took [s]; ``more`` is what optimize adds to be sure of it."""

    build: float
    solve: float
    iterations: int
    optimum: float
    status: str
    control: Control
    more: float = 0.0

    @property
    def total(self) -> float:
        """Time for the optimum, without verification."""
        return self.build + self.solve


def arm(steps: int = 100) -> Optimization:
    """Return the arm from pose to pose in 2 s with least resistance, smoothly."""
    robot, still = load_problem("arm_7dof").dynamics.mechanism, np.zeros(7)
    pads = CubicLaw(peak=40.0, compliance=np.radians(10.0))
    stops = {f"joint{k}": pads for k in (2, 4, 6)}
    return Optimization(
        assemble(robot, resistances(robot, stop=stops), gravity=(0.0, 0.0, -9.81)),
        Horizon(2.0, steps),
        [JointResistance(), Smoothness(weight=0.02)],
        [StartAt(FROM, still), EndAt(TO, still), ActuatorLimits()],
        Quintic(FROM, TO),
    )


def ours(task: Optimization) -> Solved:
    """Return the optimum by `nsopt.trajectory.optimize`."""
    begin = perf_counter()
    result = task.solve()
    wall, a = perf_counter() - begin, result.data.attrs
    build, solve = float(a["compile_time"]), float(result["solve_time"].sum())
    count = round(float(result["iterations"].sum()))
    known = a["objective"], a["status"], drives(result)
    return Solved(build, solve, count, *known, wall - build - solve)


def drives(result: Result) -> Control:
    """Return the forces of an optimum, by the polynomials of its steps."""
    t, forces = result["time"].values, result["step_drive"].values[1:]

    def control(at: float) -> Array:
        k = min(int(np.searchsorted(t, at, side="right")) - 1, len(forces) - 1)
        return interpolate_parts(forces[k : k + 1], np.array([(at - t[k]) / (t[k + 1] - t[k])]))[0]

    return control


def end_error(task: Optimization, control: Control, acceleration: Control | None = None) -> float:
    """Return how far from its end a control leads, in rad, by SciPy step by step.

    ``acceleration`` is that of (q, v, forces) in a row, by default by the same dynamics.
    """
    d, duration = task.dynamics, task.horizon.bounds[0]
    accelerate = acceleration or _acceleration(task)
    first, last = task.conditions[:2]
    x = np.concatenate([first.q, first.v])

    def rate(t: float, x: Array) -> Array:
        return np.concatenate([x[d.nv :], accelerate(np.concatenate([x, control(t)]))])

    for begin, end in pairwise(np.linspace(0, duration, task.horizon.steps + 1)):
        inside = (begin, end - 1e-12 * duration)  # forces may jump at nodes
        x = solve_ivp(rate, inside, x, **EXACT).y[:, -1]
    return float(np.abs(x[: d.nv] - last.q).max())


def _acceleration(task: Optimization) -> Callable[[Array], Array]:
    """Return accelerations of states and forces, in a row."""
    d, p = task.dynamics, ca.SX(0, 1)
    q, v, force = (ca.SX.sym(name, d.nv) for name in ("q", "v", "force"))
    a = ca.solve(d.mass(q, p), force + d.applied(0, q, v, p) - d.bias(q, v, p))
    f = ca.Function("acceleration", [ca.vertcat(q, v, force)], [a])
    return lambda x: np.asarray(f(x)).ravel()


# The same in plain CasADi


@dataclass(frozen=True)
class Plain:
    """Hermite-Simpson collocation in ca.Opti, its stage function in SX, mapped.

    Of what was tried this was the fastest: middles are unknowns of their own (as expressions they
    took more than twice the time), the mass matrix is inverted by Cholesky's factors in SX (the
    linear solve of ``dynamics.acceleration`` took a fifth longer). Derivatives are CasADi's.

    Parameters
    ----------
    inverse : bool
        Unknown are accelerations, and forces are expressions of them; or the other way round.
    """

    inverse: bool = False

    def __call__(self, task: Optimization) -> Solved:
        """Return the optimum from the same start with the same tolerance."""
        begin = perf_counter()
        opti, forces = self._program(task)
        opti.solver("ipopt")  # its bounds and start are known from here on
        start = opti.value(opti.x, opti.initial())
        bounds = {"lbg": opti.value(opti.lbg), "ubg": opti.value(opti.ubg)}
        quiet = {"print_level": 0, "sb": "yes", "max_iter": 500}
        alike = {"mumps_permuting_scaling": 0, "tol": TOLERANCE, "constr_viol_tol": TOLERANCE}
        ipopt = {**quiet, **alike}  # as nsopt's
        options = {"print_time": False, "ipopt": ipopt}
        solver = ca.nlpsol("plain", "ipopt", {"x": opti.x, "f": opti.f, "g": opti.g}, options)
        built = perf_counter()
        solution = solver(x0=start, **bounds)
        done, stats = perf_counter(), solver.stats()
        return Solved(
            built - begin,
            done - built,
            stats["iter_count"],
            float(solution["f"]),
            stats["return_status"],
            _parabolas(task, *(np.asarray(x).T for x in forces(solution["x"]))),
        )

    def _stage(self, task: Optimization) -> ca.Function:
        """Return (q, v, unknown) -> (acceleration, force, cost per second)."""
        d, p = task.dynamics, ca.SX(0, 1)
        q, v, w = (ca.SX.sym(name, d.nv) for name in "qvw")
        M, rest = d.mass(q, p), d.bias(q, v, p) - d.applied(0, q, v, p)
        if self.inverse:
            a, force = w, M @ w + rest
        else:
            R = ca.chol(M)
            a, force = ca.solve(R, ca.solve(R.T, w - rest)), w
        moment = NodeSample(d, ca.SX(0), q, v, a, p)
        rate = sum(cost.weight * cost.rate(moment) for cost in task.costs)
        return ca.Function("stage", [q, v, w], [a, force, rate], {"cse": True})

    def _program(self, task: Optimization) -> tuple[ca.Opti, ca.Function]:
        """Return variables, equations, limits and start; forces at nodes and middles of steps."""
        n, nv, duration = task.horizon.steps, task.dynamics.nv, task.horizon.bounds[0]
        h, opti, stage = duration / n, ca.Opti(), self._stage(task)
        x, w = opti.variable(2 * nv, n + 1), opti.variable(nv, n + 1)
        xm, wm = opti.variable(2 * nv, n), opti.variable(nv, n)
        a, force, rate = stage.map(n + 1)(x[:nv, :], x[nv:, :], w)
        am, forcem, ratem = stage.map(n)(xm[:nv, :], xm[nv:, :], wm)
        f, fm = ca.vertcat(x[nv:, :], a), ca.vertcat(xm[nv:, :], am)
        x0, x1, f0, f1 = x[:, :-1], x[:, 1:], f[:, :-1], f[:, 1:]
        opti.subject_to(ca.vec(xm - (x0 + x1) / 2 - h / 8 * (f0 - f1)) == 0)
        opti.subject_to(ca.vec(x1 - x0 - h / 6 * (f0 + 4 * fm + f1)) == 0)
        opti.minimize(h / 6 * (ca.sum2(rate[:-1] + rate[1:]) + 4 * ca.sum2(ratem)))
        self._limits(opti, task, ca.vertcat(x, force))
        self._limits(opti, task, ca.vertcat(xm, forcem))
        first, last = task.conditions[:2]
        opti.subject_to(x[:, 0] == np.concatenate([first.q, first.v]))
        opti.subject_to(x[:, -1] == np.concatenate([last.q, last.v]))
        motion = task.guess.trajectory(np.linspace(0, 1, 2 * n + 1), (duration, duration), ())
        unknown = motion.a.T if self.inverse else _forces(task, motion.q, motion.v, motion.a)
        guess = np.vstack([motion.q.T, motion.v.T, unknown])
        for variable, start in ((x, guess[: 2 * nv, ::2]), (w, guess[2 * nv :, ::2])):
            opti.set_initial(variable, start)
        for variable, start in ((xm, guess[: 2 * nv, 1::2]), (wm, guess[2 * nv :, 1::2])):
            opti.set_initial(variable, start)
        return opti, ca.Function("forces", [opti.x], [force, forcem])

    def _limits(self, opti: ca.Opti, task: Optimization, values: ca.MX) -> None:
        """Keep range, speed and force of the actuators."""
        drives = task.dynamics.mechanism.actuators
        high = [x.upper for x in drives] + [x.velocity for x in drives] + [x.effort for x in drives]
        low = [x.lower for x in drives] + [-y for y in high[len(drives) :]]
        many = values.shape[1]
        opti.subject_to(opti.bounded(np.tile(low, many), ca.vec(values), np.tile(high, many)))


def _parabolas(task: Optimization, nodes: Array, middles: Array) -> Control:
    """Return forces that are parabolas over a step."""
    h = task.horizon.bounds[0] / task.horizon.steps

    def control(at: float) -> Array:
        k = min(int(at / h), len(middles) - 1)
        return np.asarray(quadratic([nodes[k], middles[k], nodes[k + 1]], at / h - k))

    return control


def _forces(task: Optimization, q: Array, v: Array, a: Array) -> Array:
    """Return the forces that a motion takes, a column for each time."""
    stage = Plain(inverse=True)._stage(task)
    return np.asarray(stage.map(len(q))(q.T, v.T, a.T)[1])
