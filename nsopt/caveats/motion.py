"""How far a motion is ahead of its equations, or behind, from what is on record of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nsopt.blocks import blocks
from nsopt.caveats.contacts import late_impacts
from nsopt.caveats.sizes import TINY, is_optimum, smaller, whole_steps
from nsopt.caveats.steps import EXACT, ahead_by_phase, by_phase
from nsopt.contact_modes import IMPACT

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

OFF = 0.045
"""Of the way of the body that moves farthest, how far bodies may be off without a word."""

RESTS = 0.01
"""Of what is squared of velocities and accelerations on average, below which a body rests."""

LEAST = 1e-9
"""Distance [m] that does not count."""

ROWS = 25_000
"""Times that are looked at at once."""

NEEDED = {"body_position", "body_velocity", "body_acceleration"}


JUMP = 0.5
"""Of the range of a torque, a change in one step that is a jump."""


def shifts(data: xr.Dataset) -> Array:
    """Return by how much steps are ahead of the equations of motion, (time - 1,) [s].

    Positions and velocities at the end of a step are compared with integrals of the velocities and
    accelerations on record, of fourth order; the part of the difference along the motion is a shift
    in time, which adds up, while the rest comes and goes. Steps at impacts, and at other changes of
    contact, are left out. On runs with references the sum agrees with the error.
    """
    found = []
    for begin in range(0, data.sizes["time"] - 1, ROWS):
        part = data.isel(time=slice(begin, begin + ROWS + 1))
        if part.sizes["time"] > 2:
            found.append(_shifts(part))
        else:
            found.append(np.zeros(part.sizes["time"] - 1))
    return np.concatenate(found)


def _shifts(data: xr.Dataset) -> Array:
    t, h = data["time"].values, np.diff(data["time"].values)[:, None]
    x, v, a = (
        data[f"body_{name}"].values.reshape(len(t), -1)
        for name in ("position", "velocity", "acceleration")
    )
    counts = ~_changes(data, ~np.isfinite(a).all(axis=1))
    a = np.nan_to_num(a)
    jerk = np.gradient(a, t, axis=0)
    dx = np.diff(x, axis=0) - h * (v[1:] + v[:-1]) / 2 + h**2 * np.diff(a, axis=0) / 12
    dv = np.diff(v, axis=0) - h * (a[1:] + a[:-1]) / 2 + h**2 * np.diff(jerk, axis=0) / 12
    v, a = (v[1:] + v[:-1]) / 2, (a[1:] + a[:-1]) / 2
    w = float(np.sum(a**2)) / max(float(np.sum(v**2)), TINY)  # frequency squared
    size = w * np.sum(v**2, axis=1) + np.sum(a**2, axis=1)
    size = np.maximum(size, RESTS * size.mean())
    along = w * np.sum(dx * v, axis=1) + np.sum(dv * a, axis=1)
    shift: Array = np.where(counts & (size > 0), along / np.maximum(size, TINY), 0.0)
    return shift


def _changes(data: xr.Dataset, unknown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the steps at or beside which contacts change, (time - 1,)."""
    changes = unknown[1:] | unknown[:-1]
    if data.sizes["contact"] and "contact_mode" in data:
        mode = np.nan_to_num(data["contact_mode"].values)
        changes |= np.any(np.diff(mode, axis=0) != 0, axis=1) | np.any(mode[1:] == IMPACT, axis=1)
    beside = changes.copy()
    beside[1:] |= changes[:-1]
    beside[:-1] |= changes[1:]
    return beside


def _ahead(data: xr.Dataset) -> Iterator[str]:
    if is_optimum(data) or data.attrs["scheme_name"] in EXACT or not data.sizes["body"]:
        return
    phase = ahead_by_phase(data)
    if not whole_steps(data) or not {*data.data_vars} >= NEEDED:
        if phase and max(phase.values()) > OFF:
            yield by_phase(data, phase)
        return
    ahead = np.cumsum(shifts(data) - _delays(data))
    speeds = (np.linalg.norm(v, axis=2).max(axis=1) for _, v in blocks(data["body_velocity"]))
    off, way = np.abs(ahead) * np.concatenate([*speeds])[1:], _largest_way(data)
    k = int(np.argmax(off))
    if off[k] <= max(OFF * way, LEAST):
        return
    if phase:
        yield by_phase(data, phase)
        return
    where = "ahead" if ahead[k] > 0 else "behind"
    yield (
        f"at t = {data['time'].values[k + 1]:.4g} s the motion is {where} by some "
        f"{abs(ahead[k]):.2g} s, bodies by {off[k]:.2g} m, {100 * off[k] / way:.2g} % of their "
        f"way, for steps are long beside what moves fast: {smaller(data)}"
    )


def _largest_way(data: xr.Dataset) -> float:
    """Return how far a body moves along an axis at most [m]."""
    ends = [(x.min(axis=0), x.max(axis=0)) for _, x in blocks(data["body_position"])]
    lowest, highest = np.min([x for x, _ in ends], axis=0), np.max([x for _, x in ends], axis=0)
    return float((highest - lowest).max())


def _delays(data: xr.Dataset) -> Array:
    """Return by how much impacts at the end of steps delay the motion, (time - 1,) [s]."""
    delay = np.zeros(data.sizes["time"])
    for _, found in late_impacts(data):
        delay[found.step] = np.maximum(delay[found.step], found.late)
    return delay[1:]


def _come_round(data: xr.Dataset) -> Iterator[str]:
    """Tell of measured angles that jump by a full turn, and the torques of drives with them."""
    for name in map(str, data.data_vars):
        owner, angle, index = name.partition(".angle[")
        torque = f"{owner}.torque[{index}"
        if not angle or torque not in data:
            continue
        jumps = np.abs(np.diff(data[name].values)) > np.pi
        change, most = np.abs(np.diff(data[torque].values)), np.ptp(data[torque].values)
        struck = np.flatnonzero(jumps & (change > JUMP * most))
        if most > 0 and struck.size:
            yield (
                f"the angle that drive {owner!r} measures is in (-pi, pi] and came round at "
                f"t = {data['time'].values[struck[0] + 1]:.4g} s, where its torque jumps by "
                f"{change[struck[0]]:.3g} N m: use relative coordinates, in which the angle of a "
                "joint of the tree counts its turns, or a law of its sine and cosine"
            )


CHECKS = (_ahead, _come_round)
