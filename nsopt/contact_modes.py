"""Modes of joints with contacts over a run: free flight, lasting contact, impact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.blocks import blocks

if TYPE_CHECKING:
    import xarray as xr

FREE, LASTING, IMPACT = 0, 1, 2
"""Modes of a contact in a step, the values of ``contact_mode`` [flags]."""

RESTS = 1.5
"""Impulse of a contact that begins, over that of its lasting force in a step, above which it may be
an impact."""

OPEN = 1e-3
"""Gap over the largest of its contact in the run, above which the contact counts as open, ..."""

SHUT = 1e-6
"""... if it is also above this part of a typical opening: solvers leave less of closed contacts."""

SETTLES = 0.02  # part of the duration at the start in which the stated state comes into motion
ROUNDING = 1e-12  # impulse, over the largest one, that rounding leaves of zero
ROWS = 100_000  # times whose data are in memory at once


class ModeStatistics(NamedTuple):
    """How a joint spent a run.

    A joint is in free flight while none of its contacts presses, in an impact where one of them
    meets its wall, otherwise in lasting contact.
    """

    free: float  # part of the time, likewise lasting and impact
    lasting: float
    impact: float  # of steps with an impact: for rigid contacts it falls with h
    impacts: int  # number of all its contacts; steps in a row with an impact of a contact are one
    flights: int  # number
    longest_flight: float  # [s]
    impulse: float  # [N s] of all impacts


def joint_of(contact: str) -> str:
    """Return the joint of a contact: ``hinge`` of ``hinge[0]``."""
    return contact.rpartition("[")[0] or contact


def contacts_of_joints(data: xr.Dataset) -> dict[str, list[int]]:
    """Return the indices of the contacts of each joint."""
    indices: dict[str, list[int]] = {}
    for k, name in enumerate(data["contact"].values):
        indices.setdefault(joint_of(str(name)), []).append(k)
    return indices


def read_clearances(data: xr.Dataset) -> Array:
    """Return the clearance of each contact, (contact,) [m], nan of walls."""
    # netCDF gives back the attribute of a single contact as a number.
    return np.atleast_1d(np.asarray(data.attrs["clearances"], dtype=float))


def count_rigid(data: xr.Dataset) -> int:
    """Return the number of rigid contacts, which come before compliant ones on record."""
    return data.sizes["contact"] - int(data.attrs["pressed"])


def step_modes(data: xr.Dataset) -> NDArray[np.int8]:
    """Return the mode of each contact in each step, (time - 1, contact)."""
    return np.concatenate([x.astype(np.int8) for _, x in blocks(data["contact_mode"][1:])])


def find_changes(data: xr.Dataset) -> NDArray[np.bool_]:
    """Return the steps in which contacts open, close or strike, (time,).

    Those of short flights that count as part of a lasting contact are among them.
    """
    changes = np.zeros(data.sizes["time"], dtype=bool)
    if data.sizes["contact"] and "contact_mode" in data:
        mode = np.nan_to_num(data["contact_mode"].values)
        changes[1:] = np.any((mode[1:] == IMPACT) | (np.diff(mode, axis=0) != 0), axis=1)
        changes[1:] |= np.any(np.diff(find_open(data), axis=0), axis=1)
    return changes


def find_open(data: xr.Dataset) -> NDArray[np.bool_]:
    """Return when contacts are open, (time, contact); never where no gaps are on record."""
    if "gap" not in data:
        return np.zeros((data.sizes["time"], data.sizes["contact"]), dtype=bool)
    gap = data["gap"].values
    return np.asarray(gap > _find_least_openings(data))


def _find_least_openings(data: xr.Dataset) -> Array:
    """Return the gaps from which contacts are open, (contact,) [m]."""
    widest = np.max([x.max(axis=0) for _, x in blocks(data["gap"])], axis=0)
    scales = np.nan_to_num(np.atleast_1d(data.attrs.get("gap_scales", 0.0)))
    return np.asarray(np.maximum(OPEN * widest, SHUT * scales))


def statistics_of_modes(data: xr.Dataset) -> Mapping[str, ModeStatistics]:
    """Return how each joint with contacts spent a run, by name; none of a run without steps."""
    if data.sizes["time"] < 2:
        return {}
    time, contacts = np.diff(data["time"].values), contacts_of_joints(data)
    impulse = np.sum([np.nansum(x, axis=0) for _, x in blocks(data["impact_impulse"])], axis=0)
    found = {}
    whole = step_modes(data)
    for joint, ks in contacts.items():
        steps = np.max(whole[:, ks], axis=1)
        free, lasting, impact = (float(time[steps == x].sum() / time.sum()) for x in range(3))
        flights = spans(steps == FREE)
        found[joint] = ModeStatistics(
            free,
            lasting,
            impact,
            sum(len(spans(whole[:, k] == IMPACT)) for k in ks),
            len(flights),
            float(max((time[a:b].sum() for a, b in flights), default=0.0)),
            float(impulse[ks].sum()),
        )
    return found


def count_unresolved(data: xr.Dataset) -> int:
    """Return how many rigid contacts begin without that steps of this size tell impact from rest.

    Their first impulse is more than `RESTS` steps of the lasting force, and counts as no impact.
    """
    needed = {"gap", "impulse", "contact_mode", "lasting_force", "h"}
    rigid = count_rigid(data)
    if not rigid or not needed <= {*data.variables}:
        return 0
    least = _find_least_openings(data)[:rigid]
    parts = (
        data[[*needed]].isel(time=slice(begin, begin + ROWS + 1), contact=slice(rigid))
        for begin in range(0, data.sizes["time"] - 1, ROWS)
    )
    return sum(_count_unresolved(part, least) for part in parts)


def _count_unresolved(data: xr.Dataset, least: Array) -> int:
    """Count them among some times; contacts are open from the gaps ``least`` (contact,) [m] on."""
    mode, gap, impulse = (data[x].values for x in ("contact_mode", "gap", "impulse"))
    force = np.linalg.norm(data["lasting_force"].values, axis=-1)
    was_open = gap[:-1] > least
    was_open[1:] |= was_open[:-1] & (mode[1:-1] == FREE)  # where steps end as surfaces meet
    begins = (mode[1:] == LASTING) & was_open & (mode[:-1] != LASTING)
    worth = impulse[1:] > RESTS * data["h"].values[1:, None] * force[1:]
    return int(np.count_nonzero(begins & worth))


def least_force(data: xr.Dataset) -> float:
    """Return the least force that counts as lasting [N]: less is the rounding of impulses."""
    largest = [np.nanmax(x, initial=0.0) for _, x in blocks(data["impulse"])]
    return ROUNDING * max(largest) / float(np.nanmean(data["h"].values)) if max(largest) else 0.0


def largest_of(block: tuple[int, Array]) -> tuple[float, int, int]:
    """Return the largest force of a block [N], minus the index of its time, and its contact.

    With a minus, so that of equal forces `max` takes the first.
    """
    begin, x = block
    squared = np.nan_to_num(np.einsum("kji,kji->kj", x, x))
    k, j = np.unravel_index(int(np.argmax(squared)), squared.shape)
    return float(np.sqrt(squared[k, j])), -(begin + int(k)), int(j)


def rise_above_steps_beside(data: xr.Dataset, k: int, contacts: list[int]) -> float:
    """Return the excess of a lasting force over that of the steps beside it, as a part of it.

    It is the sum over contacts at time k. Zero where they do not press beside it, of thinned runs
    and of optima.
    """
    if "objective" in data.attrs or data.attrs["store_every"] > 1 or data.attrs["output_times"]:
        return 0.0
    rows = slice(max(k - 1, 0), k + 2)
    summed = np.nansum(data["lasting_force"][rows, contacts].values, axis=1)
    force = np.linalg.norm(summed, axis=-1)
    t, own = data["time"].values[rows], min(k, 1)  # the place of k among the rows
    beside = force > 0
    beside[own] = False
    if not beside.any():
        return 0.0
    return float(1 - np.interp(t[own], t[beside], force[beside]) / force[own])


def spans(on: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first index of each stretch of true values, and the first one after it."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
