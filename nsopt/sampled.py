"""An optimal motion at times between its nodes, by the polynomials of its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.arrays import Array
from nsopt.checks import numbers, positive
from nsopt.hold import Hold

if TYPE_CHECKING:
    import xarray as xr

SAME = 1e-9
"""Distance of a sample from the end, over the interval between samples, up to which it is there."""

AT_REST = 1e-9
"""Speed of a joint, over its largest, up to which it is at rest: what round-off leaves of zero."""

PARTS: Array = (1 - np.cos(np.pi * np.arange(9) / 8)) / 2
"""Shares of a step at which its accelerations, drives and inputs are on record: Chebyshev's points.
The nine are called the parts of a step."""

THREE = (0, 4, 8)  # which of the parts are the start, the middle and the end

_OTHERS = np.array([[k for k in range(len(PARTS)) if k != j] for j in range(len(PARTS))])
"""For each part the others, where its Lagrange polynomial is zero, (parts, parts - 1)."""


def interpolate_columns(times: Array, known: Array, values: Array) -> Array:
    """Return values (n, k) at times (n,), linear between those (m, k) at ``known`` ones (m,)."""
    columns = [np.interp(times, known, x) for x in values.T]
    return np.column_stack([np.zeros((len(times), 0)), *columns])  # also of no columns


def lagrange(s: Array) -> Array:
    """Return the Lagrange polynomials of the parts at shares s (n,) of a step, (n, parts)."""
    factors = (s[:, None, None] - PARTS[_OTHERS]) / (PARTS[:, None] - PARTS[_OTHERS])
    polynomials: Array = np.prod(factors, axis=2)
    return polynomials


def interpolate_parts(values: Array, s: Array) -> Array:
    """Return polynomials through values (n, parts, k) of steps at shares s (n,), (n, k)."""
    return np.asarray(np.einsum("np,npk->nk", lagrange(s), values))


def quadratic(values: Sequence[Array] | Array, s: float | Array) -> Array:
    """Return the parabola through three values at 0, 1/2 and 1, evaluated at s."""
    a, b, c = values
    value: Array = a * (2 * s - 1) * (s - 1) + 4 * b * s * (1 - s) + c * s * (2 * s - 1)
    return value


class TurnEntries(NamedTuple):
    """The entries of q and v of a rotation: Euler parameters, angular velocity in body axes."""

    q: slice
    v: slice


def find_turns_by_name(q_names: Sequence[str], v_names: Sequence[str]) -> tuple[TurnEntries, ...]:
    """Return the rotations among coordinates and velocities of these names, in order."""
    firsts = [k for k, name in enumerate(q_names) if name.endswith(".e0")]
    rates = [k for k, name in enumerate(v_names) if name.endswith(".wx")]
    pairs = zip(firsts, rates, strict=True)
    return tuple(TurnEntries(slice(i, i + 4), slice(j, j + 3)) for i, j in pairs)


def integrate_accelerations(
    q: Array, v: Array, a: Array, h: Array, s: Array, turns: Sequence[TurnEntries] = ()
) -> tuple[Array, Array]:
    """Return coordinates and velocities within steps, integrals of parabolas of accelerations.

    Steps of lengths h (n,) [s], of which shares s (n,) have passed, start at q (n, nq) and v
    (n, nv) and have accelerations a (n, 3, nv) at start, middle and end. Rotations, ``turns``, are
    by the first two terms of Magnus' series, of fourth order, as in `Collocation`.
    """
    first, x, dt = a[:, 0], s[:, None], h[:, None]
    # The parabola is first + slope x + bend x^2.
    slope = -3 * first + 4 * a[:, 1] - a[:, 2]
    bend = 2 * first - 4 * a[:, 1] + 2 * a[:, 2]
    velocity = v + dt * x * (first + x * (slope / 2 + x * bend / 3))
    moved = dt * x * (v + dt * x * (first / 2 + x * (slope / 6 + x * bend / 12)))
    if not turns:
        return q + moved, velocity
    found = np.empty_like(q)
    at_q, at_v = (np.ones(n, dtype=bool) for n in (q.shape[1], v.shape[1]))
    for entries in turns:
        before, now = v[:, entries.v], velocity[:, entries.v]
        vector = moved[:, entries.v] + (dt * x) ** 2 / 12 * np.cross(before, now)
        found[:, entries.q] = _turn(q[:, entries.q], vector)
        at_q[entries.q] = at_v[entries.v] = False
    found[:, at_q] = q[:, at_q] + moved[:, at_v]
    return found, velocity


def _turn(p: Array, vector: Array) -> Array:
    """Return Euler parameters (n, 4) turned by rotation vectors (n, 3) in body axes."""
    half = np.linalg.norm(vector, axis=1, keepdims=True) / 2
    e0, e = np.cos(half), np.sinc(half / np.pi) * vector / 2
    first, rest = p[:, :1], p[:, 1:]
    scalar = first * e0 - np.sum(rest * e, axis=1, keepdims=True)
    return np.hstack([scalar, first * e + e0 * rest + np.cross(rest, e)])


def interpolate_friction(data: xr.Dataset, k: NDArray[np.intp], s: Array) -> Array:
    """Return sizes of dry friction in steps k (n,), of which shares s (n,) have passed, (n, nv).

    On straight lines between the parts of a step; where a joint is at rest at one of these, that of
    the part beside it.
    """
    size = np.abs(data["step_friction"].values[1:])
    # At rest next to none is on record: less than half of that of the part beside it.
    for part, near in ((0, 1), (-1, -2), *((j, j - 1) for j in range(1, len(PARTS) - 1))):
        size[:, part] = np.where(size[:, part] > size[:, near] / 2, size[:, part], size[:, near])
    i = np.clip(np.searchsorted(PARTS, s, side="right") - 1, 0, len(PARTS) - 2)
    share = ((s - PARTS[i]) / (PARTS[i + 1] - PARTS[i]))[:, None]
    found: Array = (1 - share) * size[k, i] + share * size[k, i + 1]
    return found


def sample(
    data: xr.Dataset, dt: float | None, times: ArrayLike | None, hold: Hold | None
) -> xr.Dataset:
    """Return an optimal motion at given times; see `Result.sample`."""
    title = data.attrs["title"]
    if "step_drive" not in data:
        raise ValueError(
            f"{title!r} has no accelerations over its steps, for it is no result of optimize: take "
            "its nodes, or have the simulation record at times=[...]"
        )
    if not np.isfinite(data["step_acceleration"].values[1:]).all():
        raise ValueError(
            f"{title!r} has no accelerations over its steps, for it was found in steps of a scheme "
            "and has rotations of free bodies or ball joints: take its nodes, of more steps where "
            "they are too far apart, or state its contacts by modes of optimize_phases"
        )
    at = choose_times(data["time"].values, dt, times)
    evaluate = partial(_evaluate, data)
    return evaluate(at) if hold is None else hold_forces(at, hold, find_kinks(data, at), evaluate)


def _evaluate(data: xr.Dataset, at: Array) -> xr.Dataset:
    """Return an optimal motion at times (n,) within it."""
    import xarray as xr

    t = data["time"].values
    k = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    h = np.diff(t)[k]
    s = (at - t[k]) / h
    parts = ("step_acceleration", "step_drive", "step_input")
    a, drive, inputs = (data[name].values[1:][k] for name in parts)
    a = a[:, THREE]
    names = ([str(x) for x in data[name].values] for name in ("q_name", "v_name"))
    turns = find_turns_by_name(*names)
    q, v = integrate_accelerations(data["q"].values[k], data["v"].values[k], a, h, s, turns)
    accelerations = quadratic(a.transpose(1, 0, 2), s[:, None])
    friction: Array | float = 0.0
    if "step_friction" in data:
        resting = np.abs(v) <= AT_REST * np.abs(data["v"].values).max(axis=0)
        friction = np.where(resting, 0.0, np.sign(v)) * interpolate_friction(data, k, s)
    return xr.Dataset(
        {
            "q": (("time", "q"), q, data["q"].attrs),
            "v": (("time", "v"), v, data["v"].attrs),
            "a": (("time", "v"), accelerations, {"units": "m/s^2, rad/s^2"}),
            "tau": (("time", "v"), interpolate_parts(drive, s) + friction, {"units": "N, N m"}),
            "input": (("time", "input_name"), interpolate_parts(inputs, s), {"units": ""}),
        },
        {"time": ("time", at, {"units": "s"})}
        | {name: data[name] for name in ("q_name", "v_name", "input_name")},
        {"title": data.attrs["title"], "completed": data.attrs["completed"]},
    )


def hold_forces(
    at: Array,
    hold: Hold,
    kinks: Array,
    evaluate: Callable[[Array], xr.Dataset],
    names: Sequence[str] = ("tau", "input"),
) -> xr.Dataset:
    """Return a motion at times, with forces for a controller that holds them between these.

    Parameters
    ----------
    at : (n,) [s]
    hold : Hold
    kinks : (k,) [s]
        Rising times, ``at`` among them, between which forces are smooth.
    evaluate : callable
        Returns the motion at times.
    names : sequence of str
        Variables of the motion that are held.
    """
    if len(at) < 2 or not np.all(np.diff(at) > 0):
        raise ValueError(f"times must rise, two or more, for a {type(hold).__name__}")
    motion, (points, weights) = evaluate(at), _make_quadrature(kinks)
    within_steps = evaluate(points)
    rows = {
        name: motion[name].copy(data=hold.rows(at, points, weights, within_steps[name].values))
        for name in names
    }
    return motion.assign(rows).assign_attrs(hold=repr(hold))


def find_kinks(data: xr.Dataset, at: Array) -> Array:
    """Return the times between which forces are smooth, those of rows ``at`` among them.

    Dry friction jumps where a joint turns round between rows.
    """
    t = data["time"].values
    parts = (t[:-1, None] + np.diff(t)[:, None] * PARTS).ravel()
    kinks = [at, parts[(parts > at[0]) & (parts < at[-1])]]
    if "step_friction" in data:
        v = _evaluate(data, at)["v"].values
        row, joint = np.nonzero(v[:-1] * v[1:] < 0)
        slope = (v[row + 1, joint] - v[row, joint]) / np.diff(at)[row]
        turn = at[row] - v[row, joint] / slope  # by a chord, then one step of Newton's method
        turn -= _evaluate(data, turn)["v"].values[np.arange(len(turn)), joint] / slope
        kinks.append(np.clip(turn, at[row], at[row + 1]))
    found: Array = np.unique(np.concatenate(kinks))
    return found


def _make_quadrature(kinks: Array) -> tuple[Array, Array]:
    """Return points and weights [s] of Gauss between kinks, exact for polynomials of degree 9."""
    points, weights = np.polynomial.legendre.leggauss(5)
    middle, half = (kinks[1:] + kinks[:-1]) / 2, np.diff(kinks) / 2
    return (middle[:, None] + half[:, None] * points).ravel(), np.outer(half, weights).ravel()


def choose_times(t: Array, dt: float | None, times: ArrayLike | None) -> Array:
    """Return the times asked for, checked: every dt from the first on and the last, or as given."""
    if (dt is None) == (times is None):
        raise ValueError("sample takes either dt [s] or times=[...] [s]")
    if dt is not None:
        step = positive("dt of sample", dt)
        even = t[0] + step * np.arange(int((t[-1] - t[0]) / step * (1 + SAME)) + 1)
        return np.append(even[even < t[-1] - SAME * step], t[-1])
    at = np.atleast_1d(numbers("times", times))
    slack = SAME * (t[-1] - t[0])  # durations of the same motion on another grid differ by as much
    if not np.all((at >= t[0] - slack) & (at <= t[-1] + slack)):
        raise ValueError(
            f"times must be within the motion, {t[0]:g} to {t[-1]:g} s, got {at.min():g} to "
            f"{at.max():g} s"
        )
    return np.clip(at, t[0], t[-1])
