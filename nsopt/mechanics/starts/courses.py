"""Joints that move with time, looked at before a run: can the mechanism follow, without jerks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import casadi as ca
import numpy as np
import scipy
from numpy.typing import NDArray

from nsopt.mechanics.equations.dynamics import CLOSED, Dynamics
from nsopt.mechanics.starts.redundancy import over_determined
from nsopt.mechanics.starts.start import Start

Array = NDArray[np.float64]

SAMPLES = 1024
"""Times at which speeds are compared."""

SUSPECTS = 8
"""Of the intervals between them, those that are looked at closely."""

HALVINGS = 40

JUMP = 1e-6
"""Of the largest speed, the change that counts as a jump after all halvings."""

MOST = 400
"""Postures on the way that are looked for."""

NEAR = 0.1
"""Way [m, rad] from one of them to the next."""

PAST = 4
"""Postures before it that tell where to look for the next."""


def check_courses(d: Dynamics, start: Start, p: Array, duration: float) -> None:
    """Refuse joints that move with time as the mechanism cannot follow.

    Their speeds may not jump; and at up to 400 times, as far as steps of 0.1 m or rad along the
    courses lead, a posture that keeps all joints must be found next to the one before.

    Raises
    ------
    ValueError
        Naming the joint and the time; where it is out of reach by how much, or how many freedoms
        there are if more is programmed.
    """
    rows = d.timed_rows
    if not rows:
        return
    times = start.t + duration * np.linspace(0, 1, SAMPLES + 1)
    speeds = _speeds(d, start, p, rows)
    sampled = speeds(times)
    if not np.all(np.isfinite(sampled)):
        return  # the step that meets it says so
    for column, row in enumerate(rows):
        _check_jumps(d.closure_names[row], times, sampled, column, speeds)
    missed = list[tuple[float, Array]]()
    for t, error in _errors(d, start, p, _stations(times, sampled)):
        if np.max(np.abs(error)) > CLOSED:
            missed.append((t, error))
    if missed:
        raise ValueError(_out_of_reach(d, start, p, missed, rows))


def _speeds(d: Dynamics, start: Start, p: Array, rows: list[int]) -> Callable[[Array], Array]:
    """Return the speeds (n, rows) of courses at times (n,), the mechanism at its start."""
    t = ca.MX.sym("t")
    drift = ca.Function("drift", [t], [d.closure_drift(t, start.q, p)[rows]])
    return lambda times: np.asarray(drift.map(len(times))(times[None])).T


def _check_jumps(
    joint: str, times: Array, sampled: Array, column: int, speeds: Callable[[Array], Array]
) -> None:
    change = np.abs(np.diff(sampled[:, column]))
    bend = np.maximum(change - np.append(change[1:], 0), change - np.append(0, change[:-1]))
    k = np.argsort(bend)[-SUSPECTS:]
    a, b = times[k], times[k + 1]
    for _ in range(HALVINGS):
        middle = (a + b) / 2
        at_a, at_middle, at_b = (speeds(t)[:, column] for t in (a, middle, b))
        early = np.abs(at_middle - at_a) > np.abs(at_b - at_middle)
        a, b = np.where(early, a, middle), np.where(early, middle, b)
    left = np.abs(speeds(b) - speeds(a))[:, column]
    if np.any(left > JUMP * max(np.max(np.abs(sampled[:, column])), JUMP)):
        worst = int(np.argmax(left))
        raise ValueError(
            f"the speed of joint {joint!r} jumps by {left[worst]:.3g} (m/s or rad/s)"
            f" at t = {b[worst]:.6g} s, which takes an infinite force: let it rest there, as a "
            "CornerPath does, or round it off"
        )


def _stations(times: Array, sampled: Array) -> Iterator[float]:
    """Yield times from the start on, as close as courses are fast."""
    way = np.max(np.abs(sampled), axis=1)
    h = np.diff(times)
    passed = np.append(0.0, np.cumsum((way[1:] + way[:-1]) / 2 * h))
    count = int(min(max(np.ceil(passed[-1] / NEAR), 64), MOST))
    reached = np.linspace(0, min(passed[-1], MOST * NEAR), count + 1)
    yield from np.interp(reached, passed, times) if passed[-1] > 0 else times[:1]


def _errors(
    d: Dynamics, start: Start, p: Array, stations: Iterator[float]
) -> Iterator[tuple[float, Array]]:
    """Yield each time and what postures that follow the courses leave open of the joints (nc,).

    Each is looked for from where the least rates that keep the joints lead from the one before.
    """
    q, past = np.array(start.q), deque[tuple[float, Array]](maxlen=PAST)
    for t in stations:
        if len(past) > 1 and t - past[-1][0] > 2 * (past[-1][0] - past[-2][0]):
            past = deque([past[-1]], maxlen=PAST)  # too far ahead for a polynomial
        if past:
            ahead = np.asarray(d.retract(q, _move(past, t))).ravel()
            if np.max(np.abs(_closure(d, t, ahead, p))) < NEAR / 10:
                q = ahead
            else:
                past.clear()
        q, error = _posture(d, t, q, p)
        if np.max(np.abs(error)) > CLOSED:
            past.clear()
        C, drift = (np.asarray(f(t, q, p)) for f in (d.closure_matrix, d.closure_drift))
        past.append((t, -np.linalg.pinv(C, rcond=1e-9) @ drift.ravel()))
        yield t, error


def _move(past: deque[tuple[float, Array]], t: float) -> Array:
    """Return the move (nv,) until t of rates known at times before, by Adams and Bashforth."""
    times, rates = (np.array(x) for x in zip(*past, strict=True))
    h = t - times[-1]
    powers = np.arange(len(times))
    weights = np.linalg.solve(
        np.vander((times - times[-1]) / h, increasing=True).T, 1 / (powers + 1)
    )
    return np.asarray(h * weights @ rates)


def _posture(d: Dynamics, t: float, q: Array, p: Array) -> tuple[Array, Array]:
    """Return the coordinates next to q that keep the joints best, and what is left (nc,)."""
    error = _closure(d, t, q, p)
    for _ in range(20):
        if np.max(np.abs(error)) < CLOSED / 10:
            return q, error
        C = np.asarray(d.closure_matrix(t, q, p))
        move = -np.linalg.pinv(C, rcond=1e-9) @ error
        moved = np.asarray(d.retract(q, move)).ravel()
        left = _closure(d, t, moved, p)
        if not np.max(np.abs(left)) < np.max(np.abs(error)):
            break
        q, error = moved, left
    else:
        return q, error

    def residual(move: Array) -> Array:
        return _closure(d, t, np.asarray(d.retract(q, move)).ravel(), p)

    still = np.zeros(d.nv)
    found = scipy.optimize.least_squares(residual, still, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    return np.asarray(d.retract(q, found.x)).ravel(), np.asarray(found.fun)


def _closure(d: Dynamics, t: float, q: Array, p: Array) -> Array:
    return np.asarray(d.closure(t, q, p)).ravel()


def _out_of_reach(
    d: Dynamics, start: Start, p: Array, missed: list[tuple[float, Array]], rows: list[int]
) -> str:
    first, error = missed[0]
    worst = d.closure_names[rows[int(np.argmax(np.abs(error[rows])))]]
    t, far = max(((t, float(np.linalg.norm(x))) for t, x in missed), key=lambda x: x[1])
    off = f"from t = {first:.6g} s on it would be off, by {far:.3g} m (or rad) at t = {t:.6g} s"
    if text := over_determined(d, start.t, start.q, p):
        return f"{text}: {off}"
    return (
        f"the course of joint {worst!r} is out of reach: {off}; move it, or start from another "
        "posture"
    )
