"""Caveats of impacts that steps place at their end, late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.caveats.energy import UNPLACED
from nsopt.caveats.sizes import TINY, has_steps_with, measure_exchange, suggest_shorter
from nsopt.contact_modes import FREE, count_rigid

if TYPE_CHECKING:
    import xarray as xr

SHIFTED = 0.01  # error of the energy that contacts take, over it, by late impacts, without a word


class LateImpacts(NamedTuple):
    """Impacts of a contact that was open before, (n,) each."""

    step: NDArray[np.int_]  # the index of the time at which the step ends, and the impact is placed
    met: Array  # [s] how long after the start of the step surfaces met
    late: Array  # [s] how long before its end they met
    speed: Array  # [m/s] of approach as they met
    growth: Array  # [m/s^2] of that speed
    rebound: Array  # [m/s] at which surfaces part


def find_late_impacts(data: xr.Dataset) -> Iterator[tuple[int, LateImpacts]]:
    """Yield impacts of each rigid contact at walls that do not turn, from the gaps before them.

    Those after which it stays closed are among them.
    """
    rigid = count_rigid(data)
    if not rigid or not {"gap", "contact_mode"} <= {*data.data_vars}:
        return
    h = data["h"].values
    for j in np.flatnonzero(np.isnan(np.atleast_1d(data.attrs["clearances"])[:rigid])):
        gap, mode = data["gap"].values[:, j], data["contact_mode"].values[:, j]
        k = np.flatnonzero(mode[3:] != FREE) + 3
        k = k[(mode[k - 1] == FREE) & (mode[k - 2] == FREE)]
        # Mean speeds of approach in the two steps before, in the middles of these.
        before, speed = (-(gap[k - i] - gap[k - i - 1]) / h[k - i] for i in (2, 1))
        growth = 2 * (speed - before) / (h[k - 1] + h[k - 2])
        speed = speed + growth * h[k - 1] / 2  # at the start of the step
        way = np.maximum(gap[k - 1], 0)
        root = np.sqrt(np.maximum(speed**2 + 2 * growth * way, 0))
        met = 2 * way / np.maximum(speed + root, TINY)  # way = speed met + growth met^2 / 2
        late = np.clip(h[k] - met, 0, h[k]) * (speed > 0)
        after = np.minimum(k + 1, len(h) - 1)
        rebound = np.maximum((gap[after] - gap[k]) / h[after] + growth * h[after] / 2, 0)
        approach, rebound = np.maximum(speed + growth * met, 0), rebound * (gap[after] > gap[k])
        yield int(j), LateImpacts(k, h[k] - late, late, approach, growth, rebound)


def _tell_late_impacts(data: xr.Dataset) -> Iterator[str]:
    """Tell of impacts of driven bodies, late by a part of a step in which their drives go on."""
    if not has_steps_with(data, "impact_impulse", "contact_loss"):
        return
    if not np.any(data["external_work"].values):
        return  # nothing else goes on meanwhile: the motion is as it was, and later
    whole = error = largest = 0.0
    name = ""
    for j, x in find_late_impacts(data):
        loss, change = _find_late_losses(data, j, x)
        whole, error = whole + float(loss.sum()), error + float(change.sum())
        if change.size and np.abs(change).max() > largest:
            largest, name = float(np.abs(change).max()), str(data["contact"].values[j])
    if abs(error) > max(SHIFTED * whole, UNPLACED * measure_exchange(data)):
        yield (
            f"impacts of contact {name!r} are placed at the end of their steps, late by up to a "
            f"step in which forces change its speed: what it takes is off by some "
            f"{100 * abs(error) / whole:.2g} %; take the scheme ContactAligned, whose steps end at "
            f"impacts, or {suggest_shorter(data)}"
        )


def _find_late_losses(data: xr.Dataset, j: int, x: LateImpacts) -> tuple[Array, Array]:
    """Return the losses of impacts of a contact, and their errors for being late [J].

    An impulse I that turns an approach v into a rebound w takes I (v - w) / 2, from which the v of
    the step follows. The right v is that at which surfaces met, less what the motion gained while
    impacts before delayed it. The loss goes with v^2, and is larger where I also holds the body for
    the rest of the step.
    """
    impulse = np.nan_to_num(data["impact_impulse"].values[x.step, j])
    loss = np.nan_to_num(data["contact_loss"].values[x.step, j])
    approach = 2 * loss / np.maximum(impulse, TINY) + x.rebound
    known = (x.step < data.sizes["time"] - 1) & (impulse > 0) & (loss > 0) & (approach > 0)
    right = x.speed - x.growth * carry_delays(x.late, x.rebound / np.maximum(x.speed, TINY))
    approach = np.where(known, approach, 1.0)
    held = np.maximum(1 + x.growth * x.late / (approach + x.rebound), TINY)
    return loss, loss * np.where(known, (right / approach) ** 2 / held - 1, 0.0)


def carry_delays(late: Array, kept: Array) -> Array:
    """Return by how much a driven motion is late before each impact, (n,) [s].

    Each is ``late`` (n,) [s] by itself, and keeps a part of an earlier delay, ``kept`` (n,): the
    speed of rebound over that of approach.
    """
    delay = np.zeros(len(late))
    for k in range(1, len(late)):
        delay[k] = min(kept[k - 1], 1.0) * delay[k - 1] + late[k - 1]
    return delay


RULES = (_tell_late_impacts,)
