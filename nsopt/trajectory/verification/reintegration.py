"""The steps of a motion by polynomials, integrated again: do they end at their nodes?

By SciPy's integrators, under the forces that the polynomials need, from each node anew. `Defects`
are the distances from the next nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from warnings import catch_warnings

import casadi as ca
import numpy as np
import scipy

from nsopt.arrays import Array
from nsopt.interrupt import interruptible
from nsopt.leaves import MappedLeaf
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Evaluator
from nsopt.sampled import PARTS, quadratic
from nsopt.simulation import evaluate_at_times
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.node_sample import SHARP, SMOOTH, NodeSample
from nsopt.trajectory.transcription.base import with_inputs
from nsopt.trajectory.verification.defects import Defects, limits_of_defects

EXACT = 1e-8  # smallest tolerance of the integrators [m, rad, m/s, rad/s]
COARSEST = 0.1  # largest tolerance of the integrators [m, rad, m/s, rad/s]
FINEST = 1e-13  # relative tolerance below which round-off is all that an integrator sees

MOST_AT_ONCE = 1000
"""Evaluations of all steps at once, above which an implicit integrator takes them one by one."""

MOST_OF_ONE = 5000
"""Evaluations of one step, above which it is not resolved: stiff ones take some hundreds."""

Rate = Callable[[float, Array], Array]
"""(s, y) -> dy/ds, of the state y at a share s of the step."""


class _TooManyError(Exception):
    """An integrator takes too many evaluations, or does not get to the end."""


@dataclass(frozen=True, eq=False)
class Reintegration:
    """The steps of a motion by polynomials under its own forces; fields as of `Collocation`."""

    dynamics: Dynamics
    horizon: Horizon
    inputs: tuple[str, ...]
    creep: tuple[float, ...]

    def driving_forces(self, fine: Trajectory, p: Array) -> tuple[Array, Array]:
        """Return actuator forces (n, nv) at the times of a motion, and the external power (n,) [W].

        ``fine`` is the motion at nodes and middles of steps. The power is that of actuators, inputs
        and applied loads. Dry friction has its exact sign, and is zero at rest.
        """
        forces, power, _ = self._forces_at(self._points(fine), p, SHARP)
        return forces, power.ravel()

    def over_steps(self, at: tuple[Array, ...], p: Array) -> tuple[Array, Array | None]:
        """Return actuator forces without dry friction at the `PARTS` of steps, and that friction.

        (steps, parts, nv) [N, N m] each; ``at`` is what `Collocation.interpolate` returns there.
        Where friction is smoothed as its laws say it is in the forces, and None is returned for it.
        """
        shape = -1, len(PARTS), self.dynamics.nv
        smooth = self._forces_at(at, p, SMOOTH)[0].reshape(shape)
        if not any(self.creep):
            return smooth, None
        return smooth, self._forces_at(at, p, SHARP)[0].reshape(shape) - smooth

    def _points(self, fine: Trajectory) -> tuple[Array, ...]:
        times: Array = np.linspace(0, fine.duration, len(fine.q))
        return times, fine.q, fine.v, fine.a, fine.inputs

    def _forces_at(
        self, points: tuple[Array, ...], p: Array, creep: float
    ) -> tuple[Array, Array, Array]:
        """Return drives (n, nv), external power (n, 1), net forces (n, nv) at n points.

        Points are t, q, v, a, inputs; ``creep`` is the speed up to which friction is smoothed.
        """
        creeps = np.where(np.array(self.creep) > 0, creep, 0.0)
        given = (*points, np.tile(np.append(p, creeps), (len(points[0]), 1)))
        function = _make_forces(self.dynamics, self.inputs)
        forces, powers, net = evaluate_at_times(function, *given)
        return forces, powers, net

    def defects(self, fine: Trajectory, p: Array, share: float = 0.0) -> Defects:
        """Return the distances between reintegrated steps and the next nodes.

        Each step is integrated from its own node under the same forces, so that errors of an
        unstable motion do not accumulate. Forces are quadratic in time over a step, as
        accelerations are; they are net of the friction in joints that have a drive of their own,
        which jumps where the joint turns round, and is made up for by the drive. A signal ends it.
        The tolerance of the integrator is a share of the least limit of defects; `EXACT` at least.
        """
        d = self.dynamics
        limit = limits_of_defects(d, fine.q, p, self.horizon.defect)
        accuracy = float(np.clip(share * limit.min(), EXACT, COARSEST))
        try:
            with interruptible():
                distance = self._distances(fine, p, accuracy)
        except KeyboardInterrupt:
            distance = np.full(d.nq, np.nan)
        return Defects(distance, limit, d.q_names)

    def _distances(self, fine: Trajectory, p: Array, accuracy: float) -> Array:
        """Return the largest distance of each coordinate at the ends of steps, (nq,)."""
        n, steps = fine.q.shape[1], self.horizon.steps
        net_forces = self._forces_at(self._points(fine), p, SHARP)[2]
        h, known = fine.duration / steps, np.hstack([net_forces, fine.inputs])  # at all points
        along = (known[:-2:2], known[1::2], known[2::2])  # start, middle, end of each step
        begin = np.hstack([fine.q[:-2:2], fine.v[:-2:2]])
        try:
            ends = self._integrate_at_once(begin, along, h, p, accuracy)
        except _TooManyError:
            ends = self._integrate_one_by_one(begin, along, h, p, accuracy)
        return np.asarray(np.abs(ends[:, :n] - fine.q[2::2]).max(axis=0))

    def _integrate_at_once(
        self, begin: Array, along: tuple[Array, ...], h: float, p: Array, accuracy: float
    ) -> Array:
        """Return the ends (q, v) of all steps, as one system of equations."""
        steps = len(begin)
        starts, count = h * np.arange(float(steps)), itertools.count(1)  # [s] of the steps
        change = self._change

        def rate(s: float, y: Array) -> Array:
            if next(count) > MOST_AT_ONCE:
                raise _TooManyError
            forces = quadratic(along, s)
            (value,) = change([starts + s * h, y.reshape(steps, -1), forces], [p])
            return h * value.ravel()

        # Its error is the mean over all steps, of which one may have it all.
        end = _integrate(rate, begin.ravel(), "DOP853", accuracy / np.sqrt(steps))
        if not np.isfinite(end).all():
            raise _TooManyError
        return end.reshape(begin.shape)

    @property
    def _change(self) -> MappedLeaf:
        """The function of `_make_motion`."""
        return _make_motion(self.dynamics, self.inputs)

    def _integrate_one_by_one(
        self, begin: Array, along: tuple[Array, ...], h: float, p: Array, accuracy: float
    ) -> Array:
        """Return the ends of the steps, all infinite from the first one that has none."""
        change, ends = Evaluator(self._change.function), np.full_like(begin, np.inf)
        for k, state in enumerate(begin):
            rate = _make_rate(change, k, tuple(x[k] for x in along), h, p)
            try:
                ends[k] = _integrate(rate, state, "LSODA", accuracy)
            except _TooManyError:
                break
            if not np.isfinite(ends[k]).all():
                break
        return ends


def _make_rate(change: Evaluator, k: int, of_step: tuple[Array, ...], h: float, p: Array) -> Rate:
    """Return the rate of step k, which raises after `MOST_OF_ONE` evaluations."""
    count = itertools.count(1)

    def rate(s: float, y: Array) -> Array:
        if next(count) > MOST_OF_ONE:
            raise _TooManyError
        value: Array = change(np.array([(k + s) * h]), y, quadratic(of_step, s), p)[0]
        return h * value

    return rate


@lru_cache(maxsize=32)
def _make_forces(d: Dynamics, inputs: tuple[str, ...]) -> ca.Function:
    """Return (t, q, v, a, inputs, p with creep) -> (drives, external power, net forces)."""
    t, q, v, a, u, p = _symbols(d, inputs)
    creep = ca.SX.sym("creep", len(d.friction_joints))
    m = NodeSample(d, t, q, v, a, with_inputs(d, inputs, p, u), creep=creep)
    outputs = [m.drive, ca.dot(m.drive + d.external(t, q, v, m.p), v), _net_forces(m)]
    return ca.Function("drive", [t, q, v, a, u, ca.vertcat(p, creep)], outputs, {"cse": True})


@lru_cache(maxsize=32)
def _make_motion(d: Dynamics, inputs: tuple[str, ...]) -> MappedLeaf:
    """Return (t, (q, v), (forces, inputs)) of each step and p -> (qdot, acceleration)."""
    t, q, v, tau, u, p = _symbols(d, inputs)
    given = with_inputs(d, inputs, p, u)
    R = ca.chol(d.mass(q, given))
    # Without accelerations drives are what forces but for inertia take.
    still = NodeSample(d, t, q, v, ca.SX.zeros(d.nv), given)
    acceleration = ca.solve(R, ca.solve(R.T, tau - _net_forces(still)))
    known = [t, ca.vertcat(q, v), ca.vertcat(tau, u), p]
    change = ca.vertcat(d.rate_matrix(q) @ v, acceleration)
    return MappedLeaf(ca.Function("motion", known, [ca.densify(change)], {"cse": True}), own=3)


def _symbols(d: Dynamics, inputs: Sequence[str]) -> tuple[ca.SX, ...]:
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "a": d.nv, "u": len(inputs), "p": len(d.parameters)}
    return tuple(ca.SX.sym(name, n) for name, n in sizes.items())


def _net_forces(m: NodeSample) -> ca.SX:
    """Return forces of the drives of a sample less the friction in their own joints, (nv,)."""
    driven = m.dynamics.mechanism.driven_joints
    owners = enumerate(m.dynamics.v_owners)
    return ca.vertcat(*((m.required_forces if x in driven else m.drive)[k] for k, x in owners))


def _integrate(
    rate: Rate, begin: Array, method: Literal["DOP853", "LSODA"], accuracy: float
) -> Array:
    """Return the state at s = 1, infinite where it is not reached."""
    rtol = max(accuracy / max(1.0, float(np.abs(begin).max())), FINEST)
    first = 1.0 if method == "DOP853" else None  # by its order one step of it is mostly enough
    with np.errstate(all="ignore"), catch_warnings(action="ignore"):  # of steps that diverge
        solution = scipy.integrate.solve_ivp(
            rate, (0, 1), begin, method=method, first_step=first, rtol=rtol, atol=accuracy
        )
    end: Array = solution.y[:, -1]
    return end if solution.success and np.isfinite(end).all() else np.full_like(end, np.inf)
