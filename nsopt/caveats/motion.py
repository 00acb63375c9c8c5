"""How far a recorded motion is ahead of its equations, or behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.blocks import blocks
from nsopt.caveats.energy import forces_dissipate, sum_step_losses
from nsopt.caveats.impacts import carry_delays, find_late_impacts
from nsopt.caveats.sizes import (
    TINY,
    USUAL_ORDER,
    find_order,
    has_all_steps,
    is_optimum,
    suggest_shorter,
)
from nsopt.caveats.steps import measure_phase_errors, tell_phase_error
from nsopt.contact_modes import FREE, IMPACT, find_changes

if TYPE_CHECKING:
    import xarray as xr

OFF = 0.05
"""Distance that bodies may be off without a word, over the way of the one that moves farthest."""

RESTS = 0.01  # square of velocities or accelerations, over its mean, below which bodies rest
LEAST = 1e-9  # distance [m] that does not count
ROWS = 25_000  # times whose data are in memory at once

NEEDED = {"body_position", "body_velocity", "body_acceleration"}
"""Variables without which a motion is not judged."""

SLOW = 0.3
"""Speed, over its root mean square, above which the slope of an acceleration along the path is its
rate over the speed; below, the slope is interpolated."""

STRUCK = 0.1
"""Change of a velocity in a step with an impact, over the largest one in it, from which the impact
counts as changing it."""

JUMP = 5.0
"""Change of a torque in a step, over those in the steps beside it, from which it is a jump."""

ROUNDING = 1e-6  # change of a torque, over the largest one, that counts as none


class _Defects(NamedTuple):
    """Errors that single steps make in their equations of motion; zero where contacts change.

    Positions and velocities at the end of a step less integrals of the velocities and accelerations
    on record, of fourth order. All are (time - 1, 3 bodies).
    """

    v: Array  # [m/s] mean of the step
    a: Array  # [m/s^2] mean of the step
    dx: Array  # [m]
    dv: Array  # [m/s]


def _yield_defects(data: xr.Dataset) -> Iterator[_Defects]:
    """Yield the defects of all steps, `ROWS` at a time."""
    for begin in range(0, data.sizes["time"] - 1, ROWS):
        yield _find_defects(data.isel(time=slice(begin, begin + ROWS + 1)))


def _find_defects(data: xr.Dataset) -> _Defects:
    """Return the defects of the steps between some times, by Hermite's quadrature."""
    t, h = data["time"].values, np.diff(data["time"].values)[:, None]
    x, v, a = (
        data[f"body_{name}"].values.reshape(len(t), -1)
        for name in ("position", "velocity", "acceleration")
    )
    counts = ~_find_changes_beside(data, ~np.isfinite(a).all(axis=1))[:, None] & (len(t) > 2)
    a = np.nan_to_num(a)
    jerk = np.gradient(a, t, axis=0) if len(t) > 2 else a
    dx = np.diff(x, axis=0) - h * (v[1:] + v[:-1]) / 2 + h**2 * np.diff(a, axis=0) / 12
    dv = np.diff(v, axis=0) - h * (a[1:] + a[:-1]) / 2 + h**2 * np.diff(jerk, axis=0) / 12
    return _Defects((v[1:] + v[:-1]) / 2, (a[1:] + a[:-1]) / 2, dx * counts, dv * counts)


def measure_shifts(data: xr.Dataset) -> Array:
    """Return by how much steps are ahead of the equations of motion, (time - 1,) [s].

    The part of their defects along the motion is a shift in time, which adds up, while the rest
    comes and goes. On runs with references the sum agrees with the error within a half, and where
    bodies turn at a steady rate within 2 %.
    """
    slowest = 1 / float(np.ptp(data["time"].values))  # [1/s] that the motion may have
    return np.concatenate([_project_on_motion(x, slowest) for x in _yield_defects(data)])


def _project_on_motion(x: _Defects, slowest: float) -> Array:
    """Return the time shift [s] that explains most of the defects, (time - 1,).

    By least squares over places and velocities, the latter over a frequency of the motion [1/s],
    which is at least the slowest one.
    """
    square = float(np.sum(x.a**2)) / max(float(np.sum(x.v**2)), TINY)  # of the mean frequency
    square = max(square, slowest**2)
    size = square * np.sum(x.v**2, axis=1) + np.sum(x.a**2, axis=1)
    size = np.maximum(size, RESTS * size.mean())
    along = square * np.sum(x.dx * x.v, axis=1) + np.sum(x.dv * x.a, axis=1)
    return np.asarray(along / np.maximum(size, TINY))


def measure_shifts_on_path(data: xr.Dataset) -> Array:
    """Return by how much steps are ahead along their path, (time - 1,) [s].

    With one degree of freedom the energy tells how much too fast the motion is at each place; the
    sum agrees with the error within some 5 %. With several it leaves out errors across the path.
    """
    by_place = np.concatenate([_project_on_path(x) for x in _yield_defects(data)])
    gain, kinetic = -sum_step_losses(data), data["kinetic_energy"].values
    gain, kinetic = (gain[1:] + gain[:-1]) / 2, (kinetic[1:] + kinetic[:-1]) / 2
    kinetic = np.maximum(kinetic, max(RESTS * float(kinetic.mean()), TINY))
    # Too fast by dv / v = dE / (2 E), the motion is ahead by that part of the step.
    return np.asarray(by_place + np.diff(data["time"].values) * gain / (2 * kinetic))


