"""Figures of a run's contacts that are compared beside its states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nsopt.contact_modes import LASTING, SETTLES, contacts_of_joints

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

NEEDED = frozenset(
    {"h", "lasting_force", "contact_mode", "impact_impulse", "contact_loss", "impulse"}
)
"""Variables that figures are made of."""

PEAK = 0.95
"""Part of the time with a lasting force in which it is below its peak. What is above is not of the
motion: single steps in which contacts begin to press."""


def find_figures(data: xr.Dataset) -> dict[str, Array]:
    """Return the figures of a run, by names of `ERRORS`, each over its joints with contacts."""
    joints = contacts_of_joints(data).values()
    found = [_find_figures_of_joint(data, contacts) for contacts in joints]
    names = found[0] if found else {}
    return {name: np.array([x[name] for x in found]) for name in names}


def _find_figures_of_joint(data: xr.Dataset, contacts: list[int]) -> dict[str, float]:
    h = data["h"].values[1:]
    force = np.nansum(data["lasting_force"].values[1:, contacts], axis=1)
    size, mode = np.linalg.norm(force, axis=1), data["contact_mode"].values[1:, contacts]
    t = data["time"].values
    later = t[1:] >= t[0] + SETTLES * (t[-1] - t[0])
    return {
        "largest_force": float(size[later].max(initial=0.0)),
        "peak_force": _find_peak(size, h),
        "rms_force": float(np.sqrt(np.sum(h * size**2) / np.sum(h))),
        "impact_impulse_sum": float(np.nansum(data["impact_impulse"].values[:, contacts])),
        "contact_loss_sum": float(np.nansum(data["contact_loss"].values[:, contacts])),
        "lasting_share": float(np.sum(h * np.any(mode == LASTING, axis=1)) / np.sum(h)),
    }


def _find_peak(force: Array, h: Array) -> float:
    """Return the force (n,) that is below it for `PEAK` of the time in which there is any."""
    order = np.argsort(force)
    lasts = np.cumsum(h[order] * (force[order] > 0))
    if not lasts.size or not lasts[-1]:
        return 0.0
    return float(force[order[np.searchsorted(lasts, PEAK * lasts[-1])]])
