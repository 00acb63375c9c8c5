"""Figures of a run's contacts, such as peak forces, that are compared beside its states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import find_quantile, new_directions
from nsopt.arrays import Array
from nsopt.caveats import FORCES
from nsopt.contact_modes import FREE, IMPACT, LASTING, SETTLES, contacts_of_joints
from nsopt.mechanics import Dynamics

if TYPE_CHECKING:
    import xarray as xr


NEEDED = frozenset(
    {
        *("h", "lasting_force", "contact_mode", "contact_slip"),
        *("impact_impulse", "contact_loss", "gap"),
    }
)
"""Variables that figures and changes of contacts are made of."""

IMPULSES = "impact_impulse_sum"

STICKS = 1e-6  # part of the largest slip below which a contact sticks
TIMES = 7  # of a run, at which it is found what friction acts on
RARE = 0.01  # part of the time, or of impulses, that need not be unique: it changes no figure

PEAK = 0.95
"""Part of the time with a lasting force in which it is below its peak. What is above is not of the
motion: single steps in which contacts begin to press."""


def count_slips(dynamics: Dynamics, data: xr.Dataset, p: Array) -> NDArray[np.int_]:
    """Return how many components of sliding friction of a contact act on the motion, (contact,).

    Ideal joints may hold others: all across the plane of a mechanism that moves in one. At single
    times they may hold more than these, so several times tell it. What resists rolling and spin is
    known where a contact turns, though it does not slide.
    """
    slides = [k for drag in dynamics.drags if not drag.turns for k in drag.slips]
    owners = np.array(dynamics.slip_contacts, dtype=int)[slides]
    rough = np.flatnonzero(np.asarray(dynamics.friction(p)).ravel() > 0)
    found = np.zeros(data.sizes["contact"], dtype=int)
    t, q = data["time"].values, data["q"].values
    for k in np.linspace(0, len(t) - 1, TIMES).astype(int):
        at = t[k], q[k], p
        joints = [
            np.asarray(f(*at)).reshape(-1, dynamics.nv)
            for f in (dynamics.closure_matrix, dynamics.nonholonomic_matrix)
        ]
        along = np.asarray(dynamics.slip_matrix(*at)).T[slides]
        for contact in np.intersect1d(owners, rough):
            *_, count = new_directions([*joints, along[owners == contact]])
            found[contact] = max(found[contact], count)
    return found


def find_shared_figures(data: xr.Dataset, slips: NDArray[np.int_], slow: float) -> frozenset[str]:
    """Return the figures that do not follow from the motion alone, but for `RARE` of them.

    Forces and impulses do not where redundant contacts share them, nor where contacts that stick
    hold more components than the mechanism has degrees of freedom: friction may then hold what a
    joint or another contact holds already, each in any part. So may that of an impact after which
    a contact sticks. ``slips`` are those of `count_slips`; a slip far below ``slow``, the size of
    the motion over its duration, is rounding.
    """
    if data.attrs["redundant_contacts"]:
        return frozenset({*FORCES, IMPULSES})
    speed = np.linalg.norm(data["contact_slip"].values[1:], axis=-1)
    slow = STICKS * max(speed.max(initial=0.0), slow)
    mode, h = data["contact_mode"].values[1:], data["h"].values[1:]
    impulse = np.nansum(data["impact_impulse"].values[1:], axis=1)
    found = set[str]()
    for names, holds, weight in (
        (FORCES, mode == LASTING, h),
        ((IMPULSES,), (mode != FREE) & np.any(mode == IMPACT, axis=1)[:, None], impulse),
    ):
        sticks = holds & (speed <= slow)
        held = holds.sum(axis=1) + np.where(sticks, slips, 0).sum(axis=1)
        many = sticks.any(axis=1) & (held > data.attrs["degrees_of_freedom"])
        if weight[many].sum() > RARE * weight.sum():
            found.update(names)
    return frozenset(found)


def find_figures(data: xr.Dataset) -> dict[str, Array]:
    """Return the figures of a run, by names of `ERRORS`, each over its joints with contacts."""
    joints = contacts_of_joints(data).values()
    found = [_find_figures_of_joint(data, contacts) for contacts in joints]
    names = found[0] if found else {}
    return {name: np.array([x[name] for x in found]) for name in names}


def find_forces(data: xr.Dataset) -> Array:
    """Return what contacts of each joint carry together, impacts left out, (time, joint, 3) [N]."""
    force = np.nan_to_num(data["lasting_force"].values)
    joints = contacts_of_joints(data).values()
    return np.stack([force[:, contacts].sum(axis=1) for contacts in joints], axis=1)


def _find_figures_of_joint(data: xr.Dataset, contacts: list[int]) -> dict[str, float]:
    h = data["h"].values[1:]
    size = np.linalg.norm(np.nansum(data["lasting_force"].values[1:, contacts], axis=1), axis=1)
    mode = data["contact_mode"].values[1:, contacts]
    t = data["time"].values
    later = t[1:] >= t[0] + SETTLES * (t[-1] - t[0])  # without what the start does
    return {
        "largest_force": float(size[later].max(initial=0.0)),
        "peak_force": find_quantile(size, h * (size > 0), PEAK),
        "rms_force": float(np.sqrt(np.sum(h * size**2) / np.sum(h))),
        "impact_impulse_sum": float(np.nansum(data["impact_impulse"].values[:, contacts])),
        "contact_loss_sum": float(np.nansum(data["contact_loss"].values[:, contacts])),
        "lasting_share": float(np.sum(h * np.any(mode == LASTING, axis=1)) / np.sum(h)),
    }
