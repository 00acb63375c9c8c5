"""How errors of steps grow in a motion with one degree of freedom, from what is on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

SLOW = 0.3
"""Speed, over its root mean square, from which on the change of a force along the path follows from
its change in time."""


class Path(NamedTuple):
    """The path of the body that moves farthest."""

    body: int
    along: Array  # (time, 3), unit tangent, which does not turn round where the body does
    speed: Array  # (time,) [m/s] along it
    growth: Array  # (time,) [1/s^2] of the acceleration along the path, by its length
    mass: Array  # (time,) [kg] that the mechanism has as moved along this path


def find_path(data: xr.Dataset) -> Path:
    """Return the path from positions, velocities and accelerations on record."""
    t, x, v = (data[name].values for name in ("time", "body_position", "body_velocity"))
    body = int(np.argmax(np.linalg.norm(np.ptp(x, axis=0), axis=-1)))
    v, a = v[:, body], np.nan_to_num(data["body_acceleration"].values[:, body])
    along = v / np.maximum(np.linalg.norm(v, axis=1), np.finfo(float).tiny)[:, None]
    back = np.sum(along[1:] * along[:-1], axis=1) < 0
    along[1:] *= np.cumprod(np.where(back, -1.0, 1.0))[:, None]
    speed, grows = np.sum(v * along, axis=1), np.gradient(np.sum(a * along, axis=1), t)
    fast = np.abs(speed) > SLOW * np.sqrt(np.mean(speed**2))
    if not fast.any():
        return Path(body, along, speed, 0 * speed, 0 * speed)
    growth = np.interp(t, t[fast], grows[fast] / speed[fast])
    energy = 2 * data["kinetic_energy"].values[fast]
    return Path(body, along, speed, growth, np.interp(t, t[fast], energy / speed[fast] ** 2))


def carry_errors(data: xr.Dataset, dx: Array, dv: Array, gain: Array | None, way: float) -> Array:
    """Return by how much a body is off along its path [m], (time - 1,).

    What steps add to its place and speed follows its equation of motion, linearised, with a force
    that depends on the place: so it grows where the body lingers on a summit. Once the body is off
    by as far as it moves, nothing more is known.

    Parameters
    ----------
    dx, dv : (time - 1, body, 3)
        What steps add to their equations [m, m/s].
    gain : (time - 1,), optional
        Energy that each step adds [J], which tells the speed better than `dv` where it is known.
    way : float
        How far it moves [m].
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
        kicks = gain / np.where(fast, mass, 1.0) + a * ds
        du = np.where(fast, kicks / np.where(fast, u, 1.0), du)
    root = np.sqrt(((path.growth[1:] + path.growth[:-1]) / 2).astype(complex))
    keeps = np.cosh(root * h).real
    moves = (h * np.sinc(1j * root * h / np.pi)).real
    turns = (root**2).real * moves
    s, u, off = 0.0, 0.0, np.zeros(len(h))
    for k in range(len(h)):
        s, u = keeps[k] * s + moves[k] * u + ds[k], turns[k] * s + keeps[k] * u + du[k]
        off[k] = s
        if abs(s) > way:
            off[k:] = way
            break
    largest: Array = np.abs(off) * np.abs(path.along[1:]).max(axis=1)
    return largest
