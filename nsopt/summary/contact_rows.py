"""What a summary says of contacts: forces that last, impacts, modes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from nsopt.blocks import blocks
from nsopt.caveats import find_unresolved_closing, has_errors, tell_unresolved_closing
from nsopt.contact_modes import (
    SETTLES,
    contacts_of_joints,
    count_unresolved,
    joint_of,
    largest_of,
    least_force,
    rise_above_steps_beside,
    statistics_of_modes,
)
from nsopt.summary.energy_rows import Row

if TYPE_CHECKING:
    import xarray as xr

STANDS_OUT = 1.05
"""Largest force as the motion starts, over that afterwards, above which the summary has both."""

RESOLVED = 0.05
"""Part of the largest force by which it may exceed those of the steps beside it without a word."""

MOST_JOINTS = 4  # joints whose modes the summary has

_Force = tuple[float, int, int]
"""Size [N], minus the index of its time, and contact: the largest of equal forces is the first."""


def tell_thinning(data: xr.Dataset) -> str:
    """Return the remark that numbers are of the kept steps alone; empty if all steps were kept."""
    if data.attrs["output_times"]:
        return " (at the times kept)"
    return " (kept steps)" if data.attrs["store_every"] > 1 else ""


def tell_contacts(data: xr.Dataset) -> list[Row]:
    """Return forces that last, impulses of impacts, modes of joints, and what is redundant."""
    rows, attrs = [*tell_forces(data), *tell_impacts(data), *tell_modes(data)], data.attrs
    if count := attrs["redundant_joint_rows"]:
        owners = json.loads(attrs["redundant_rows"]).items()
        names = ", ".join(f"{rows} of {joint!r}" for joint, rows in owners)
        rows.append(("redundant joint rows", f"{count}, {names}: reactions are of least norm"))
    if count := attrs["redundant_contacts"]:
        rows.append(("redundant contacts", f"up to {count}: their shares are one of many"))
    return rows


def tell_forces(data: xr.Dataset) -> list[Row]:
    """Return the largest force that lasts.

    Forces of impacts are left out: they are impulses over h, without a limit as h falls.
    """
    if not data.sizes["contact"] or not {"lasting_force", "impulse"} <= {*data.variables}:
        return []
    compliant = int(data.attrs["pressed"]) == data.sizes["contact"]
    return [(f"largest{'' if compliant else ' lasting'} force", _tell_largest_force(data))]


def _tell_largest_force(data: xr.Dataset) -> str:
    """Return in words the largest force that lasts; that of the start apart where it is larger."""
    t, least = data["time"].values, least_force(data)
    settled = int(np.searchsorted(t, t[0] + SETTLES * (t[-1] - t[0])))
    whole = _largest_forces(data, 0, len(t))
    if whole[0][0] <= least:
        return "no lasting contact"
    if "objective" in data.attrs or all(-row >= settled for _, row, _ in whole):
        return _tell_force(data, *whole)
    later, start = _largest_forces(data, settled, len(t)), _largest_forces(data, 0, settled)
    if all(x[0] <= STANDS_OUT * y[0] for x, y in zip(start, later, strict=True)):
        return _tell_force(data, *later)
    if later[0][0] <= least:
        return f"{_tell_force(data, *whole)}, while the start settles"
    begins = _tell_force(data, *start)
    return f"{_tell_force(data, *later)} (as the motion starts {begins})"


def _largest_forces(data: xr.Dataset, begin: int, end: int) -> tuple[_Force, _Force]:
    """Return the largest force of a contact among rows of times, and that of its whole joint."""
    parts = [(begin + row, x) for row, x in blocks(data["lasting_force"][begin:end])]
    of_contact = max(map(largest_of, parts))
    j = of_contact[2]
    contacts = contacts_of_joints(data)[joint_of(str(data["contact"].values[j]))]
    sums = ((row, np.nansum(x[:, contacts], axis=1, keepdims=True)) for row, x in parts)
    return of_contact, (*max(map(largest_of, sums))[:2], j)


def _tell_force(data: xr.Dataset, of_contact: _Force, of_joint: _Force) -> str:
    """Return the largest force of a contact in words, and that of its joint if they differ."""
    (force, k, j), whole = of_contact, of_joint[0]
    where, when = str(data["contact"].values[j]), data["time"].values[-k]
    text = f"{force:.4g} N at {where}, t = {when:.6g} s{tell_thinning(data)}"
    contacts = contacts_of_joints(data)[joint_of(where)]
    above = rise_above_steps_beside(data, -k, [j])
    is_whole = len(contacts) == 1 or abs(whole - force) < 1e-3 * whole  # within the digits shown
    if not is_whole:
        above = max(above, rise_above_steps_beside(data, -of_joint[1], contacts))
    if above > RESOLVED:
        text += f", {100 * above:.2g} % above the steps beside it: a smaller h resolves it"
    if is_whole:
        return text
    # A joint carries the sum of its contacts, which may press against each other.
    carried = f"{whole:.4g} N in all of {joint_of(where)}"
    if force > whole:
        return f"{carried}, whose contacts press against each other: {text}"
    return f"{carried}, of it at most {text}"


def tell_impacts(data: xr.Dataset) -> list[Row]:
    """Return the number of impacts and their impulses, those in successive steps as one."""
    if not _has_modes(data):
        return []
    count = sum(x.impacts for x in statistics_of_modes(data).values())
    total, largest, carried = 0.0, (0.0, 0, 0), np.zeros(data.sizes["contact"])
    for begin, x in blocks(data["impact_impulse"]):
        impulse = np.nan_to_num(x)
        sums = carried + np.cumsum(impulse, axis=0)
        # Sums since the last step without an impulse: those in successive steps are one impact.
        of_each = sums - np.maximum.accumulate(np.where(impulse > 0, 0.0, sums), axis=0)
        k, j = np.unravel_index(int(np.argmax(of_each)), of_each.shape)
        largest = max(largest, (float(of_each[k, j]), -(begin + int(k)), int(j)))
        total, carried = total + float(impulse.sum()), of_each[-1]
    more = count_unresolved(data)
    others = f"{more} that only a smaller h tells from lasting contact" if more else ""
    found = None if has_errors(data) else find_unresolved_closing(data)
    remark = ""
    if found is not None and not found.warns:
        remark = f"; {tell_unresolved_closing(data, found)}"
    if not count:
        none = f"none but {others}" if more else "none that steps of this size tell"
        return [("impacts", none + remark)] if more or found else []
    if not largest[0]:
        return [("impacts", f"{count}, over between the ends of steps: a smaller h resolves them")]
    size, minus_row, contact = largest
    where, when = data["contact"].values[contact], data["time"].values[-minus_row]
    text = f"{count} of up to {size:.4g} N s (at {where}, t = {when:.6g} s)"
    text += f", {total:.4g} N s in all{tell_thinning(data)}"
    return [("impacts", (f"{text}, and {others}" if more else text) + remark)]


def tell_modes(data: xr.Dataset) -> list[Row]:
    """Return how the first joints with contacts spent the time."""
    if not _has_modes(data):
        return []
    rows, found = [], [*statistics_of_modes(data).items()]
    for joint, x in found[:MOST_JOINTS]:
        parts = f"{100 * x.free:.3g} % free, {100 * x.lasting:.3g} % in lasting contact"
        rows.append((f"modes of {joint}", f"{parts}, {x.impacts} impacts{tell_thinning(data)}"))
    if len(found) > MOST_JOINTS:
        rows.append(("modes of others", f"{len(found) - MOST_JOINTS} more: `contact_modes`"))
    return rows


def _has_modes(data: xr.Dataset) -> bool:
    return bool(data.sizes["contact"]) and {"contact_mode", "impact_impulse"} <= {*data.variables}
