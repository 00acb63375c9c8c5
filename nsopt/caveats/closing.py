"""Caveats of steps in which contacts close, and of long steps beside contacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.caveats.impacts import find_late_impacts
from nsopt.caveats.motion import LEAST, OFF, measure_way
from nsopt.caveats.sizes import (
    TINY,
    is_optimum,
    smaller,
    whole_steps,
)
from nsopt.caveats.steps import EXACT
from nsopt.contact_modes import FREE, find_changes, find_open

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

NEEDED = {"body_position", "body_velocity", "contact_mode"}

PARTS = 64
"""Parts of a step at whose ends the ways of bodies are compared."""

SWINGS = 0.22
"""Root mean square of the angle [rad] by which a body swings in a step beside contacts, from which
there is a caveat: on runs with references most motions are wrong above it, few below 0.2."""


def _tell_closing_in_steps(data: xr.Dataset) -> Iterator[str]:
    """Tell of the straight way to the end of a step in which a contact closes."""
    if is_optimum(data) or not whole_steps(data) or not {*data.data_vars} >= NEEDED:
        return
    closes = _find_closings(data)
    steps = np.flatnonzero(closes.any(axis=1))
    if not steps.size:
        return
    least = max(OFF * (way := measure_way(data)), LEAST)
    steps = steps[(steps == 0) | (_most_off(data, steps) > least)]
    off = _off_where_met(data, closes, steps)
    if off.size and off[k := int(off.argmax())] > least:
        name = str(data["contact"].values[np.argmax(closes[steps[k]])])
        yield (
            f"contact {name!r} closes within a step (t = {data['time'].values[steps[k] + 1]:.4g} s)"
            f" in which bodies are off by some {off[k]:.2g} m, {100 * off[k] / way:.2g} % of their "
            f"way: {smaller(data)}"
        )


def _find_closings(data: xr.Dataset) -> NDArray[np.bool_]:
    """Return where rigid contacts close, (time - 1, rigid), also after flights that are short."""
    rigid = data.sizes["contact"] - int(data.attrs["pressed"])
    closed = np.nan_to_num(data["contact_mode"].values[:, :rigid]) != FREE
    is_open = find_open(data)[:, :rigid]
    before = ~closed[:-1] | (is_open[:-1] & ~is_open[1:])
    closes: NDArray[np.bool_] = closed[1:] & before
    return closes


def _most_off(data: xr.Dataset, steps: NDArray[np.int_]) -> Array:
    """Return how far bodies are off the straight ways of steps at most, (n,) [m], to begin with."""
    x, v = data["body_position"].values, data["body_velocity"].values
    h = data["h"].values[steps + 1, None, None]
    mean = (x[steps + 1] - x[steps]) / h
    changes = np.abs(v[steps] - mean) + np.abs(v[steps + 1] - mean)
    most: Array = (h * changes).max(axis=(1, 2))
    return most


class _Motion(NamedTuple):
    """What is on record of bodies."""

    h: Array  # (time,) [s]
    x: Array  # (time, body, 3) [m]
    v: Array  # (time, body, 3) [m/s]

    @classmethod
    def of(cls, data: xr.Dataset) -> _Motion:
        return cls(*(data[name].values for name in ("h", "body_position", "body_velocity")))

    def mean(self, k: int) -> Array:
        """Return the mean velocities (body, 3) in the step from the time k on."""
        mean: Array = (self.x[k + 1] - self.x[k]) / self.h[k + 1]
        return mean


def _off_where_met(data: xr.Dataset, closes: NDArray[np.bool_], steps: NDArray[np.int_]) -> Array:
    """Return how far bodies are off the straight ways of steps where surfaces meet, (n,) [m].

    When they meet follows from the gaps before; else from where the ways from both ends of the step
    come closest. Those that touch as the run begins met then: what follows takes the whole step.
    """
    motion, met_at, quiet = _Motion.of(data), _find_meetings(data), ~find_changes(data)
    is_open = find_open(data)[:, : closes.shape[1]]
    slides = _find_slides(data, closes, is_open)
    touches = "gap" in data and closes[0].any() and not is_open[0][closes[0]].all()
    off = np.zeros(len(steps))
    for i, k in enumerate(steps.tolist()):
        if k == 0 and touches:
            off[i] = _off_after_start(data, motion)
            continue
        if k == 0:
            grows = _growth_by_energy(data)
        elif quiet[k] or k in met_at:
            grows = (motion.v[k] - motion.v[k - 1]) / motion.h[k]
        else:  # the contact that changes beside it may have changed the velocity at once
            grows = np.zeros_like(motion.v[k])
        if k in met_at:
            off[i] = _off_until(motion, k, grows, met_at[k], slides=bool(slides[k]))
        else:
            off[i] = _off_until_nearest(motion, k, grows)
    return off


def _find_meetings(data: xr.Dataset) -> dict[int, float]:
    """Return how long [s] after the beginning of steps surfaces first meet, where gaps tell it."""
    found: dict[int, float] = {}
    for _, late in find_late_impacts(data):
        for k, met_at in zip(late.step.tolist(), late.met.tolist(), strict=True):
            found[k - 1] = min(met_at, found.get(k - 1, np.inf))
    return found


def _find_slides(
    data: xr.Dataset, closes: NDArray[np.bool_], is_open: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the steps after which bodies that no joint holds stay where they landed, (time - 1,).

    They slide on for the rest of that step as before they landed.
    """
    then_open = np.append(is_open[2:], is_open[-1:], axis=0)
    slides: NDArray[np.bool_] = ~np.any(closes & then_open, axis=1)
    return slides & (not data.attrs["ideal_joints"])


