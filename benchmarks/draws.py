"""Runs drawn by a seed from structures of Parameters, and balls that fall onto each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nsopt import Dynamics, Start, consistent
from nsopt.schemes import Scheme

Array = NDArray[np.float64]

G = 9.81

Exact = Callable[[Array], tuple[Array, Array, float]]
"""From times (n,) to heights (n, bodies), energy lost (n,) [J], and until when they are known."""


@dataclass(frozen=True, eq=False)
class Draw:
    """One run: a structure with numbers; ``smooth`` where nothing strikes or sticks.

    Forces and impulses are ``determined`` unless friction may hold what a joint and a contact hold
    already.
    """

    label: str
    dynamics: Dynamics
    start: Start
    parameters: Mapping[str, float]
    duration: float
    h: float
    scheme: Scheme | None = None
    smooth: bool = False
    exact: Exact | None = None
    determined: bool = True


Numbers = Callable[[np.random.Generator], "Numbered"]


@dataclass(frozen=True, eq=False)
class Numbered:
    """Numbers of a draw: parameters, velocities of the start and the time in which it goes on."""

    parameters: Mapping[str, float]
    v: Mapping[int, float]
    duration: float
    period: float  # of the fastest thing that a user of it would think of [s]
    q: Mapping[int, float] = field(default_factory=dict)
    exact: Exact | None = None
    determined: bool = True


@dataclass(frozen=True, eq=False)
class Structure:
    """A mechanism of Parameters, and how its numbers are drawn."""

    label: str
    dynamics: Dynamics
    numbers: Numbers
    smooth: bool = False
    schemes: tuple[Scheme | None, ...] = (None,)
    closes: bool = False  # whether starts have to be made consistent

    def draw(self, rng: np.random.Generator) -> Draw:
        """Return a run with new numbers, by steps of 1/10 to 1/500 of its period."""
        x = self.numbers(rng)
        begin = Start.stated(self.dynamics, x.parameters)
        q, v = np.array(begin.q, dtype=float), np.array(begin.v, dtype=float)
        for numbers, values in ((q, x.q), (v, x.v)):
            for k, value in values.items():
                numbers[k] = value
        start = Start(q, v)
        if self.closes:
            start = consistent(self.dynamics, start, parameters=x.parameters)
        h = x.period / between(rng, 10, 500)
        scheme = self.schemes[rng.integers(len(self.schemes))]
        return Draw(
            *(self.label, self.dynamics, start, x.parameters, x.duration),
            *(min(h, x.duration / 20), scheme, self.smooth, x.exact, x.determined),
        )


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a number between two, even in its logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def fallen(m: Array, u: Array, e: float, times: Array) -> tuple[Array, Array, float]:
    """Return the motion of balls one above the other from impact to impact; see `Exact`.

    Parameters
    ----------
    m, u : (k,)
        Masses [kg] and heights [m], less those of a column that stands.
    e : float
        Of all impacts, with the floor too.
    """
    n, t, v, lost = len(u), 0.0, np.zeros(len(u)), 0.0
    x, taken, step = np.full((len(times), n), np.nan), np.zeros(len(times)), 0.0
    for _ in range(400):
        root = np.sqrt(v[0] ** 2 + 2 * G * u[0])
        left = [(v[0] + root) / G]
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs = np.diff(u) / -np.diff(v)
        left += np.where(np.diff(v) < 0, np.maximum(pairs, 0), np.inf).tolist()
        k = int(np.argmin(left))
        step = left[k]
        now = (times >= t) & (times <= t + step)
        s = (times[now] - t)[:, None]
        x[now], taken[now] = u + v * s - G * s**2 / 2, lost
        if t + step > times[-1] or step < 1e-7:
            break
        t, u, v = t + step, u + v * step - G * step**2 / 2, v - G * step
        if k == 0:
            lost += (1 - e**2) * m[0] * v[0] ** 2 / 2
            v[0], u[0] = -e * v[0], 0.0
            continue
        a, b = k - 1, k
        shared, speed = m[a] * m[b] / (m[a] + m[b]), v[b] - v[a]
        lost += (1 - e**2) * shared * speed**2 / 2
        v[a] += (1 + e) * shared * speed / m[a]
        v[b] -= (1 + e) * shared * speed / m[b]
        u[b] = u[a]
    heights = x + 0.02 + 0.04 * np.arange(n)
    return heights, taken, min(t + step, float(times[-1]))
