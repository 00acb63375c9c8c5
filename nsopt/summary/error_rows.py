"""What a summary says of errors, and of a motion beyond the time until which it is predictable."""

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
    tell_percent,
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
"""Figures of contacts whose errors the summary has, in words."""

LEAST = 1e-4  # error in percent, below which it reads "< 0.0001 %"

STATISTICS = {
    "beyond_mean_force": "N on average",
    "beyond_peak_force": "N at most in 95 % of it",
    "beyond_impact_rate": "impacts/s",
    "beyond_loss_rate": "J/s lost",
}
"""Statistics that the summary has, in words."""

COMPARED = ("beyond_median_force",)  # statistics that are only compared between runs


def tell_errors(data: xr.Dataset) -> list[Row]:
    """Return the errors of a run that was repeated in other steps, or why they are unknown."""
    unknown = data.attrs.get("error_unknown", "not measured")
    if not has_errors(data):
        return [("error unknown", unknown)]
    motion = find_error_of_motion(data)
    until, end = find_predictable_time(data), data["time"].values[-1]
    known = f"; predictable until {until:.4g} s" if not unknown and until < end else ""
    parts = [
        f"motion {_tell_percent(motion.part)} ({motion.value:.2g} m{known})",
        *_tell_angles(data),
        f"energy {_tell_percent(find_error_of_energy(data).part)}",
        *_tell_figures(data),
    ]
    sizes = np.atleast_1d(data.attrs["error_parts"])  # of steps, over those of the run
    *rest, last = (f"{part:g} h" if part > 1 else f"h/{1 / part:g}" for part in sizes)
    others = f"{', '.join(rest)} and {last}"
    how = f"order {motion.order:.2g}" if np.isfinite(motion.order) else "no order seen"
    if unknown:
        how = unknown
        if not cover_all(data):
            known = np.isfinite(data["error_motion"].values)
            how += f"; no error is known after t = {data['time'].values[known].max():.4g} s"
    rows = [("errors at most", f"{', '.join(parts)} (by runs in {others}: {how})")]
    return [*rows, *_tell_accuracy(data)]


def _tell_accuracy(data: xr.Dataset) -> Iterator[Row]:
    """Yield the accuracy that was asked for, and the steps that meet it."""
    if (asked := data.attrs.get("accuracy")) is not None and not data.attrs["accuracy_missed"]:
        bounds = ", ".join(f"{data.attrs[name]:.10g}" for name in ("h_min", "h_max", "h_part"))
        yield "accuracy", f"{asked:g} of motion and energy, met by StepBounds({bounds})"


def _tell_angles(data: xr.Dataset) -> Iterator[str]:
    """Yield the largest error of angles of ideal joints, if any is known."""
    if "error_joint_coordinate" not in data.variables:
        return
    of_angles = [
        str(name).rpartition(".")[2].startswith("angle") for name in data["freedom"].values
    ]
    error = data["error_joint_coordinate"].values[:, of_angles]
    if np.isfinite(error).any():
        yield f"angles {np.nanmax(error):.2g} rad"


def _tell_figures(data: xr.Dataset) -> Iterator[str]:
    """Yield the errors of reactions and of figures of contacts."""
    if joints := find_error_of_reactions(data):
        shared = "" if data["error_joint_reaction"].attrs["unique"] else ", of least norm"
        yield f"joint reactions {_tell_percent(joints.part)}{shared}"
    errors = {name: found for name in FIGURES if (found := find_error_of_figure(data, name))}
    parts = {name: f"{FIGURES[name]} {_tell_size(data, name, x)}" for name, x in errors.items()}
    if force := find_error_of_force(data):
        alone = [x for x in ("largest_force", "rms_force") if x in parts]
        # Forces that swing somewhat earlier or later are off at each time, their sizes are not.
        swings = force.matters and not any(errors[x].matters for x in alone)
        why = " at each time, for it swings earlier or later" if swings else ""
        sizes = ", ".join(parts.pop(x) for x in alone)
        yield f"contact force {_tell_percent(force.part)}{why} ({sizes})"
    yield from parts.values()


def _tell_size(data: xr.Dataset, name: str, found: LargestError) -> str:
    """Return an error in percent; of 100 % or more, in the unit of its figure."""
    if found.part < 1:
        return _tell_percent(found.part)
    return f"{found.value:.2g} {data[name].attrs['units']}"


def _tell_percent(part: float) -> str:
    return f"< {LEAST:g} %" if 100 * part < LEAST else f"{tell_percent(part)} %"


def tell_beyond(data: xr.Dataset, short: bool) -> list[Row]:
    """Return how fast errors grow, and statistics beyond the predictable time with their errors.

    If ``short``, of the joint that carries most alone.
    """
    if not cover_all(data) or (until := find_predictable_time(data)) >= data["time"].values[-1]:
        return []
    label, rate = f"beyond {until:.4g} s", data["error_motion"].attrs.get("growth_rate", np.nan)
    grows = f"errors grow by e in {1 / rate:.2g} s" if np.isfinite(rate) else ""
    names = [x for x in (*STATISTICS, *COMPARED) if x in data.variables]
    if not names:
        return [(label, f"{grows}; too short for statistics")] if grows else []
    force = np.nan_to_num(data["beyond_mean_force"].values, nan=-1.0)
    by_force = np.argsort(-force, kind="stable").tolist()
    texts = [text for k in by_force if (text := _tell_joint(data, k))] or ["nothing is carried"]
    left = len(texts) - 1 if short else 0
    more = f"; {left} more: nsopt info" if left else ""
    heads = [x for x in (grows, f"statistics {_compare(data, names)}") if x]
    first = (label, f"{', '.join(heads)}: {texts[0]}{more}")
    return [first, *(("", text) for text in texts[1:])][: 1 if short else None]


def _compare(data: xr.Dataset, names: list[str]) -> str:
    """Return whether statistics of the runs are alike, or whose differ."""
    known = [np.isfinite(data[x].values) & np.isfinite(data[f"error_{x}"].values) for x in names]
    alike = [np.atleast_1d(data[f"error_{x}"].attrs["alike"]) > 0 for x in names]
    off = np.any([k & ~a for k, a in zip(known, alike, strict=True)], axis=0)
    if not off.any():
        return "are alike in all runs"
    joints = [str(x) for x in data["joint"].values[off]]
    return f"differ between runs in {', '.join(joints[:2])}{' ...' if len(joints) > 2 else ''}"


def _tell_joint(data: xr.Dataset, k: int) -> str:
    """Return the statistics of a joint that are not zero, in words; empty if all are."""
    pairs = {x: (data[x].values[k], data[f"error_{x}"].values[k]) for x in STATISTICS if x in data}
    known = {x: pair for x, pair in pairs.items() if np.nansum(np.abs(pair))}
    texts = [f"{value:.3g} +- {error:.2g} {STATISTICS[x]}" for x, (value, error) in known.items()]
    return f"{data['joint'].values[k]} {', '.join(texts)}" if texts else ""
