"""Planar mechanisms with worn pins, integrated from event to event: nothing here is of nsopt.

No load acts. All bodies turn about fixed axes or are free, so the mass matrix is constant and ideal
joints need no equations. Pins meet their bores without rebound or friction, and lift off where they
no longer press.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

EXACT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13, "max_step": 2e-3}


@dataclass(frozen=True, eq=False)
class Motion:
    """How a run ended, and when contacts closed [s]."""

    q: np.ndarray
    v: np.ndarray
    impacts: list[float]


class WornPins:
    """Gaps (c_k^2 - |e_k(q)|^2) / (2 c_k) of pins that lie e_k off the centres of their bores.

    Parameters
    ----------
    mass : (n,) diagonal of the mass matrix
    offsets : function of q (n,) SX, giving (k, 2)
    clearances : (k,) [m]
    """

    def __init__(
        self,
        mass: np.ndarray,
        offsets: Callable[[ca.SX], list[ca.SX]],
        clearances: np.ndarray,
    ) -> None:
        self._inverse, self._c = 1 / mass, clearances
        q, v = ca.SX.sym("q", mass.size), ca.SX.sym("v", mass.size)
        pairs = zip(clearances, offsets(q), strict=True)
        gaps = ca.vertcat(*((c**2 - ca.sumsqr(e)) / (2 * c) for c, e in pairs))
        W = ca.jacobian(gaps, q)
        bias = ca.jtimes(W @ v, q, v)
        self._f = ca.Function("gaps", [q, v], [gaps, W, bias])

    def run(self, q: np.ndarray, v: np.ndarray, end: float) -> Motion:
        """Return the motion from rest in the bores, all open, to ``end`` [s]."""
        t, closed, impacts = 0.0, (), []
        while t < end:
            t, q, v, event = self._until_event(t, q, v, end, closed)
            if event is None:
                break
            if event in closed:
                closed = tuple(k for k in closed if k != event)
                continue
            impacts.append(t)
            v = self._struck(q, v, (*closed, event))
            closed = self._pressing(q, v, (*closed, event))
        return Motion(q, v, impacts)

    def _until_event(self, t, q, v, end, closed):
        n, every = q.size, range(self._c.size)

        def rate(_, x):
            return np.concatenate([x[n:], self._acceleration(x[:n], x[n:], closed)[0]])

        def watched(k):
            def event(_, x):
                if k in closed:
                    return self._acceleration(x[:n], x[n:], closed)[1][closed.index(k)]
                return self._gaps(x[:n], x[n:])[0][k, 0] / self._c[k]

            event.terminal, event.direction = True, -1
            return event

        events = [watched(k) for k in every]
        run = solve_ivp(rate, (t, end), np.concatenate([q, v]), events=events, **EXACT)
        x = run.y[:, -1]
        met = [k for k in every if run.t_events[k].size]
        q, v = self._projected(x[:n], x[n:], closed)
        return run.t[-1], q, v, met[0] if met else None

    def _gaps(self, q, v):
        return [x.full() for x in self._f(q, v)]

    def _acceleration(self, q, v, closed):
        """Return the acceleration and the forces of closed contacts."""
        if not closed:
            return 0 * q, np.zeros(0)
        _, W, bias = self._gaps(q, v)
        W, bias = W[list(closed)], bias[list(closed), 0]
        lam = np.linalg.solve(W * self._inverse @ W.T, -bias)
        return self._inverse * (W.T @ lam), lam

    def _struck(self, q, v, touching):
        """Return the velocity after an impact: 0 <= rates _|_ impulses >= 0 of those that touch."""
        W = self._gaps(q, v)[1][list(touching)]
        for size in range(1, len(touching) + 1):
            for some in combinations(range(len(touching)), size):
                part = W[list(some)]
                push = np.linalg.solve(part * self._inverse @ part.T, -part @ v)
                after = v + self._inverse * (part.T @ push)
                if np.all(push >= 0) and np.all(W @ after >= -1e-10):
                    return after
        raise AssertionError("an impact without friction has a solution")

    def _pressing(self, q, v, touching):
        """Return those of the contacts at rest in their bores that press."""
        rates = self._gaps(q, v)[1] @ v
        still = [k for k in touching if abs(rates[k]) < 1e-9]
        for size in range(len(still), -1, -1):
            for some in combinations(still, size):
                a, lam = self._acceleration(q, v, some)
                _, W, bias = self._gaps(q, v)
                lifted = (W @ a + bias[:, 0])[still]
                if np.all(lam > 0) and np.all(lifted >= -1e-9 * (1 + np.abs(bias).max())):
                    return tuple(some)
        raise AssertionError("contacts without friction have an acceleration")

    def _projected(self, q, v, closed):
        """Return the state with closed gaps at zero again, and at rest."""
        rows = list(closed)
        for _ in range(3):
            if rows:
                gaps, W, _ = self._gaps(q, v)
                W = W[rows]
                S = W * self._inverse @ W.T
                q = q - self._inverse * (W.T @ np.linalg.solve(S, gaps[rows, 0]))
                v = v - self._inverse * (W.T @ np.linalg.solve(S, W @ v))
        return q, v
