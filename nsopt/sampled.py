"""An optimal motion at times between its nodes, by the polynomials of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.checks import numbers, positive
from nsopt.hold import Hold

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

SAME = 1e-9
"""Of a sampling interval, how far the last sample may be from the end and count as that."""

AT_REST = 1e-9
"""Part of the largest speed of a joint up to which it is at rest: what round-off leaves of zero."""

PARTS: Array = (1 - np.cos(np.pi * np.arange(9) / 8)) / 2
"""Of a step, where its accelerations, drives and inputs are on record: Chebyshev's points."""

THREE = (0, 4, 8)
"""Of these the start, the middle and the end."""

_OTHERS = np.array([[k for k in range(len(PARTS)) if k != j] for j in range(len(PARTS))])
"""For each part the others, where its Lagrange polynomial is zero."""


def lagrange(s: Array) -> Array:
    """Return the shares of the parts of a step in a polynomial through them, (n, parts).

    Parameters
    ----------
    s : (n,)
        Part of the step that has passed.
    """
    off = s[:, None, None] - PARTS[_OTHERS]
    shares: Array = np.prod(off / (PARTS[:, None] - PARTS[_OTHERS]), axis=2)
    return shares


def within(values: Array, s: Array) -> Array:
    """Return the polynomials through values at the parts of steps, (n, k).

    Parameters
    ----------
    values : (n, parts, k)
    s : (n,)
        Part of the step that has passed.
    """
    found: Array = np.einsum("np,npk->nk", lagrange(s), values)
    return found


def quadratic(values: Sequence[Array] | Array, s: float | Array) -> Array:
    """Return the parabola through three values at 0, 1/2 and 1, evaluated at s."""
    a, b, c = values
    value: Array = a * (2 * s - 1) * (s - 1) + 4 * b * s * (1 - s) + c * s * (2 * s - 1)
    return value


class TurnEntries(NamedTuple):
    """The entries of q and v of a rotation: Euler parameters, angular velocity in body axes."""

    q: slice
    v: slice


def turns_in(q_names: Sequence[str], v_names: Sequence[str]) -> tuple[TurnEntries, ...]:
    """Return the rotations among coordinates and velocities of these names, in order."""
    firsts = [k for k, name in enumerate(q_names) if name.endswith(".e0")]
    rates = [k for k, name in enumerate(v_names) if name.endswith(".wx")]
    pairs = zip(firsts, rates, strict=True)
    return tuple(TurnEntries(slice(i, i + 4), slice(j, j + 3)) for i, j in pairs)


def states(
    q: Array, v: Array, a: Array, h: Array, s: Array, turns: Sequence[TurnEntries] = ()
) -> tuple[Array, Array]:
    """Return coordinates and velocities within steps, integrals of parabolas of accelerations.

    Rotations by the first two terms of Magnus, of fourth order, as `Collocation` has them.

    Parameters
    ----------
    q, v : (n, nq), (n, nv)
        At the starts of the steps.
    a : (n, 3, nv)
        Accelerations at start, middle and end.
    h, s : (n,)
        Length of the step, and the part of it that has passed.
    turns : sequence of TurnEntries
        The rotations among them.
    """
    first, x, dt = a[:, 0], s[:, None], h[:, None]
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


def dry(data: xr.Dataset, k: NDArray[np.intp], s: Array) -> Array:
    """Return sizes of dry friction in steps k (n,), of which s (n,) has passed, (n, nv).

    On straight lines between the parts of a step; where a joint is at rest at one of these, that of
    the next part of the step.
    """
    size = np.abs(data["step_friction"].values[1:])
    for part, near in ((0, 1), (-1, -2), *((j, j - 1) for j in range(1, len(PARTS) - 1))):
        size[:, part] = np.where(size[:, part] > size[:, near] / 2, size[:, part], size[:, near])
    i = np.clip(np.searchsorted(PARTS, s, side="right") - 1, 0, len(PARTS) - 2)
    share = ((s - PARTS[i]) / (PARTS[i + 1] - PARTS[i]))[:, None]
    found: Array = (1 - share) * size[k, i] + share * size[k, i + 1]
    return found


def _directions(data: xr.Dataset, v: Array) -> Array:
    """Return the signs of velocities (n, nv), zero at rest."""
    resting = np.abs(v) <= AT_REST * np.abs(data["v"].values).max(axis=0)
    return np.where(resting, 0.0, np.sign(v))


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
    at = _times(data["time"].values, dt, times)
    return _at(data, at) if hold is None else _sample_optimum(data, at, hold)


