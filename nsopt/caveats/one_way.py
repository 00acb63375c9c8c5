"""How errors of steps grow in a motion with one degree of freedom, from its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

SLOW = 0.3
"""Speed, over its root mean square, above which the slope of an acceleration along the path is its
rate over the speed; below it is interpolated."""


class Path(NamedTuple):
    """The path of the body that moves farthest."""

    body: int
    along: Array  # (time, 3), unit tangent, which does not turn round where the body does
    speed: Array  # (time,) [m/s] along it
    growth: Array  # (time,) [1/s^2] of the acceleration along the path, by its length
    mass: Array  # (time,) [kg] that the mechanism has as moved along this path


def find_path(data: xr.Dataset) -> Path:
    """Return the path of the body that moves farthest."""
    t, x, v = (data[name].values for name in ("time", "body_position", "body_velocity"))
    body = int(np.argmax(np.linalg.norm(np.ptp(x, axis=0), axis=-1)))
    v, a = v[:, body], np.nan_to_num(data["body_acceleration"].values[:, body])
    along = v / np.maximum(np.linalg.norm(v, axis=1), np.finfo(float).tiny)[:, None]
    back = np.sum(along[1:] * along[:-1], axis=1) < 0
    along[1:] *= np.cumprod(np.where(back, -1.0, 1.0))[:, None]
    speed, rate = np.sum(v * along, axis=1), np.gradient(np.sum(a * along, axis=1), t)
    fast = np.abs(speed) > SLOW * np.sqrt(np.mean(speed**2))
    if not fast.any():
        return Path(body, along, speed, 0 * speed, 0 * speed)
    growth = np.interp(t, t[fast], rate[fast] / speed[fast])
    mass = 2 * data["kinetic_energy"].values[fast] / speed[fast] ** 2
    return Path(body, along, speed, growth, np.interp(t, t[fast], mass))


def carry_errors(data: xr.Dataset, dx: Array, dv: Array, gain: Array | None, way: float) -> Array:
    """Return by how much a body is off along its path [m], (time - 1,).

    What steps add to its place s and speed u follows its linearised equation of motion, s'' = g s
    with the slope g of its acceleration: it grows where g > 0, as on a summit. Once the body is off
    by as far as it moves, nothing more is known.

    Parameters
    ----------
    dx, dv : (time - 1, body, 3)
        What steps add to their equations [m, m/s].
    gain : (time - 1,), optional
        Energy that each step adds [J], which tells the speed better than `dv` where it is known.
    way : float [m]
        How far the body moves.
    """
    path = find_path(data)
    h = np.diff(data["time"].values)
    along = path.along[1:] + path.along[:-1]
    along /= np.maximum(np.linalg.norm(along, axis=1), np.finfo(float).tiny)[:, None]
    ds, du = (np.sum(x[:, path.body] * along, axis=1) for x in (dx, dv))
    if gain is not None:
        a = np.sum(np.nan_to_num(data["body_acceleration"].values[:, path.body]) * path.along, 1)
        u, a, mass = ((x[1:] + x[:-1]) / 2 for x in (path.speed, a, path.mass))
        fast = (np.abs(u) > SLOW * np.sqrt(np.mean(path.speed**2))) & (mass > 0)
        u_du = gain / np.where(fast, mass, 1.0) + a * ds  # mass u du = gain + mass a ds
        du = np.where(fast, u_du / np.where(fast, u, 1.0), du)
    # The solution of s'' = g s over a step: cosh and sinh of root h, cos and sin where g < 0.
    root = np.sqrt(((path.growth[1:] + path.growth[:-1]) / 2).astype(complex))
    cosh = np.cosh(root * h).real
    s_by_u = (h * np.sinc(1j * root * h / np.pi)).real
    u_by_s = (root**2).real * s_by_u
    s, u, off = 0.0, 0.0, np.zeros(len(h))
    for k in range(len(h)):
        s, u = cosh[k] * s + s_by_u[k] * u + ds[k], u_by_s[k] * s + cosh[k] * u + du[k]
        off[k] = s
        if abs(s) > way:
            off[k:] = way
            break
    largest: Array = np.abs(off) * np.abs(path.along[1:]).max(axis=1)
    return largest
