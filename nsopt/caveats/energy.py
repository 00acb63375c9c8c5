"""Caveats of the balance of energy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsopt.arrays import Array
from nsopt.blocks import blocks
from nsopt.caveats.sizes import (
    USUAL_ORDER,
    find_order,
    is_optimum,
    measure_exchange,
    suggest_following,
    suggest_shorter,
)
from nsopt.contact_modes import count_rigid, find_changes

if TYPE_CHECKING:
    import xarray as xr

EXCHANGED = "the energy that the motion exchanges"
"""In words, what energies are compared with; its size is `measure_exchange`."""

NOTABLE = 0.02
"""Energy that steps gain or lose for good, over that exchanged, from which there is a caveat."""

SWING = 0.1
"""Energy that steps gain or lose for a while, over that exchanged, from which there is a caveat."""

LATE = 0.8  # part of the steps after which a change of the energy counts as for good
UNPLACED = 3e-3  # energy by which impacts may be off without a word, over that exchanged
GIVEN = 5e-3  # energy that a contact gave, over that exchanged, from which there is a caveat
ROOM = 0.1  # ratio of h_min to h_max, below which steps can end at impacts


def _tell_energy_of_steps(data: xr.Dataset) -> Iterator[str]:
    """Tell of energy that steps gain or lose, where nothing else may have taken it."""
    loss, whole = _sum_losses_between_impacts(data), measure_exchange(data)
    whole_loss = data["dissipated_energy"].values
    gained = float(np.max(np.maximum.accumulate(whole_loss) - whole_loss))
    lost = float(np.max(loss - np.minimum.accumulate(loss)))
    stays = float(np.median(loss[int(LATE * len(loss)) :]))
    if forces_dissipate(data):
        lost, stays = 0.0, min(stays, 0.0)
    gained = max(gained, -stays)
    if gained > SWING * whole or -stays > NOTABLE * whole:
        yield (
            f"{gained:.2g} J were added by the discretisation, {100 * gained / whole:.2g} % of "
            f"{EXCHANGED}: {suggest_shorter(data)}"
        )
    elif lost > SWING * whole or stays > NOTABLE * whole:
        remedy = suggest_shorter(data)
        if find_order(data) < USUAL_ORDER:
            remedy += ", or take Variational"
        takes = data.sizes["contact"] and (
            "contact_loss" not in data or np.any(_read_contact_losses(data))
        )
        where = "beside what contacts take" if takes else "where nothing dissipates"
        yield (
            f"{lost:.2g} J were lost in the discretisation, {100 * lost / whole:.2g} % of "
            f"{EXCHANGED}, {where}: {remedy}"
        )


def sum_step_losses(data: xr.Dataset) -> Array:
    """Return the energy that steps took since the start [J], (time,).

    Losses of contacts are left out if they are on record and nothing else dissipates. Where forces
    do, their losses are in it too.
    """
    loss: Array = data["dissipated_energy"].values
    if forces_dissipate(data) or not data.sizes["contact"]:
        return loss
    return np.asarray(loss - _read_contact_losses(data).sum(axis=1).cumsum())


def _sum_losses_between_impacts(data: xr.Dataset) -> Array:
    """Return `sum_step_losses` without steps in which rigid contacts change.

    The loss of a contact in such a step is known only up to the work of forces within it.
    """
    loss = sum_step_losses(data)
    if forces_dissipate(data) or not (rigid := count_rigid(data)):
        return loss
    changes = find_changes(data.isel(contact=slice(rigid)))
    return np.asarray(np.cumsum(np.where(changes, 0.0, np.diff(loss, prepend=loss[0]))))


def _read_contact_losses(data: xr.Dataset) -> Array:
    """Return what each contact took in each step [J], (time, contact)."""
    return np.concatenate([np.nan_to_num(x) for _, x in blocks(data["contact_loss"])])


def dissipates(data: xr.Dataset) -> bool:
    """Return whether something in a run may dissipate; true of results of old versions."""
    return is_optimum(data) or bool(data.attrs.get("dissipates", True))


def forces_dissipate(data: xr.Dataset) -> bool:
    """Return whether energy may be taken that is not on record as loss of a contact."""
    if data.sizes["contact"] and "contact_loss" not in data:
        return dissipates(data)
    return is_optimum(data) or bool(data.attrs.get("forces_dissipate", dissipates(data)))


def _tell_energy_by_contacts(data: xr.Dataset) -> Iterator[str]:
    """Tell of the contact that gave most energy, by how far the sum of its losses fell."""
    if not data.sizes["contact"] or "contact_loss" not in data:
        return
    taken = most_taken = given = np.zeros(data.sizes["contact"])  # (contact,) [J] so far
    for _, loss in blocks(data["contact_loss"]):
        sums = taken + np.nancumsum(loss, axis=0)  # NaN, at the start, counts as none
        highest = np.maximum(most_taken, np.maximum.accumulate(sums))
        given = np.maximum(given, np.max(highest - sums, axis=0))
        taken, most_taken = sums[-1], highest[-1]
    whole, k = measure_exchange(data), int(np.argmax(given))
    if given[k] > GIVEN * whole:
        yield (
            f"contact {str(data['contact'].values[k])!r} gave {given[k]:.2g} J, "
            f"{100 * given[k] / whole:.2g} % of {EXCHANGED}, where it should take energy only: "
            f"{suggest_shorter(data)}"
        )


def _tell_late_energy(data: xr.Dataset) -> Iterator[str]:
    """Tell of the energy by which a run is off as steps do not end at impacts."""
    off, a, whole = data.attrs["unplaced_energy"], data.attrs, measure_exchange(data)
    if off > UNPLACED * whole:
        shrinks = a["h_min"] < ROOM * a["h_max"] and not a.get("ignores_contacts")
        remedy = "take a smaller FollowContacts(placed=)" if shrinks else suggest_following(data)
        remedy += ", so that steps end at impacts"
        what = "impacts are placed at the end of their steps, which changes the energy by up to"
        if turns_directions(data):
            remedy = "take Variational, with h_min well below h_max"
            what = "contacts have the directions at the start of their steps: energy is off by some"
        yield (
            f"{what} {off:.2g} J, {100 * off / whole:.2g} % of {EXCHANGED}: {remedy}, or "
            f"{suggest_shorter(data)}"
        )


def turns_directions(data: xr.Dataset) -> bool:
    """Return whether ``unplaced_energy`` is of directions at the start of steps, not of impacts."""
    return not data.attrs.get("forces_at_end", True)


RULES = (_tell_late_energy, _tell_energy_of_steps, _tell_energy_by_contacts)
