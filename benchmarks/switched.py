"""Switched motions whose optimum is known: what they are, and how a control really moves them.

One surface divides the states: on either side another law holds, and where both drive the state
back to the surface it slides along it (Filippov). A car with a turbo, a block whose friction turns
round, a block that comes to rest before its time, a block on a sled, a mass lifted from a floor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from common import Array
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

EXACT = {"rtol": 1e-11, "atol": 1e-13, "method": "DOP853"}
ON = 1e-9
"""Distance from the surface that counts as none."""

AHEAD = 1e-3
"""Of the rest of a piece, the time at which its control tells on which side the state goes on: at
its begin a control may just hold it."""

INSIDE = np.array([0.15, 0.4, 0.6, 0.85])
"""Parts of a step from which its control is told; a parabola is told exactly."""
WEIGHT = 9.81  # N, of 1 kg
THRUST, TURBO, LATE, TOP, WAY = 5.0, 3.0, 10.0, 25.0, 200.0  # m/s^2, 1, m/s, m/s, m


class Piece(NamedTuple):
    """A control over a time: a polynomial, highest power first, of the time since its begin."""

    begin: float
    end: float
    powers: Array

    def __call__(self, t: float) -> float:
        """Return the control at a time."""
        return float(np.polyval(self.powers, t - self.begin))


def fitted(times: Array, control: Callable[[Array], Array], begin: float) -> list[Piece]:
    """Return parabolas of a control between times."""
    h = np.diff(times)
    at = times[:-1, None] + h[:, None] * INSIDE
    values = control(at.ravel()).reshape(at.shape)
    return [
        Piece(begin + t, begin + t + dt, np.polyfit(INSIDE * dt, u, 2))
        for t, dt, u in zip(times, h, values, strict=False)
    ]


def effort(control: Sequence[Piece]) -> float:
    """Return the integral of the squared control."""
    x, weights = np.polynomial.legendre.leggauss(5)
    return float(
        sum(
            (p.end - p.begin) / 2 * w * p(p.begin + (p.end - p.begin) * (1 + s) / 2) ** 2
            for p in control
            for s, w in zip(x, weights, strict=True)
        )
    )


@dataclass(frozen=True, eq=False)
class Switched:
    """States x and control u: dx/dt = rate(x, u, side), side the sign of normal . x - level.

    Parameters
    ----------
    name : str
    start, end : (n,)
        States; NaN at the end is free.
    duration : float or None
        Given, and the integral of u^2 is least; or the least.
    rate : callable
        Of (x, u, side), for numbers and symbols: a sequence of n.
    normal : (n,)
    level : float
    optimum : float
        The true one.
    """

    name: str
    start: Array
    end: Array
    duration: float | None
    rate: Callable[[Any, Any, int], Sequence[Any]]
    normal: Array
    level: float
    optimum: float

    def end_error(self, control: Sequence[Piece]) -> float:
        """Return how far from its end a control leads, by SciPy with each switch as an event."""
        x = self.start
        for piece in control:
            x = self._over(piece, x)
        return float(np.nanmax(np.abs(x - self.end)))

    def _over(self, piece: Piece, x: Array) -> Array:
        t = piece.begin
        while t < piece.end:
            side = self._side(x, piece(t + AHEAD * (piece.end - t)))
            events = self._leaving(side, piece)
            solution = solve_ivp(
                lambda t, x, s=side: self._filippov(x, piece(t), s),
                (t, piece.end),
                x,
                events=events,
                **EXACT,
            )
            t, x = float(solution.t[-1]), solution.y[:, -1]
            if solution.status == 1 or side == 0:  # on the surface, to round-off
                x = x - self.normal * (self.normal @ x - self.level) / (self.normal @ self.normal)
        return x

    def _side(self, x: Array, u: float) -> int:
        """Return the side on which the state goes on, 0 along the surface."""
        off = float(self.normal @ x - self.level)
        if abs(off) > ON:
            return 1 if off > 0 else -1
        above, below = (self._towards(x, u, side) for side in (1, -1))
        if above <= 0 <= below:
            return 0
        return 1 if above > 0 else -1

    def _towards(self, x: Array, u: float, side: int) -> float:
        """Return the rate of the distance from the surface."""
        return float(self.normal @ np.array(self.rate(x, u, side)))

    def _filippov(self, x: Array, u: float, side: int) -> Array:
        if side:
            return np.array(self.rate(x, u, side))
        above, below = (self._towards(x, u, k) for k in (1, -1))
        share = below / (below - above)  # of the law above, so that the distance stays
        return share * np.array(self.rate(x, u, 1)) + (1 - share) * np.array(self.rate(x, u, -1))

    def _leaving(self, side: int, piece: Piece) -> list[Any]:
        """Return the events that end a side."""

        def surface(_: float, x: Array) -> float:
            return float(self.normal @ x - self.level)

        def above(t: float, x: Array) -> float:
            return self._towards(x, piece(t), 1)

        def below(t: float, x: Array) -> float:
            return self._towards(x, piece(t), -1)

        events: list[Any] = [surface] if side else [above, below]
        for event, direction in zip(events, [-side] if side else [1, -1], strict=True):
            event.terminal, event.direction = True, direction
        return events


class Answer(NamedTuple):
    """An optimum, what it took of the processor [s], and how far off its end its control leads."""

    seconds: float
    iterations: int
    optimum: float
    end_error: float
    said: str


# The motions


def car() -> Switched:
    """Return a car over 200 m in least time: above 10 m/s its thrust acts three times as much.

    The optimum is full thrust to the top speed, that speed, and full thrust back.
    """
    late, fast = LATE / THRUST, (TOP - LATE) / (TURBO * THRUST)
    way = 2 * (LATE / 2 * late + (LATE + TOP) / 2 * fast)
    optimum = 2 * (late + fast) + (WAY - way) / TOP

    def rate(x: Any, u: Any, side: int) -> list[Any]:
        return [x[1], TURBO * u if side > 0 else u]

    ends = np.zeros(2), np.array([WAY, 0.0])
    return Switched("car with turbo", *ends, None, rate, np.array([0.0, 1.0]), LATE, optimum)


def block(name: str, speed: float, duration: float, friction: float) -> Switched:
    """Return a block of 1 kg moved by 1 m, with dry friction [N], from a speed to rest.

    The work of friction, so its part of the effort, depends on the speeds at the ends alone:
    the integral of (a + F sign v)^2 is that of a^2, less 2 F |v0|, plus F^2 for each second that
    it moves. So a is linear in time, also where v turns round; and the block moves for no longer
    than sqrt(6 x / F) from rest, for at rest it costs nothing.
    """
    moving = duration if speed else min(duration, np.sqrt(6 / friction))
    a, b = np.linalg.solve(
        [[moving, moving**2 / 2], [moving**2 / 2, moving**3 / 6]], [-speed, 1 - speed * moving]
    )
    smooth = a**2 * moving + a * b * moving**2 + b**2 * moving**3 / 3
    optimum = smooth - 2 * friction * abs(speed) + friction**2 * moving

    def rate(x: Any, u: Any, side: int) -> list[Any]:
        return [x[1], u - friction * side]

    ends = np.array([0.0, speed]), np.array([1.0, 0.0])
    normal = np.array([0.0, 1.0])
    return Switched(name, *ends, duration, rate, normal, 0.0, float(optimum))


def sled(duration: float = 2.5) -> Switched:
    """Return a sled of 1 kg with a block of 1 kg on it, 1 N of dry friction between them.

    The sled is driven and begins at 1 m/s, the block at rest; the block moves by 1 m, both end at
    rest. Until both are as fast the sled has a constant acceleration, for its place is free; then
    they go as one, their acceleration linear in time and within what friction holds.
    """

    def effort(t: float) -> float:
        """Return the effort if both are as fast after t."""
        rest, way = duration - t, 1 - t**2 / 2
        a, b = np.linalg.solve(
            [[rest, rest**2 / 2], [rest**2 / 2, rest**3 / 6]], [-t, way - t * rest]
        )
        if max(abs(a), abs(a + b * rest)) > 1:
            return np.inf
        together = 4 * (a**2 * rest + a * b * rest**2 + b**2 * rest**3 / 3)
        return float(t * ((t - 1) / t + 1) ** 2 + together)

    found = minimize_scalar(effort, bounds=(0.1, 1.2), method="bounded", options={"xatol": 1e-12})

    def rate(x: Any, u: Any, side: int) -> list[Any]:
        return [x[1], u - side, x[3], side]

    ends = np.array([0.0, 1.0, 0.0, 0.0]), np.array([np.nan, 0.0, 1.0, 0.0])
    normal = np.array([0.0, 1.0, 0.0, -1.0])
    return Switched("block on a sled", *ends, duration, rate, normal, 0.0, float(found.fun))


def lift() -> Switched:
    """Return a mass of 1 kg lifted from a floor to 1 m within 2 s.

    It waits, then rises for sqrt(6 x / g), its force linear in time. The floor is one of speeds,
    100 N against any downwards: it would hold the mass in the air too, which gains nothing.
    """
    optimum = 48 * (WEIGHT / 6) ** 1.5

    def rate(x: Any, u: Any, side: int) -> list[Any]:
        return [x[1], u - WEIGHT if side > 0 else u - WEIGHT + 100]

    ends = np.zeros(2), np.array([1.0, np.nan])
    return Switched("mass on a floor", *ends, 2.0, rate, np.array([0.0, 1.0]), 0.0, optimum)


def reversing() -> Switched:
    """Return a block that begins backwards."""
    return block("block that turns round", -1.0, 2.0, 1.0)


def resting() -> Switched:
    """Return a block with more time than it is worth to move."""
    return block("block that may rest", 0.0, 3.0, 1.5)
