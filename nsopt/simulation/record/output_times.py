"""States at given times, between those of the steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.arrays import Array
from nsopt.checks import numbers
from nsopt.mechanics import Dynamics, Start
from nsopt.simulation.record.accepted_steps import ADDING, AcceptedSteps, objects
from nsopt.simulation.record.evaluated_steps import evaluate_at_times

SAME = 1e-9  # part of a step by which an output time may miss its end and count as that
SHARED = ("loss", "work")  # columns that add up and grow within a step; others at its end


def check_output_times(times: ArrayLike | None, begin: float, end: float) -> Array | None:
    """Return the times (n,) [s] after the start at which states are asked for, checked."""
    if times is None:
        return None
    t = numbers("times", times)
    if t.ndim != 1 or not t.size or not np.all(np.isfinite(t)):
        raise ValueError(f"times must be a sequence of numbers [s], got shape {t.shape}")
    if np.any(np.diff(t) <= 0):
        k = int(np.argmax(np.diff(t) <= 0))
        raise ValueError(f"times must grow, got {t[k + 1]:g} after {t[k]:g} s")
    slack = SAME * (end - begin)
    if t[0] < begin - slack or t[-1] > end + slack:
        raise ValueError(
            f"times must be within the run, {begin:g} to {end:g} s, got {t[0]:g} to {t[-1]:g} s"
        )
    return np.clip(t[t > begin + slack], begin, end)


@dataclass(frozen=True, eq=False)
class OutputTimes:
    """Rows of a record at given times (n,) [s], from the steps around them.

    Coordinates between two nodes are cubic polynomials of both states, Euler parameters then
    normalised, velocities follow from their derivatives: of fourth and third order. In a step with
    an impact, at its end, they are parabolas of the state before and the coordinates after, of
    third and second order. Losses and work are shared in proportion to time, of impacts all at the
    end; impulses and h are those of the step that a time is in.
    """

    dynamics: Dynamics
    times: Array

    def interpolate(
        self, start: Start, pending: AcceptedSteps, steps: AcceptedSteps
    ) -> tuple[AcceptedSteps, AcceptedSteps]:
        """Return rows at the times that steps pass, and the sums since the last of these, one row.

        ``start`` is that of the steps, ``pending`` the sums before it, one row or none.
        """
        ends = steps.t + SAME * steps.h
        passed = self.times[(self.times > start.t + SAME * steps.h[0]) & (self.times <= ends[-1])]
        k = np.searchsorted(ends, passed)  # (n,) the step that each is in
        share = np.clip(1 - (steps.t[k] - passed) / steps.h[k], 0, 1)  # (n,) of that step
        share[np.abs(share - 1) < SAME] = 1.0
        struck = np.any(steps.impact_impulse[k] > 0, axis=1)
        q, v = self._interpolate_states(start, steps, k, share, struck)
        sums = {name: self._sum_up(pending, steps, name, k, share, struck) for name in ADDING}
        tried: list[tuple[str, ...]] = [()] * (len(passed) + 1)
        tried[0] = sum(pending.tried.tolist(), ())
        retried = np.flatnonzero(np.fromiter(map(bool, steps.tried), dtype=bool))
        row_of = np.searchsorted(k + (share == 1), retried, "right")  # up to whose time steps end
        for step, row in zip(retried, row_of, strict=True):
            tried[row] += steps.tried[step]
        made: dict[str, Any] = {name: np.diff(x, axis=0) for name, x in sums.items()}
        made["tried"] = objects(tried)
        rows = replace(
            steps.at(k), t=passed, q=q, v=v, **{name: x[:-1] for name, x in made.items()}
        )
        return rows, replace(steps.at([-1]), **{name: x[-1:] for name, x in made.items()})

    def _sum_up(
        self,
        pending: AcceptedSteps,
        steps: AcceptedSteps,
        name: str,
        k: Array,
        share: Array,
        struck: Array,
    ) -> Array:
        """Return a column summed from the last output to the times, and to the end of the steps."""
        column: Array = getattr(steps, name)
        zero = np.zeros((1, *column.shape[1:]))
        before = np.concatenate([zero, np.cumsum(column, axis=0)]) + np.sum(
            getattr(pending, name), axis=0
        )
        part = np.where(share == 1, 1.0, 0.0)
        if name in SHARED:
            part = np.where(struck, part, share)
        part = part.reshape(-1, *(1 for _ in column.shape[1:]))
        return np.concatenate([zero, before[k] + part * column[k], before[-1:]])

    def _interpolate_states(
        self, start: Start, steps: AcceptedSteps, k: Array, share: Array, struck: Array
    ) -> tuple[Array, Array]:
        q, v = np.vstack([start.q, steps.q]), np.vstack([start.v, steps.v])
        known = q[k], v[k], q[k + 1], v[k + 1], steps.h[k], share, struck.astype(float)
        found_q, found_v = evaluate_at_times(_make_interpolant(self.dynamics), *known)
        whole = share == 1
        found_q[whole], found_v[whole] = q[k[whole] + 1], v[k[whole] + 1]
        return found_q, found_v


@lru_cache(maxsize=16)
def _make_interpolant(d: Dynamics) -> ca.Function:
    """Return (q, v, q1, v1, h, share, struck) -> coordinates and velocities within a step."""
    sizes = {"q": d.nq, "v": d.nv, "q1": d.nq, "v1": d.nv, "h": 1, "share": 1, "struck": 1}
    q, v, q1, v1, h, s, struck = inputs = [ca.SX.sym(x, n) for x, n in sizes.items()]
    # Hermite's cubic of both states, with the slopes m0, m1 by the share s of the step.
    m0, m1, change = h * d.rate_matrix(q) @ v, h * d.rate_matrix(q1) @ v1, q1 - q
    cubic = q + m0 * s + (3 * change - 2 * m0 - m1) * s**2 + (m0 + m1 - 2 * change) * s**3
    parabola = q + m0 * s + (change - m0) * s**2
    moved = ca.if_else(struck, parabola, cubic)
    rate = ca.jtimes(moved, s, ca.SX(1)) / h
    if internal := len(d.internal_names):
        moved = ca.vertcat(moved[:-internal], q1[-internal:])
    place = d.renormalise(moved)
    return ca.Function("between", inputs, [place, d.velocity(place, rate)])
