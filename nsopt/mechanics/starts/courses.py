"""Checks of joints that move with time, before a run: can the mechanism follow, without jumps.

A course is the function of time that a row of a joint is programmed to follow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import casadi as ca
import numpy as np
import scipy

from nsopt.arrays import Array
from nsopt.mechanics.equations.dynamics import CLOSED, Dynamics
from nsopt.mechanics.starts.closing import flatten
from nsopt.mechanics.starts.redundancy import over_determined
from nsopt.mechanics.starts.start import Start

SAMPLES = 1024  # times at which speeds are compared
SUSPECTS = 8  # intervals between them, of the largest changes, that are halved to find jumps
HALVINGS = 40  # how often: to 1e-12 of an interval, where what is smooth hardly changes
JUMP = 1e-6  # change of speed after all halvings, over the largest speed, that is a jump
LEAST_POSTURES, MOST_POSTURES = 64, 400  # along the courses that are looked for
SPACING = 0.1  # way [m, rad] of the fastest course from one of them to the next
BISECTIONS = 20  # of the interval in which a posture is first missed: to 1e-6 of it
HISTORY = 4  # postures whose rates are extrapolated to the next


def check_courses(d: Dynamics, start: Start, p: Array, duration: float) -> None:
    """Refuse joints that move with time as the mechanism cannot follow.

    Their speeds may not jump; and after each 0.1 m or rad along the courses, 400 times at most, a
    posture in which all joints are closed must be found next to the one before.

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
    now = ca.MX.sym("t")  # the mechanism held at its start
    drift = ca.Function("drift", [now], [d.closure_drift(now, start.q, p)[rows]])

    def speeds(times: Array) -> Array:
        return np.asarray(drift.map(len(times))(times[None])).T

    sampled = speeds(times)
    if not np.all(np.isfinite(sampled)):
        return  # of a course without a value somewhere the run itself tells when it meets that
    for column, row in enumerate(rows):
        _check_jumps(d.closure_names[row], times, sampled, column, speeds)
    closed, missed = (start.t, np.array(start.q)), list[tuple[float, Array]]()
    for t, q, error in _follow(d, start, p, _choose_times(times, sampled)):
        if np.max(np.abs(error)) > CLOSED:
            missed.append((t, error))
        elif not missed:
            closed = t, q
    if missed:
        first = _find_last_posture(d, p, *closed, missed[0][0])
        raise ValueError(_describe_missed(d, start, p, first, missed, rows))


def _find_last_posture(d: Dynamics, p: Array, t: float, q: Array, beyond: float) -> float:
    """Return until when joints close, from ``t`` at ``q``, where they do, to ``beyond``."""
    for _ in range(BISECTIONS):
        middle = (t + beyond) / 2
        nearer, error = _find_posture(d, middle, q, p)
        if np.max(np.abs(error)) > CLOSED:
            beyond = middle
        else:
            t, q = middle, nearer
    return t


def _check_jumps(
    joint: str, times: Array, sampled: Array, column: int, speeds: Callable[[Array], Array]
) -> None:
    """Refuse a speed that jumps: intervals of unusual change are halved, the half kept with more.

    ``sampled`` (n, rows) are the speeds at ``times``, ``column`` that of the joint.
    """
    change = np.abs(np.diff(sampled[:, column]))
    # By how much it changes more in an interval than in the one after or before.
    excess = np.maximum(change - np.append(change[1:], 0), change - np.append(0, change[:-1]))
    k = np.argsort(excess)[-SUSPECTS:]
    a, b = times[k], times[k + 1]
    for _ in range(HALVINGS):
        middle = (a + b) / 2
        at_a, at_middle, at_b = (speeds(t)[:, column] for t in (a, middle, b))
        early = np.abs(at_middle - at_a) > np.abs(at_b - at_middle)
        a, b = np.where(early, a, middle), np.where(early, middle, b)
    jumps = np.abs(speeds(b) - speeds(a))[:, column]
    if np.any(jumps > JUMP * max(np.max(np.abs(sampled[:, column])), JUMP)):
        worst = int(np.argmax(jumps))
        raise ValueError(
            f"the speed of joint {joint!r} jumps by {jumps[worst]:.3g} (m/s or rad/s)"
            f" at t = {b[worst]:.6g} s, which takes an infinite force: let it rest there, as a "
            "CornerPath does, or round it off"
        )


