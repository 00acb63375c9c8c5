"""What a summary says of a motion beyond the time until which it is predictable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nsopt.caveats import cover_all, find_predictable_time
from nsopt.summary.energy_rows import Row

if TYPE_CHECKING:
    import xarray as xr

TOLD = {
    "beyond_mean_force": "N on average",
    "beyond_peak_force": "N at most in 95 % of it",
    "beyond_impact_rate": "impacts/s",
    "beyond_loss_rate": "J/s lost",
}
"""Statistics that are told, in words."""

OTHERS = ("beyond_median_force",)
"""Statistics that are only compared between runs."""


def tell_beyond(data: xr.Dataset, short: bool) -> list[Row]:
    """Return how fast errors grow, and statistics beyond the predictable time with their errors.

    If ``short``, of the joint that carries most alone.
    """
    if not cover_all(data) or (until := find_predictable_time(data)) >= data["time"].values[-1]:
        return []
    label, rate = f"beyond {until:.4g} s", data["error_motion"].attrs.get("growth_rate", np.nan)
    grows = f"errors grow by e in {1 / rate:.2g} s" if np.isfinite(rate) else ""
    names = [x for x in (*TOLD, *OTHERS) if x in data.variables]
    if not names:
        return [(label, f"{grows}; too short for statistics")] if grows else []
    force = np.nan_to_num(data["beyond_mean_force"].values, nan=-1.0)
    by_force = np.argsort(-force, kind="stable").tolist()
    texts = [text for k in by_force if (text := _tell_joint(data, k))] or ["nothing is carried"]
    left = len(texts) - 1 if short else 0
    more = f"; {left} more: nsopt info" if left else ""
    told = [x for x in (grows, f"statistics {_compare(data, names)}") if x]
    first = (label, f"{', '.join(told)}: {texts[0]}{more}")
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
    """Return what a joint carries and what it does, but for what is zero; nothing if all is."""
    pairs = {x: (data[x].values[k], data[f"error_{x}"].values[k]) for x in TOLD if x in data}
    known = {x: pair for x, pair in pairs.items() if np.nansum(np.abs(pair))}
    told = [f"{value:.3g} +- {error:.2g} {TOLD[x]}" for x, (value, error) in known.items()]
    return f"{data['joint'].values[k]} {', '.join(told)}" if told else ""
