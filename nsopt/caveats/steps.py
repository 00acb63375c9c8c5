"""Caveats of steps: by which scheme, how long, and how far bodies move in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.blocks import blocks
from nsopt.caveats.sizes import FEW, USUAL_ORDER, find_order, is_optimum, suggest_shorter
from nsopt.stored import read_names

if TYPE_CHECKING:
    import xarray as xr

NOTABLE_TURN = 0.1  # angle [rad] that a body on ideal joints may turn in a step without a word
PHASE = 0.01  # angle [rad] by which such a body may be ahead at the end without a word
LARGEST_TURN = 1.0  # angle [rad] that a body may turn in a step, about an axis that moves

STEADY = 1e-6
"""Angle [rad] by which an axis of rotation may move in a step and still counts as fixed."""


def _tell_other_schemes(data: xr.Dataset) -> Iterator[str]:
    if max(measure_other_schemes(data)) > FEW:
        yield (
            f"{tell_share_of_other_schemes(data)}, were taken by another scheme than "
            f"{data.attrs['scheme_name']} (step_reason tells which): lower h_min, "
            f"{suggest_shorter(data)}"
        )


def measure_other_schemes(data: xr.Dataset) -> tuple[float, float]:
    """Return the parts of the steps and of the time that other schemes than the run's took."""
    t, a = data["time"].values, data.attrs
    return a["steps_by_other_schemes"] / a["steps"], a["time_by_other_schemes"] / (t[-1] - t[0])


def tell_share_of_other_schemes(data: xr.Dataset) -> str:
    """Return in words which part of the run other schemes took."""
    a, (_, time) = data.attrs, measure_other_schemes(data)
    return f"{a['steps_by_other_schemes']} of {a['steps']} steps, {100 * time:.3g} % of the time"


def _tell_other_laws(data: xr.Dataset) -> Iterator[str]:
    count, steps = data.attrs["steps_by_other_laws"], data.attrs["steps"]
    if count:
        yield (
            f"in {count} of {steps} steps contacts would have given energy by their law of impact, "
            "and another one took its place (step_reason tells which): take that for the whole run"
        )


def _tell_below_h_min(data: xr.Dataset) -> Iterator[str]:
    count, steps = data.attrs["steps_below_h_min"], data.attrs["steps"]
    if count > FEW * steps:
        yield f"{count} of {steps} steps had to be below h_min: lower it, {suggest_shorter(data)}"


def _tell_large_turns(data: xr.Dataset) -> Iterator[str]:
    if not data.sizes["body"] or "body_angular_velocity" not in data:
        return
    turns = _measure_turns(data) * _find_moving_axes(data)
    k, body = np.unravel_index(int(np.argmax(turns)), turns.shape)
    if turns[k, body] > LARGEST_TURN:
        name = str(data["body"].values[body])
        t, h = (data[x].values[k + 1] for x in ("time", "h"))
        yield (
            f"body {name!r} turns by {turns[k, body]:.3g} rad in a step (t = {t:.6g} s), at "
            f"most {LARGEST_TURN:g} can be followed: h of {h * LARGEST_TURN / turns[k, body]:.1g} "
            "s or less"
        )


def _find_moving_axes(data: xr.Dataset) -> NDArray[np.bool_]:
    """Return which bodies turn about an axis that moves, (body,); others may by any angle."""
    w = data["body_angular_velocity"].values
    size = np.linalg.norm(w, axis=-1)
    moved = np.linalg.norm(np.cross(w[1:], w[:-1]), axis=-1) > STEADY * size[1:] * size[:-1]
    return np.asarray(moved.any(axis=0))


def _tell_ranges(data: xr.Dataset) -> Iterator[str]:
    """Tell of variables beyond the largest value for which their law holds, ``attrs["most"]``."""
    for name, variable in data.data_vars.items():
        most = variable.attrs.get("most", np.inf)
        if np.isfinite(most) and np.max(variable.values) > most:
            radians = variable.attrs["units"] == "rad"
            shown, unit = (np.degrees(most), "deg") if radians else (most, variable.attrs["units"])
            yield f"{name} is beyond the {shown:.3g} {unit} of its law"


def _measure_turns(data: xr.Dataset) -> Array:
    """Return the angles by which bodies turn in each step, (time - 1, body) [rad]."""
    parts = blocks(data["body_angular_velocity"])
    w = np.concatenate([np.linalg.norm(x, axis=-1) for _, x in parts])
    return np.asarray(np.maximum(w[1:], w[:-1]) * data["h"].values[1:, None])


def measure_phase_errors(data: xr.Dataset) -> dict[str, float]:
    """Return by how much bodies on ideal joints are ahead at the end [rad], by name, where notable.

    Unless on a hinge in the ground, centres go along chords: too fast by (w h)^2 / 8.
    """
    names = read_names(data.attrs, "phase_bodies")
    simulated = not is_optimum(data) and find_order(data) <= USUAL_ORDER
    if not names or not simulated or "body_angular_velocity" not in data:
        return {}
    turns, bodies = _measure_turns(data), [str(name) for name in data["body"].values]
    count = np.diff(data["time"].values) / data["h"].values[1:]  # of steps to each kept one
    ahead, largest = np.sum(turns**3 / 8 * count[:, None], axis=0), turns.max(axis=0)
    return {
        name: float(ahead[k])
        for k, name in enumerate(bodies)
        if name in names and largest[k] > NOTABLE_TURN and ahead[k] > PHASE
    }


def tell_phase_error(data: xr.Dataset, found: dict[str, float]) -> str:
    """Return in words what `measure_phase_errors` found."""
    name = max(found, key=found.__getitem__)
    turns = _measure_turns(data)[:, [str(x) for x in data["body"].values].index(name)]
    turn, h = float(turns.max()), float(data["h"].values[1 + int(np.argmax(turns))])
    return (
        f"body {name!r} on ideal joints turns by up to {turn:.2g} rad in a step, and too fast by "
        f"(w h)^2/8, {100 * turn**2 / 8:.2g} %: some {found[name]:.2g} rad at the end; take "
        f"h of {h * NOTABLE_TURN / turn / 2:.1g} s"
    )


CHECKS = (_tell_other_laws, _tell_large_turns, _tell_ranges)
RULES = (_tell_other_schemes, _tell_below_h_min)
