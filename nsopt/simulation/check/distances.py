"""How far the motions of two runs are from each other, at the same times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.parameter import number

if TYPE_CHECKING:
    import xarray as xr


STEPS = 2  # steps by which an energy may change earlier or later where contacts do, ...
SOON = 5e-3  # ... or this part of the duration, if it is longer
LEAST = 1e-9  # size of a motion at least, over the distance of the farthest body from the origin
NONE = 1e-12  # the same in metres, where all bodies are at the origin


def find_gyration_radii(dynamics: Dynamics, p: Array) -> Array:
    """Return sqrt(tr(I) / 2 m) of each body, (body,) [m]: how far its mass is from its centre."""
    radii = []
    for body in dynamics.restated(p)[0].bodies:
        inertia = np.asarray(number(body.inertia), dtype=float)
        trace = float(inertia.sum() if inertia.ndim == 1 else np.trace(inertia))
        mass = float(number(body.mass))
        radii.append(0.0 if body.point_mass or mass <= 0 else np.sqrt(trace / (2 * mass)))
    return np.array(radii)


def measure_distance(a: xr.Dataset, b: xr.Dataset, radii: Array) -> Array:
    """Return how far bodies are from their places in another run, (time, body) [m].

    The larger of the distance of centres of mass along x, y or z and of the angle between both
    orientations times the radius of gyration.
    """
    moved = np.abs(a["body_position"].values - b["body_position"].values).max(axis=-1)
    p, q = a["body_quaternion"].values, b["body_quaternion"].values
    off: Array = np.maximum(moved, radii * _angle(p, q))
    return off


def measure_size(data: xr.Dataset, radii: Array) -> float:
    """Return how far a body goes at most [m], along one axis or by turning, as in a distance."""
    x, p = data["body_position"].values, data["body_quaternion"].values
    far = np.maximum(np.ptp(x, axis=0).max(axis=-1), radii * _angle(p, p[:1]).max(axis=0))
    extent = np.abs(x).max(initial=0.0) + radii.max(initial=0.0)
    return float(max(far.max(initial=0.0), LEAST * extent, NONE))


def measure_energy_distance(
    t: Array, a: Array, b: Array, changes: NDArray[np.bool_], step: float
) -> Array:
    """Return how far energies (time,) [J] are from those of another run, (time,) [J].

    What changes where contacts do, a little earlier or later, is the same. Nothing else is: an
    energy that falls or swings by itself is off at each time. ``changes`` (time,) tells whether
    contacts strike, close or open between the row before and each row, ``step`` [s] is the longest
    of both runs.
    """
    off: Array = np.abs(a - b)
    k = np.flatnonzero(changes)
    if not k.size:
        return off
    near = max(STEPS * step, SOON * np.ptp(t))
    # How far a is beyond all that b is within this time before and after.
    begin, end = np.searchsorted(t, t - near), np.searchsorted(t, t + near, "right")
    high, low = _find_largest(b, begin, end), -_find_largest(-b, begin, end)
    beyond = np.maximum(np.maximum(a - high, low - a), 0.0)
    # Which rows are near a change of contact: within one of the spans from first to last.
    first, last = np.searchsorted(t, t[k - 1] - near), np.searchsorted(t, t[k] + near, "right")
    opened = np.bincount(first, minlength=len(t) + 1) - np.bincount(last, minlength=len(t) + 1)
    return np.where(np.cumsum(opened[:-1]) > 0, beyond, off)


def _angle(p: Array, q: Array) -> Array:
    """Return the angle between orientations, Euler parameters (..., 4) [rad]."""
    apart = np.minimum(np.linalg.norm(p - q, axis=-1), np.linalg.norm(p + q, axis=-1))
    # |p - q| = 2 sin(angle / 4): by the cosine, p . q, half of the digits would be lost.
    angle: Array = 4 * np.arcsin(np.minimum(apart / 2, np.sqrt(0.5)))
    return angle


def _find_largest(x: Array, begin: NDArray[np.intp], end: NDArray[np.intp]) -> Array:
    """Return the largest of x (n,) in each of the spans [begin, end), (n,).

    As the larger of two overlapping spans of 2^k entries, whose largest are found by doubling.
    """
    level = np.log2(np.maximum(end - begin, 1)).astype(int)
    found, spans = x.copy(), x
    for k in range(level.max(initial=0) + 1):
        at = level == k
        found[at] = np.maximum(spans[begin[at]], spans[end[at] - 2**k])
        spans = np.maximum(spans[: -(2**k) or None], spans[2**k :])
    return found