def _choose_times(times: Array, sampled: Array) -> Iterator[float]:
    """Yield times from the start on, by equal ways of the fastest course."""
    fastest = np.max(np.abs(sampled), axis=1)
    h = np.diff(times)
    passed = np.append(0.0, np.cumsum((fastest[1:] + fastest[:-1]) / 2 * h))
    count = int(min(max(np.ceil(passed[-1] / SPACING), LEAST_POSTURES), MOST_POSTURES))
    reached = np.linspace(0, min(passed[-1], MOST_POSTURES * SPACING), count + 1)
    yield from np.interp(reached, passed, times) if passed[-1] > 0 else times[:1]


def _follow(
    d: Dynamics, start: Start, p: Array, times: Iterator[float]
) -> Iterator[tuple[float, Array, Array]]:
    """Yield times, postures that follow the courses and what they leave open of the joints (nc,).

    Each is looked for from where the rates of those before lead, and has least rates itself.
    """
    q, past = np.array(start.q), deque[tuple[float, Array]](maxlen=HISTORY)  # times, rates (nv,)
    for t in times:
        if len(past) > 1 and t - past[-1][0] > 2 * (past[-1][0] - past[-2][0]):
            past = deque([past[-1]], maxlen=HISTORY)  # too far ahead for a polynomial
        if past:
            ahead = np.asarray(d.retract(q, _extrapolate(past, t))).ravel()
            if np.max(np.abs(flatten(d.closure(t, ahead, p)))) < SPACING / 10:
                q = ahead
            else:
                past.clear()
        q, error = _find_posture(d, t, q, p)
        if np.max(np.abs(error)) > CLOSED:
            past.clear()
        C, drift = (np.asarray(f(t, q, p)) for f in (d.closure_matrix, d.closure_drift))
        past.append((t, -np.linalg.pinv(C, rcond=1e-9) @ drift.ravel()))
        yield t, q, error


def _extrapolate(past: deque[tuple[float, Array]], t: float) -> Array:
    """Return the move (nv,) until t of rates known at times before, by Adams and Bashforth."""
    times, rates = (np.array(x) for x in zip(*past, strict=True))
    h = t - times[-1]
    powers = np.arange(len(times))
    weights = np.linalg.solve(
        np.vander((times - times[-1]) / h, increasing=True).T, 1 / (powers + 1)
    )
    return np.asarray(h * weights @ rates)


def _find_posture(d: Dynamics, t: float, q: Array, p: Array) -> tuple[Array, Array]:
    """Return the coordinates next to q in which joints are least open, and by how much (nc,).

    By Gauss-Newton while it closes them further, else by SciPy's least squares.
    """
    error = flatten(d.closure(t, q, p))
    for _ in range(20):
        if np.max(np.abs(error)) < CLOSED / 10:
            return q, error
        C = np.asarray(d.closure_matrix(t, q, p))
        move = -np.linalg.pinv(C, rcond=1e-9) @ error
        moved = np.asarray(d.retract(q, move)).ravel()
        moved_error = flatten(d.closure(t, moved, p))
        if not np.max(np.abs(moved_error)) < np.max(np.abs(error)):
            break
        q, error = moved, moved_error
    else:
        return q, error

    def residual(move: Array) -> Array:
        return flatten(d.closure(t, np.asarray(d.retract(q, move)).ravel(), p))

    still = np.zeros(d.nv)
    found = scipy.optimize.least_squares(residual, still, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    return np.asarray(d.retract(q, found.x)).ravel(), np.asarray(found.fun)


def _describe_missed(
    d: Dynamics,
    start: Start,
    p: Array,
    first: float,
    missed: list[tuple[float, Array]],
    rows: list[int],
) -> str:
    """Return in words which course is out of reach, given times and residuals of open joints.

    Up to the time ``first`` [s] they close.
    """
    error = missed[0][1]
    worst = d.closure_names[rows[int(np.argmax(np.abs(error[rows])))]]
    t, far = max(((t, float(np.linalg.norm(x))) for t, x in missed), key=lambda x: x[1])
    off = f"from t = {first:.6g} s on it would be off, by {far:.3g} m (or rad) at t = {t:.6g} s"
    if text := over_determined(d, start.t, start.q, p):
        return f"{text}: {off}"
    return (
        f"the course of joint {worst!r} is out of reach: {off}; move it, or start from another "
        "posture"
    )
