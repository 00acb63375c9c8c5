"""Caveats of forces that contacts have while they last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.caveats.sizes import USUAL_ORDER, find_order, has_steps_with, suggest_shorter
from nsopt.contact_modes import LASTING, count_rigid, find_open, least_force

if TYPE_CHECKING:
    import xarray as xr

APART = 1.2
"""Root mean square of forces over that of their means over steps, from which there is a caveat.
Where forces vary as the motion does it is 1, and up to 1.15 in steps as long as users take."""

PART = 0.1  # part of a run that a contact must last for its largest force to matter

HIGH = 0.95
"""Part of the time of a contact in which its force is below the one that counts as its largest:
larger ones are of the transient as it begins."""

MATTERS = 0.2  # force of a contact, over the largest of all contacts, from which it matters

UNSURE = 0.05
"""Difference that steps in which a contact opens or closes may make to its largest force, over the
force while it stays closed."""


def _tell_alternating_forces(data: xr.Dataset) -> Iterator[str]:
    """Tell of forces that alternate from step to step, so that their mean squares are of no use."""
    if not has_steps_with(data, "contact_force", "lasting_force", "contact_mode", "impulse"):
        return
    rigid = count_rigid(data)
    lasting = data["contact_mode"].values[:, :rigid] == LASTING
    lasting &= ~_find_closing_steps(data, rigid)
    h = data["h"].values[:, None] * lasting
    of_steps, of_means = (
        np.nansum(h * np.nansum(data[name].values[:, :rigid] ** 2, axis=2))
        for name in ("contact_force", "lasting_force")
    )
    duration = np.nansum(h)
    if duration and of_steps > APART**2 * of_means > 0:
        remedy = suggest_shorter(data)
        if find_order(data) < USUAL_ORDER:
            remedy = f"take Variational, or {remedy}"
        of_steps, of_means = np.sqrt([of_steps / duration, of_means / duration])
        yield (
            f"forces of contacts alternate from step to step: while contact lasts their root mean "
            f"square is {of_steps:.3g} N, that of their means {of_means:.3g} N; {remedy}"
        )


def _tell_forces_of_flights(data: xr.Dataset) -> Iterator[str]:
    """Tell of forces that are largest where a contact opens, closes or strikes.

    A flight of a few steps counts as part of a lasting contact, with the force that would hold it
    closed; only shorter steps tell whether it lasts there.
    """
    if not has_steps_with(data, "gap", "lasting_force", "contact_mode"):
        return
    rigid = count_rigid(data)
    force = np.linalg.norm(np.nan_to_num(data["lasting_force"].values[:, :rigid]), axis=2)
    stays = (data["contact_mode"].values[:, :rigid] == LASTING) & ~find_open(data)[:, :rigid]
    stays[1:] &= ~find_open(data)[:-1, :rigid]
    h = np.nan_to_num(data["h"].values)
    for k, name in enumerate(map(str, data["contact"].values[:rigid])):
        if h[force[:, k] > 0].sum() < PART * h.sum():
            continue
        whole, closed = (
            _find_upper_force(force[:, k], h * on)
            for on in (force[:, k] > 0, (force[:, k] > 0) & stays[:, k])
        )
        if 0 < closed < whole / (1 + UNSURE) and whole > MATTERS * force.max():
            yield (
                f"contact {name!r} has forces of up to {whole:.3g} N in steps in which it opens or "
                f"closes, {closed:.3g} N while it stays closed: only a smaller h tells whether it "
                f"lasts there; {suggest_shorter(data)}"
            )


def _find_upper_force(force: Array, weight: Array) -> float:
    """Return the force [N] that a contact exceeds in 5 % of the time; zero where it lasts for none.

    ``weight`` (time,) [s] is how long a force (time,) [N] counts.
    """
    order = np.argsort(force)
    summed = np.cumsum(weight[order])
    if not summed[-1]:
        return 0.0
    return float(force[order[np.searchsorted(summed, HIGH * summed[-1])]])


def _find_closing_steps(data: xr.Dataset, rigid: int) -> NDArray[np.bool_]:
    """Return in which steps contacts close after a flight, however short, (time, rigid).

    Their force then also stops the bodies.
    """
    force = np.nan_to_num(data["contact_force"].values[:, :rigid])
    idle: NDArray[np.bool_] = np.linalg.norm(force, axis=2) <= least_force(data)
    closes = np.zeros_like(idle)
    closes[1:] = find_open(data)[:-1, :rigid]
    closes[2:] |= idle[:-2] & idle[1:-1]
    return closes


RULES = (_tell_alternating_forces, _tell_forces_of_flights)
