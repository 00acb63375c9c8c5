"""Caveats of steps in which contacts close, and of long steps beside contacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.caveats.impacts import find_late_impacts
from nsopt.caveats.motion import LEAST, OFF, measure_way
from nsopt.caveats.sizes import TINY, USUAL_ORDER, find_order, has_steps_with, suggest_shorter
from nsopt.contact_modes import FREE, count_rigid, find_changes, find_open

if TYPE_CHECKING:
    import xarray as xr

NEEDED = {"body_position", "body_velocity", "contact_mode"}
"""Variables without which there is no caveat."""

PARTS = 64  # parts of a step at whose ends the ways of bodies are compared

SWINGS = 0.22
"""Root mean square of the angle [rad] by which a body swings in a step, beside contacts, from which
there is a caveat: measured on runs with references, most are wrong above it, few below 0.2."""


def _tell_closing_in_steps(data: xr.Dataset) -> Iterator[str]:
    """Tell of bodies that would not go straight to the end of a step in which a contact closes."""
    if not has_steps_with(data, *NEEDED):
        return
    closes = _find_closings(data)
    steps = np.flatnonzero(closes.any(axis=1))
    if not steps.size:
        return
    least = max(OFF * (way := measure_way(data)), LEAST)
    # A quick estimate leaves few steps, and the first, before which nothing is known.
    steps = steps[(steps == 0) | (_find_largest_distances(data, steps) > least)]
    off = _measure_at_meetings(data, closes, steps)
    if off.size and off[k := int(off.argmax())] > least:
        name = str(data["contact"].values[np.argmax(closes[steps[k]])])
        yield (
            f"contact {name!r} closes within a step (t = {data['time'].values[steps[k] + 1]:.4g} s)"
            f" in which bodies are off by some {off[k]:.2g} m, {100 * off[k] / way:.2g} % of their "
            f"way: {suggest_shorter(data)}"
        )


def _find_closings(data: xr.Dataset) -> NDArray[np.bool_]:
    """Return where rigid contacts close, (time - 1, rigid), also after flights that are short."""
    rigid = count_rigid(data)
    closed = np.nan_to_num(data["contact_mode"].values[:, :rigid]) != FREE
    is_open = find_open(data)[:, :rigid]
    before = ~closed[:-1] | (is_open[:-1] & ~is_open[1:])
    return np.asarray(closed[1:] & before)


def _find_largest_distances(data: xr.Dataset, steps: NDArray[np.int_]) -> Array:
    """Return how far bodies are off the straight ways of steps at most, (n,) [m]."""
    x, v = data["body_position"].values, data["body_velocity"].values
    h = data["h"].values[steps + 1, None, None]
    mean = (x[steps + 1] - x[steps]) / h
    changes = np.abs(v[steps] - mean) + np.abs(v[steps + 1] - mean)
    return np.asarray((h * changes).max(axis=(1, 2)))


class _Motion(NamedTuple):
    """The recorded motion of bodies."""

    h: Array  # (time,) [s]
    x: Array  # (time, body, 3) [m]
    v: Array  # (time, body, 3) [m/s]

    @classmethod
    def of(cls, data: xr.Dataset) -> _Motion:
        return cls(*(data[name].values for name in ("h", "body_position", "body_velocity")))

    def mean(self, k: int) -> Array:
        """Return the mean velocities (body, 3) in the step after time k."""
        return np.asarray((self.x[k + 1] - self.x[k]) / self.h[k + 1])


def _measure_at_meetings(
    data: xr.Dataset, closes: NDArray[np.bool_], steps: NDArray[np.int_]
) -> Array:
    """Return how far bodies are off the straight ways of steps as surfaces meet, (n,) [m].

    When they meet follows from the gaps before, else from where the ways from both ends of the step
    come closest. Surfaces that touch as the run begins meet then: bodies move away all the step.
    """
    motion, met_at, changes = _Motion.of(data), _find_meetings(data), find_changes(data)
    is_open = find_open(data)[:, : closes.shape[1]]
    then_open = np.append(is_open[2:], is_open[-1:], axis=0)
    # Bodies without ideal joints slide on after steps in which contacts close and stay closed.
    slides = ~np.any(closes & then_open, axis=1) & (not data.attrs["ideal_joints"])
    touches = "gap" in data and closes[0].any() and not is_open[0][closes[0]].all()
    off = np.zeros(len(steps))
    for i, k in enumerate(steps.tolist()):
        if k == 0 and touches:
            off[i] = _measure_after_start(data, motion)
            continue
        if k == 0:
            acceleration = _find_accelerations_at_first(data)
        elif not changes[k] or k in met_at:
            acceleration = (motion.v[k] - motion.v[k - 1]) / motion.h[k]
        else:  # the contact that changed in the step before may have changed the velocity at once
            acceleration = np.zeros_like(motion.v[k])
        if k in met_at:
            off[i] = _measure_until(motion, k, acceleration, met_at[k], slides=bool(slides[k]))
        else:
            off[i] = _measure_until_nearest(motion, k, acceleration)
    return off


def _find_meetings(data: xr.Dataset) -> dict[int, float]:
    """Return how long [s] after the beginning of steps surfaces first meet, where gaps tell it."""
    found: dict[int, float] = {}
    for _, late in find_late_impacts(data):
        for k, met_at in zip(late.step.tolist(), late.met.tolist(), strict=True):
            found[k - 1] = min(met_at, found.get(k - 1, np.inf))
    return found


def _measure_after_start(data: xr.Dataset, motion: _Motion) -> float:
    """Return how far bodies that touch at first are off the way from the end of the first step."""
    left = motion.h[1] - np.linspace(0, motion.h[1], PARTS + 1)[:, None, None]
    after = motion.x[1] - motion.v[1] * left
    if "body_acceleration" in data:
        after = after + np.nan_to_num(data["body_acceleration"].values[1]) * left**2 / 2
    straight = motion.mean(0) * (motion.h[1] - left)
    return float(np.abs(after - after[0] - straight).max())


def _measure_until(
    motion: _Motion, k: int, acceleration: Array, met_at: float, *, slides: bool
) -> float:
    """Return how far bodies are off [m] until surfaces meet, ``met_at`` [s] into the step."""
    t, v = np.linspace(0, met_at, PARTS + 1)[:, None, None], motion.v
    apart = np.abs((v[k] + acceleration * t / 2 - motion.mean(k)) * t)
    if slides:
        landed = (v[k] + acceleration * met_at / 2) * met_at
        rest = v[k + 1] * (motion.h[k + 1] - met_at)
        apart = np.maximum(apart, np.abs(landed + rest - (motion.x[k + 1] - motion.x[k])))
    return float(apart.max())


def _measure_until_nearest(motion: _Motion, k: int, acceleration: Array) -> float:
    """Return how far bodies are off [m] until the ways from both ends of a step come closest."""
    h, x, v = motion.h[k + 1], motion.x, motion.v
    t = np.linspace(0, h, PARTS + 1)[:, None, None]
    before = x[k] + v[k] * t + acceleration * t**2 / 2
    after = x[k + 1] - v[k + 1] * (h - t)
    met = int(np.argmin(np.sum((before - after) ** 2, axis=(1, 2))))
    straight = x[k] + motion.mean(k) * t
    return float(np.abs(before - straight)[: met + 1].max())


def _find_accelerations_at_first(data: xr.Dataset) -> Array:
    """Return accelerations until an impact that ends the first step, (body, 3) [m/s^2].

    With the speed at the impact by the balance of energy, as if nothing were lost before it.
    """
    x, v = (data[f"body_{name}"].values for name in ("position", "velocity"))
    kinetic, potential = (data[f"{name}_energy"].values for name in ("kinetic", "potential"))
    way, speed = x[1] - x[0], float(np.linalg.norm(v[0]))
    then = float(kinetic[0] + potential[0] - potential[1])  # kinetic energy as surfaces meet
    if kinetic[0] <= 0 or then <= 0 or not speed or not np.any(way):
        return np.zeros_like(way)
    met_at = 2 * float(np.linalg.norm(way)) / (speed * (1 + np.sqrt(then / kinetic[0])))
    return np.asarray(2 * (way / met_at - v[0]) / met_at)


def _tell_swings(data: xr.Dataset) -> Iterator[str]:
    """Tell of bodies that swing far in a step beside contacts, which amplify errors."""
    if not has_steps_with(data, *NEEDED, "body_angular_velocity"):
        return
    if find_order(data) > USUAL_ORDER or not data.attrs["ideal_joints"]:
        return
    modes = data["contact_mode"].values[:, : count_rigid(data)]
    if data.attrs.get("degrees_of_freedom", 0) < 2 or not np.any(np.nan_to_num(modes) != FREE):
        return
    mean = np.sqrt(np.mean(_measure_swings(data) ** 2, axis=0))
    if (worst := float(mean.max())) > SWINGS:
        name = str(data["body"].values[int(mean.argmax())])
        yield (
            f"body {name!r} swings by {worst:.2g} rad a step (root mean square), and contacts "
            "amplify the errors of steps that long: h of "
            f"{data['h'].values[1:].max() * SWINGS / worst / 2:.1g} s or less"
        )


def _measure_swings(data: xr.Dataset) -> Array:
    """Return by what angles bodies swing in each step, (time - 1, body) [rad].

    The smaller one of the turn of the body and that of its velocity: neither a wheel that rolls
    straight on nor a ball in flight swings.
    """
    w = np.linalg.norm(data["body_angular_velocity"].values, axis=-1)
    turn = np.maximum(w[1:], w[:-1]) * data["h"].values[1:, None]
    v = data["body_velocity"].values
    across = np.linalg.norm(np.cross(v[1:], v[:-1]), axis=-1)
    bent = np.arctan2(across, np.maximum(np.sum(v[1:] * v[:-1], axis=-1), TINY))
    return np.asarray(np.minimum(turn, bent))


RULES = (_tell_closing_in_steps, _tell_swings)
