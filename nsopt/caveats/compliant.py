"""Caveats of compliant contacts that steps do not resolve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsopt.caveats.sizes import ROUND_OFF, has_all_steps, measure_exchange
from nsopt.contact_modes import count_rigid, spans

if TYPE_CHECKING:
    import xarray as xr

RESOLVED = 10  # steps that a compliant contact should last

TAKING = 11
"""Steps that one should last which takes energy: how much depends on where in a step it begins."""

PEAK = 6
"""Steps of a contact from which on its largest force is within 5 %, also between their ends."""

SHARE = 0.01  # energy of a compliant contact, over what the motion exchanges, from which it matters

KEPT = 0.025
"""Energy by which contacts that take none may be off, over what the motion exchanges. In the flight
after that bodies are off by twice this part of their height."""


def _find_pushes(data: xr.Dataset, k: int) -> list[tuple[int, int]]:
    """Return each time that contact k presses and lets go again and that matters by its energy.

    As the index of the first time with a force, and the number of steps. A force of zero between,
    with the surfaces still inside each other, separates two pushes.
    """
    force = np.linalg.norm(np.nan_to_num(data["contact_force"].values[:, k]), axis=1)
    depth = np.maximum(-data["gap"].values[:, k], 0)
    work, found = force * depth / 2, list[tuple[int, int]]()
    if "contact_loss" in data:  # also of pushes within one step
        work = np.maximum(work, np.abs(np.nan_to_num(data["contact_loss"].values[:, k])))
    least = SHARE * measure_exchange(data)
    for begin, end in spans((force > 0) | (work > 0)):
        parts = [(begin + a, begin + b) for a, b in spans(force[begin:end] > 0)]
        if len(parts) > 1:
            # A push that takes energy without a force at either end of its step is within the step.
            # As of any other, the step before its first row counts too.
            idle = begin + np.flatnonzero((force[begin:end] == 0) & (work[begin:end] > least))
            found += [(row, 2) for row in idle.tolist()]
        for a, b in parts if len(parts) > 1 else [(begin, end)]:
            if a > 0 and b < len(force) and work[a:b].max() > least:
                found.append((a, b - a + 1))
    return found


def _tell_short_contacts(data: xr.Dataset) -> Iterator[str]:
    """Tell of compliant contacts that are over within a few steps, and matter."""
    count = int(data.attrs["pressed"])
    if not count or not has_all_steps(data) or not {"contact_force", "gap"} <= {*data.data_vars}:
        return
    pushes = {k: _find_pushes(data, k) for k in range(count_rigid(data), data.sizes["contact"])}
    least = TAKING if _take_energy(data, pushes) else RESOLVED
    short = [
        (steps, k, begin) for k, own in pushes.items() for begin, steps in own if steps < least
    ]
    if short and not (min(short)[0] >= PEAK and _keeps_energy(data, pushes)):
        steps, k, begin = min(short)
        h = data["h"].values[begin]
        yield (
            f"compliant contact {str(data['contact'].values[k])!r} is over within {steps} steps "
            f"(t = {data['time'].values[begin]:.4g} s, {len(short)} times less than {least}): "
            "what it takes and its force are not resolved; h of "
            f"{h * steps / RESOLVED / 2:.1g} s or less, about {2 * RESOLVED} steps a contact"
        )


def _take_energy(data: xr.Dataset, pushes: dict[int, list[tuple[int, int]]]) -> bool:
    """Return whether contacts take energy by their laws; not known of results of old versions."""
    if "contact_loss" not in data:
        return False
    loss = np.nan_to_num(data["contact_loss"].values)[:, list(pushes)]
    return bool(np.abs(loss).max() > ROUND_OFF * measure_exchange(data))


def _keeps_energy(data: xr.Dataset, pushes: dict[int, list[tuple[int, int]]]) -> bool:
    """Return whether contacts whose laws take no energy give all back, losses of steps included."""
    if "contact_loss" not in data or _take_energy(data, pushes):
        return False
    whole, loss = measure_exchange(data), np.nan_to_num(data["contact_loss"].values)
    lost, last = data["dissipated_energy"].values - loss.sum(axis=1).cumsum(), len(loss) - 1
    ends = [min(begin + steps, last) for own in pushes.values() for begin, steps in own]
    return float(np.abs(lost[ends]).max()) <= KEPT * whole


CHECKS = (_tell_short_contacts,)