def _off_after_start(data: xr.Dataset, motion: _Motion) -> float:
    """Return how far bodies that touch at first are off the way from the end of the first step."""
    left = motion.h[1] - np.linspace(0, motion.h[1], PARTS + 1)[:, None, None]
    after = motion.x[1] - motion.v[1] * left
    if "body_acceleration" in data:
        after = after + np.nan_to_num(data["body_acceleration"].values[1]) * left**2 / 2
    straight = motion.mean(0) * (motion.h[1] - left)
    return float(np.abs(after - after[0] - straight).max())


def _off_until(motion: _Motion, k: int, grows: Array, met_at: float, *, slides: bool) -> float:
    """Return how far bodies are off until surfaces meet, so long [s] after the step begins."""
    t, v = np.linspace(0, met_at, PARTS + 1)[:, None, None], motion.v
    apart = np.abs((v[k] + grows * t / 2 - motion.mean(k)) * t)
    if slides:
        landed = (v[k] + grows * met_at / 2) * met_at
        rest = v[k + 1] * (motion.h[k + 1] - met_at)
        apart = np.maximum(apart, np.abs(landed + rest - (motion.x[k + 1] - motion.x[k])))
    return float(apart.max())


def _off_until_nearest(motion: _Motion, k: int, grows: Array) -> float:
    """Return how far bodies are off until the ways from both ends of a step come closest."""
    h, x, v = motion.h[k + 1], motion.x, motion.v
    t = np.linspace(0, h, PARTS + 1)[:, None, None]
    before, after = x[k] + v[k] * t + grows * t**2 / 2, x[k + 1] - v[k + 1] * (h - t)
    met = int(np.argmin(np.sum((before - after) ** 2, axis=(1, 2))))
    straight = x[k] + motion.mean(k) * t
    return float(np.abs(before - straight)[: met + 1].max())


def _growth_by_energy(data: xr.Dataset) -> Array:
    """Return how velocities grow until an impact that ends the first step, (body, 3) [m/s^2].

    For a way with the speed that the energy leaves, without what the impact takes.
    """
    x, v = (data[f"body_{name}"].values for name in ("position", "velocity"))
    kinetic, potential = (data[f"{name}_energy"].values for name in ("kinetic", "potential"))
    way, speed = x[1] - x[0], float(np.linalg.norm(v[0]))
    then = float(kinetic[0] + potential[0] - potential[1])
    if kinetic[0] <= 0 or then <= 0 or not speed or not np.any(way):
        return np.zeros_like(way)
    meets = 2 * float(np.linalg.norm(way)) / (speed * (1 + np.sqrt(then / kinetic[0])))
    grows: Array = 2 * (way / meets - v[0]) / meets
    return grows


def _tell_swings(data: xr.Dataset) -> Iterator[str]:
    """Tell of bodies that swing far in a step beside contacts, which amplify errors."""
    needed = NEEDED | {"body_angular_velocity"}
    if is_optimum(data) or not whole_steps(data) or not needed <= {*data.data_vars}:
        return
    rigid = data.sizes["contact"] - int(data.attrs["pressed"])
    if not rigid or data.attrs["scheme_name"] in EXACT:
        return
    if not np.any(np.nan_to_num(data["contact_mode"].values[:, :rigid]) != FREE):
        return
    if data.attrs.get("degrees_of_freedom", 0) < 2 or not data.attrs["ideal_joints"]:
        return
    mean = np.sqrt(np.mean(_swings(data) ** 2, axis=0))
    if (worst := float(mean.max())) > SWINGS:
        name = str(data["body"].values[int(mean.argmax())])
        yield (
            f"body {name!r} swings by {worst:.2g} rad a step (root mean square), and contacts "
            "amplify the errors of steps that long: h of "
            f"{data['h'].values[1:].max() * SWINGS / worst / 2:.1g} s or less"
        )


def _swings(data: xr.Dataset) -> Array:
    """Return the angles by which bodies turn in each step, and the ways of their centres with them.

    (time - 1, body) [rad]. Neither a wheel that rolls straight on nor a ball in flight swings.
    """
    w = np.linalg.norm(data["body_angular_velocity"].values, axis=-1)
    turn = np.maximum(w[1:], w[:-1]) * data["h"].values[1:, None]
    v = data["body_velocity"].values
    across = np.linalg.norm(np.cross(v[1:], v[:-1]), axis=-1)
    bent = np.arctan2(across, np.maximum(np.sum(v[1:] * v[:-1], axis=-1), TINY))
    swings: Array = np.minimum(turn, bent)
    return swings


RULES = (_tell_closing_in_steps, _tell_swings)