def _project_on_path(x: _Defects) -> Array:
    """Return the time shift [s] that explains most of the defects of places, (time - 1,)."""
    square = np.sum(x.v**2, axis=1)
    return np.asarray(np.sum(x.dx * x.v, axis=1) / np.maximum(square, RESTS * square.mean() + TINY))


def _find_changes_beside(data: xr.Dataset, unknown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the steps at or beside which contacts change or something is unknown, (time - 1,)."""
    changes = unknown[1:] | unknown[:-1] | find_changes(data)[1:]
    beside = changes.copy()
    beside[1:] |= changes[:-1]
    beside[:-1] |= changes[1:]
    return beside


def _tell_shift(data: xr.Dataset) -> Iterator[str]:
    """Tell how far bodies are ahead or behind at most; of an error of phase its cause."""
    if is_optimum(data) or find_order(data) > USUAL_ORDER or not data.sizes["body"]:
        return
    phase = measure_phase_errors(data)
    if not has_all_steps(data) or not {*data.data_vars} >= NEEDED:
        if phase and max(phase.values()) > OFF:
            yield tell_phase_error(data, phase)
        return
    way = measure_way(data)
    ahead, off = _estimate_distances(data)
    k = int(np.argmax(np.minimum(off, way)))  # the first of those that are off by the whole way
    if off[k] <= max(OFF * way, LEAST):
        return
    if phase:
        yield tell_phase_error(data, phase)
        return
    where = "ahead" if ahead[k] > 0 else "behind"
    yield (
        f"at t = {data['time'].values[k + 1]:.4g} s the motion is {where} by some "
        f"{abs(ahead[k]):.2g} s, bodies by {off[k]:.2g} m, {100 * off[k] / way:.2g} % of their "
        f"way, for steps are long beside what moves fast: {suggest_shorter(data)}"
    )


def _estimate_distances(data: xr.Dataset) -> tuple[Array, Array]:
    """Return by how much the motion is ahead [s], and bodies off along an axis [m], (time - 1,)."""
    ahead = np.cumsum(measure_shifts(data))
    if _touches(data):
        return _estimate_with_delays(data, ahead)
    speeds = (np.abs(v).max(axis=(1, 2)) for _, v in blocks(data["body_velocity"]))
    speed = np.concatenate([*speeds])[1:]
    # One degree of freedom, and nothing from outside depends on time.
    one_way = data.attrs.get("degrees_of_freedom") == 1 and not np.any(data["external_work"].values)
    estimate = _estimate_on_one_way if one_way else _estimate_on_several_ways
    off = estimate(data, np.abs(ahead) * speed, speed)
    return np.sign(ahead) * off / np.maximum(speed, TINY), off


def _estimate_on_one_way(data: xr.Dataset, by_shift: Array, speed: Array) -> Array:
    """Return by how much bodies with one degree of freedom are off [m], (time - 1,).

    Each estimate may be far too large or too small where the motion lingers: it is the median of
    three, and where forces dissipate, so that the energy tells nothing, the geometric mean of two.
    """
    if forces_dissipate(data):
        ratio = float(_carry_defects(data, None).max()) / max(float(by_shift.max()), TINY)
        return np.asarray(by_shift * np.sqrt(ratio))
    by_path = np.abs(np.cumsum(measure_shifts_on_path(data))) * speed
    carried = _carry_defects(data, -np.diff(sum_step_losses(data)))
    return sorted((by_shift, by_path, carried), key=lambda x: float(x.max()))[1]


def _estimate_on_several_ways(data: xr.Dataset, by_shift: Array, speed: Array) -> Array:
    """Return by how much bodies are off [m], (time - 1,): by shifts in time, or less by the path.

    The path leaves out errors across it, so that the mean of both is taken.
    """
    if forces_dissipate(data):
        return by_shift
    by_path = np.abs(np.cumsum(measure_shifts_on_path(data))) * speed
    ratio = float(by_path.max()) / max(float(by_shift.max()), TINY)
    return by_shift * (1 + min(ratio, 1.0)) / 2


def _estimate_with_delays(data: xr.Dataset, ahead: Array) -> tuple[Array, Array]:
    """Return by how much the motion is ahead [s], and bodies off [m], where contacts act.

    An impact delays what moves along the axes in which it changes velocities.
    """
    v, delay = data["body_velocity"].values, _measure_delays(data)
    changes = np.abs(np.diff(v, axis=0))
    most = changes.max(axis=(1, 2), keepdims=True)
    late = np.cumsum(np.where(changes > STRUCK * most, delay[:, None, None], 0), axis=0)
    ahead_of = (ahead[:, None, None] - late).reshape(len(ahead), -1)
    off = np.abs(ahead_of * v[1:].reshape(len(ahead), -1))
    worst = off.argmax(axis=1)[:, None]
    return (
        np.take_along_axis(ahead_of, worst, axis=1)[:, 0],
        np.take_along_axis(off, worst, axis=1)[:, 0],
    )


def _touches(data: xr.Dataset) -> bool:
    """Return whether any contact acts; where modes are not on record, whether there is any."""
    if not data.sizes["contact"] or "contact_mode" not in data:
        return bool(data.sizes["contact"])
    return any(np.any(np.nan_to_num(mode) != FREE) for _, mode in blocks(data["contact_mode"]))


def _carry_defects(data: xr.Dataset, gain: Array | None) -> Array:
    """Return how far bodies are off by the defects of all steps, (time - 1,) [m]."""
    found = [(x.dx, x.dv) for x in _yield_defects(data)]
    dx, dv = (
        np.concatenate(x).reshape(-1, data.sizes["body"], 3) for x in zip(*found, strict=True)
    )
    return _carry_errors(data, dx, dv, gain, measure_way(data))


class _FarthestWay(NamedTuple):
    """The path of the body that moves farthest."""

    body: int
    along: Array  # (time, 3), unit tangent, which does not turn round where the body does
    speed: Array  # (time,) [m/s] along it
    growth: Array  # (time,) [1/s^2] of the acceleration along the path, by its length
    mass: Array  # (time,) [kg] that the mechanism has as moved along this path


def _find_path(data: xr.Dataset) -> _FarthestWay:
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
        return _FarthestWay(body, along, speed, 0 * speed, 0 * speed)
    growth = np.interp(t, t[fast], rate[fast] / speed[fast])
    mass = 2 * data["kinetic_energy"].values[fast] / speed[fast] ** 2
    return _FarthestWay(body, along, speed, growth, np.interp(t, t[fast], mass))


def _carry_errors(data: xr.Dataset, dx: Array, dv: Array, gain: Array | None, way: float) -> Array:
    """Return by how much a body is off along its path [m], (time - 1,).

    The defects ``dx`` [m] and ``dv`` [m/s] (time - 1, body, 3) of its place s and speed u follow
    its linearised equation of motion, s'' = g s with the slope g of its acceleration: they grow
    where g > 0, as on a summit. The energy that steps add, ``gain`` (time - 1,) [J], tells the
    speed better where it is known. Once the body is off by as far as it moves, ``way`` [m], nothing
    more is known.
    """
    path = _find_path(data)
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
    return np.asarray(np.abs(off) * np.abs(path.along[1:]).max(axis=1))


def measure_way(data: xr.Dataset) -> float:
    """Return how far a body moves along an axis at most [m]."""
    ends = [(x.min(axis=0), x.max(axis=0)) for _, x in blocks(data["body_position"])]
    lowest, highest = np.min([x for x, _ in ends], axis=0), np.max([x for _, x in ends], axis=0)
    return float((highest - lowest).max())


def _measure_delays(data: xr.Dataset) -> Array:
    """Return by how much impacts at the end of steps delay the motion, (time - 1,) [s].

    Delays add up. Where something outside goes on at its own times, an impact keeps a part of the
    delays before it alone (`carry_delays`).
    """
    delay, kept = np.zeros(data.sizes["time"]), np.ones(data.sizes["time"])
    for j, x in find_late_impacts(data):
        rebounds = data["contact_mode"].values[x.step, j] == IMPACT
        delay[x.step] = np.maximum(delay[x.step], np.where(rebounds, x.late, 0))
        part = np.minimum(x.rebound / np.maximum(x.speed, TINY), 1)
        kept[x.step] = np.minimum(kept[x.step], np.where(rebounds, part, 1))
    if np.any(data["external_work"].values):
        k = np.flatnonzero(delay)
        delay[k] -= (1 - kept[k]) * carry_delays(delay[k], kept[k])
    return delay[1:]


def _tell_angles_of_one_turn(data: xr.Dataset) -> Iterator[str]:
    """Tell of measured angles that jump by a full turn, and with them the torques of drives."""
    for name in map(str, data.data_vars):
        owner, angle, index = name.partition(".angle")
        torque = f"{owner}.torque{index}"
        if not angle or torque not in data:
            continue
        change = np.abs(np.diff(data[torque].values))
        beside = np.pad(change, 1)
        usual = np.maximum(beside[:-2], beside[2:])  # a law of the sine goes on like this
        turned = np.abs(np.diff(data[name].values)) > np.pi
        jumps = np.flatnonzero(turned & (change > JUMP * usual + ROUNDING * change.max(initial=0)))
        if jumps.size:
            yield (
                f"the angle that {owner!r} measures is of one turn and came round at "
                f"t = {data['time'].values[jumps[0] + 1]:.4g} s, where its torque jumps by "
                f"{change[jumps[0]]:.3g} N m: use relative coordinates, in which the angle of a "
                "joint of the tree counts its turns, or a law of its sine and cosine"
            )


CHECKS = (_tell_angles_of_one_turn,)
RULES = (_tell_shift,)
