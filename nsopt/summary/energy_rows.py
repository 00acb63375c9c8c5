"""What a summary says of energies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nsopt.blocks import blocks
from nsopt.caveats import dissipates, forces_dissipate, measure_exchange, turns_directions

if TYPE_CHECKING:
    import xarray as xr

Row = tuple[str, str]
"""A line of a summary: what it is about, and its text."""

BALANCE = 1e-3  # difference of energies, over what a motion exchanges, that summaries leave out

ROUND_OFF = 1e-9
"""Energy, over what a motion exchanges, that counts as zero."""


def tell_energy(data: xr.Dataset) -> list[Row]:
    """Return the energies at both ends, where the difference went, and rows of details."""
    total, work = data["total_energy"].values, float(data["external_work"].values[-1])
    outside = f", {work:.4g} J of it from outside" if work else ""
    rows = [("energy", f"{total[0]:.6g} J at the start, {total[-1]:.6g} J at the end{outside}")]
    loss = data["dissipated_energy"].values
    if dissipates(data):
        lost = _drop_round_off(loss[-1], data)
        where = _tell_where_lost(data, lost, _sum_contact_losses(data))
        rows.append(("energy lost", f"{lost:.3g} J at the end{where}"))
        gained = float(np.max(np.maximum.accumulate(loss) - loss))
        if data.attrs["scheme_name"] == "PaperStep" and gained > 0:
            t = data["time"].values
            mean = np.trapezoid(loss, t) / (t[-1] - t[0])
            swing = f"{mean:.3g} J on average, for that of a step swings by {gained:.2g} J, as h"
            rows.append(("lost", swing))
    else:
        off = np.max(np.abs(loss))
        part = f"{100 * off / measure_exchange(data):.2g} % of what the motion exchanges"
        rows.append(("off by the steps", f"{off:.2g} J at most, {part}: nothing dissipates"))
    if moved := float(data["projection_work"].values[-1]):
        rows.append(("added by projection", f"{moved:.3g} J"))
    if (off := data.attrs["unplaced_energy"]) and turns_directions(data):
        rows.append(("turning directions", f"change the energy by some {off:.2g} J"))
    return rows


def _drop_round_off(energy: float, data: xr.Dataset) -> float:
    """Return an energy [J], zero where it is only round-off."""
    return energy if abs(energy) > ROUND_OFF * measure_exchange(data) else 0.0


def _tell_where_lost(data: xr.Dataset, loss: float, by_contacts: float | None) -> str:
    """Return in words what took a loss [J]: contacts their part, if it is on record, or others."""
    whole = measure_exchange(data)
    others = "by forces that may dissipate and by the steps"
    if by_contacts is None:
        return f", {others}"
    if by_contacts < -BALANCE * whole:
        return f"; contacts give {-by_contacts:.3g} J: the steps add energy to them"
    by_contacts = _drop_round_off(max(by_contacts, 0.0), data)
    if by_contacts > loss and f"{by_contacts:.3g}" != f"{loss:.3g}":
        return f"; contacts take {by_contacts:.3g} J, and the steps add the difference"
    rest = others if forces_dissipate(data) else "by the steps"
    more = f", the rest {rest}" if loss - by_contacts > BALANCE * whole else ""
    return f", {by_contacts:.3g} J of it in impacts and friction{more}"


def _sum_contact_losses(data: xr.Dataset) -> float | None:
    """Return the energy that contacts, rigid and compliant, took [J]; None if it is not known."""
    if not data.sizes["contact"] or "contact_loss" not in data:
        return None
    return float(sum(np.nansum(loss) for _, loss in blocks(data["contact_loss"])))