def _at(data: xr.Dataset, at: Array) -> xr.Dataset:
    """Return an optimal motion at times within it."""
    import xarray as xr

    t = data["time"].values
    k = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    h = np.diff(t)[k]
    s = (at - t[k]) / h
    a, drive, inputs = (
        data[name].values[1:][k] for name in ("step_acceleration", "step_drive", "step_input")
    )
    now = s[:, None]
    a = a[:, THREE]
    turns = turns_in(
        [str(x) for x in data["q_name"].values], [str(x) for x in data["v_name"].values]
    )
    q, v = states(data["q"].values[k], data["v"].values[k], a, h, s, turns)
    rubbing = 0.0 if "step_friction" not in data else _directions(data, v) * dry(data, k, s)
    angle, rate = (data[x].attrs for x in ("q", "v"))
    return xr.Dataset(
        {
            "q": (("time", "q"), q, angle),
            "v": (("time", "v"), v, rate),
            "a": (("time", "v"), quadratic(a.transpose(1, 0, 2), now), {"units": "m/s^2, rad/s^2"}),
            "tau": (("time", "v"), within(drive, s) + rubbing, {"units": "N, N m"}),
            "input": (
                ("time", "input_name"),
                within(inputs, s),
                {"units": ""},
            ),
        },
        {"time": ("time", at, {"units": "s"})}
        | {name: data[name] for name in ("q_name", "v_name", "input_name")},
        {"title": data.attrs["title"], "completed": data.attrs["completed"]},
    )


def _sample_optimum(data: xr.Dataset, at: Array, hold: Hold) -> xr.Dataset:
    """Return an optimal motion at times within it, with forces and inputs for a controller."""
    if len(at) < 2 or not np.all(np.diff(at) > 0):
        raise ValueError(f"times must rise, two or more, for a {type(hold).__name__}")
    motion = _at(data, at)
    points, weights = _quadrature(_cuts(data, at, motion["v"].values))
    within_steps = _at(data, points)
    rows = {
        name: motion[name].copy(data=hold.rows(at, points, weights, within_steps[name].values))
        for name in ("tau", "input")
    }
    return motion.assign(rows).assign_attrs(hold=repr(hold))


def _cuts(data: xr.Dataset, at: Array, v: Array) -> Array:
    """Return the times between which forces have no kinks and no jumps, those of rows among them.

    Dry friction jumps where a joint turns round between rows.
    """
    t = data["time"].values
    parts = (t[:-1, None] + np.diff(t)[:, None] * PARTS).ravel()
    cuts = [at, parts[(parts > at[0]) & (parts < at[-1])]]
    if "step_friction" in data:
        row, joint = np.nonzero(v[:-1] * v[1:] < 0)
        slope = (v[row + 1, joint] - v[row, joint]) / np.diff(at)[row]
        turn = at[row] - v[row, joint] / slope  # by a chord, then by what that is off
        turn -= _at(data, turn)["v"].values[np.arange(len(turn)), joint] / slope
        cuts.append(np.clip(turn, at[row], at[row + 1]))
    found: Array = np.unique(np.concatenate(cuts))
    return found


def _quadrature(cuts: Array) -> tuple[Array, Array]:
    """Return points and weights [s] of Gauss between cuts, exact for polynomials of degree 9."""
    points, weights = np.polynomial.legendre.leggauss(5)
    middle, half = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
    return (middle[:, None] + half[:, None] * points).ravel(), np.outer(half, weights).ravel()


def _times(t: Array, dt: float | None, times: ArrayLike | None) -> Array:
    """Return the times asked for, checked: every dt from the first on with the last, or as given.

    Raises
    ------
    ValueError
    """
    if (dt is None) == (times is None):
        raise ValueError("sample takes either dt [s] or times=[...] [s]")
    if dt is not None:
        step = positive("dt of sample", dt)
        even = t[0] + step * np.arange(int((t[-1] - t[0]) / step * (1 + SAME)) + 1)
        return np.append(even[even < t[-1] - SAME * step], t[-1])
    at = np.atleast_1d(numbers("times", times))
    if not np.all((at >= t[0]) & (at <= t[-1])):
        raise ValueError(
            f"times must be within the motion, {t[0]:g} to {t[-1]:g} s, got {at.min():g} to "
            f"{at.max():g} s"
        )
    return at
