"""What a summary says of errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsopt.caveats import (
    LargestError,
    cover_all,
    find_error_of_energy,
    find_error_of_figure,
    find_error_of_force,
    find_error_of_motion,
    find_error_of_reactions,
    find_predictable_time,
    has_errors,
)
from nsopt.summary.energy_rows import Row

if TYPE_CHECKING:
    import xarray as xr

FIGURES = {
    "largest_force": "largest",
    "rms_force": "RMS",
    "impact_impulse_sum": "impulses",
    "contact_loss_sum": "loss in contacts",
}
"""Figures of contacts whose errors are told, in words."""

LEAST = 1e-4
"""Error in percent, below which "< 0.0001 %" is told."""


def tell_errors(data: xr.Dataset) -> list[Row]:
    """Return the errors of a run that was repeated in other steps, or why they are unknown."""
    unknown = data.attrs.get("error_unknown", "not measured")
    if not has_errors(data):
        return [("error unknown", unknown)]
    motion = find_error_of_motion(data)
    parts = [
        f"motion {_tell_percent(motion.part)} ({motion.value:.2g} m)",
        f"energy {_tell_percent(find_error_of_energy(data).part)}",
        *_tell_figures(data),
    ]
    *rest, last = map(_name_step_size, np.atleast_1d(data.attrs["error_parts"]))
    others = f"{', '.join(rest)} and {last}"
    how = f"order {motion.order:.2g}" if np.isfinite(motion.order) else "no order seen"
    until = find_predictable_time(data)
    if unknown:
        how = unknown
        if not cover_all(data):
            how += f"; no error is known after t = {_find_last_time(data):.4g} s"
    elif until < data["time"].values[-1]:
        how += f", predictable until {until:.4g} s"
    return [("errors at most", f"{', '.join(parts)} (by {others}: {how})")]


def _find_last_time(data: xr.Dataset) -> float:
    """Return the last time at which the error of the motion is known [s]."""
    known = np.isfinite(data["error_motion"].values)
    return float(data["time"].values[known].max())


def _tell_figures(data: xr.Dataset) -> Iterator[str]:
    """Yield the errors of reactions and of figures of contacts."""
    if joints := find_error_of_reactions(data):
        shared = "" if data["error_joint_reaction"].attrs["unique"] else ", of least norm"
        yield f"reactions {_tell_percent(joints.part)}{shared}"
    told = {name: found for name in FIGURES if (found := find_error_of_figure(data, name))}
    parts = {name: f"{FIGURES[name]} {_tell_size(data, name, x)}" for name, x in told.items()}
    if force := find_error_of_force(data):
        of_force = ", ".join(parts.pop(x) for x in ("largest_force", "rms_force") if x in parts)
        yield f"force {_tell_percent(force.part)} ({of_force})"
    yield from parts.values()


def _tell_size(data: xr.Dataset, name: str, found: LargestError) -> str:
    """Return an error in percent; of what is off by more than itself the error."""
    if found.part < 1:
        return _tell_percent(found.part)
    return f"{found.value:.2g} {data[name].attrs['units']}"


def _tell_percent(part: float) -> str:
    return f"< {LEAST:g} %" if 100 * part < LEAST else f"{100 * part:.2g} %"


def _name_step_size(part: float) -> str:
    """Return a step size over that of the run in words, such as h/2."""
    return f"{part:g} h" if part > 1 else f"h/{1 / part:g}"
