"""Modes of joints with contacts over a run: free flight, lasting contact, impact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.blocks import blocks

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

FREE, LASTING, IMPACT = 0, 1, 2
"""Modes of a contact in a step, the values of ``contact_mode`` [flags]."""

RESTS = 1.5
"""Steps of the lasting force, from which the impulse of a contact that begins may be an impact."""

OPEN = 1e-3
"""Of the largest gap, that from which a contact was open as it began."""

SHUT = 1e-6
"""Of the typical opening of a gap, what is none: rounding and tolerances leave less."""

ROUNDING = 1e-12
"""Of the largest impulse, what rounding leaves of forces that are zero."""

KNOWN = 0.03
"""Error of a speed of approach, over the largest one in a joint, up to which nothing is said."""

ROUGH = 0.2
"""The same, from which there is a warning."""

LATEST = 1.5
"""Steps by which impacts are late at most, by any scheme."""

SPEEDS = 4
"""Steps before a contact closes that tell the speed at which it does, and how that changes."""

SLOW = 0.01
"""Of the largest speed at which contacts close, that of a joint whose impacts matter."""

EVEN = 1e-6
"""Part of a bound of h, by which steps at it differ from it at most."""

ROWS = 100_000
"""Times that are looked at at once."""


class FlightEnd(NamedTuple):
    """How a contact closes after a flight."""

    contact: int
    steps: int  # of the flight and its end
    speed: float  # [m/s]
    growth: float  # [m/s^2] of it
    off: float  # [m/s] by what it may be off, as steps place the impact


class RoughEnd(NamedTuple):
    """The approach that steps know least."""

    approach: FlightEnd
    part: float  # of the largest speed of approach in the joint by which it may be off, up to one
    h: float  # [s] of steps that know it


class ModeStatistics(NamedTuple):
    """How a joint spent a run.

    A joint is in free flight while none of its contacts presses, in an impact where one of them
    meets its wall, otherwise in lasting contact.
    """

    free: float  # part of the time
    lasting: float
    impact: (
        float  # that of whole steps in which there is an impact, so of rigid ones it falls with h
    )
    impacts: int  # of all its contacts; steps in a row with an impact of a contact are one
    flights: int
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


def step_modes(data: xr.Dataset) -> NDArray[np.int8]:
    """Return the mode of each contact in each step, (time - 1, contact)."""
    return np.concatenate([x.astype(np.int8) for _, x in blocks(data["contact_mode"][1:])])


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
    """Return how many rigid contacts begin so that steps of this size do not tell impact or rest.

    Their impulses are worth more than `RESTS` steps of the lasting force after them, less than an
    impact is.
    """
    needed = {"gap", "impulse", "contact_mode", "lasting_force", "h"}
    rigid = data.sizes["contact"] - int(data.attrs["pressed"])
    if not rigid or not needed <= {*data.variables}:
        return 0
    widest = np.max([x[:, :rigid].max(axis=0) for _, x in blocks(data["gap"])], axis=0)
    parts = (
        data[[*needed]].isel(time=slice(begin, begin + ROWS + 1), contact=slice(rigid))
        for begin in range(0, data.sizes["time"] - 1, ROWS)
    )
    return sum(_count_unresolved(part, widest) for part in parts)


def _count_unresolved(data: xr.Dataset, widest: Array) -> int:
    mode, gap, impulse = (data[x].values for x in ("contact_mode", "gap", "impulse"))
    force = np.linalg.norm(data["lasting_force"].values, axis=-1)
    was_open = gap[:-1] > OPEN * widest
    was_open[1:] |= was_open[:-1] & (mode[1:-1] == FREE)  # where steps end as surfaces meet
    begins = (mode[1:] == LASTING) & was_open & (mode[:-1] != LASTING)
    worth = impulse[1:] > RESTS * data["h"].values[1:, None] * force[1:]
    return int(np.count_nonzero(begins & worth))


def find_rough_approach(data: xr.Dataset) -> RoughEnd | None:
    """Return the approach that steps know least, if by too little for impulses and forces after it.

    Impacts at the end of their steps are late, by up to a step in which forces change the speed:
    that of a flight from rest of n steps by 1 / n. It is the part of the largest speed that counts,
    so chatter after impacts that are known does not, however few steps its flights have.
    """
    needed = {"gap", "contact_mode", "h"}
    rigid = data.sizes["contact"] - int(data.attrs["pressed"])
    thinned = data.attrs["store_every"] > 1 or data.attrs["output_times"]
    if "objective" in data.attrs or thinned or not rigid or not needed <= {*data.variables}:
        return None
    joints = [[k for k in ks if k < rigid] for ks in contacts_of_joints(data).values()]
    found = [[x for k in ks for x in _approaches(data, k)] for ks in joints]
    least = SLOW * max((x.speed for each in found for x in each), default=0.0)
    rough = []
    for each in found:
        most = max((x.speed for x in each), default=0.0)
        if most > least:
            one = max(each, key=lambda x: min(x.off, x.speed))
            part = min(one.off, one.speed) / most
            if part > KNOWN:
                rough.append(RoughEnd(one, part, KNOWN / LATEST * most / one.growth))
    return max(rough, key=lambda x: x.part, default=None)


def tell_rough_approach(data: xr.Dataset, rough: RoughEnd) -> str:
    """Return in words what steps do not know of a contact that closes, with the remedy."""
    where, steps = data["contact"].values[rough.approach.contact], rough.approach.steps
    flight = "one step" if steps == 1 else f"{steps} steps"
    known = f"may be off by {100 * rough.part:.0f} %" if rough.part < 1 else "are not known"
    return (
        f"contact {str(where)!r} closes after a flight of {flight}: its speed, and with it "
        f"impulses and the forces after that, {known}; h of {_round_down(rough.h):.1g} s or less"
    )


def _round_down(h: float) -> float:
    """Return one digit of a number, so that what is told is not more than is meant."""
    digit: float = 10.0 ** np.floor(np.log10(h))
    # Rounding may leave a digit just below itself.
    return float(np.floor(h / digit * (1 + 1e-9)) * digit)


def _approaches(data: xr.Dataset, j: int) -> Iterator[FlightEnd]:
    """Yield those of a contact that was open before."""
    gap, h = data["gap"][:, j].values, data["h"].values
    mode = np.nan_to_num(data["contact_mode"][:, j].values)
    openings = np.atleast_1d(data.attrs["gap_scales"])
    least = max(OPEN * gap.max(), SHUT * float(openings[j]))
    for a, k in spans(mode == FREE):
        begin = max(a - 1, 0)
        if k == len(mode) or gap[begin:k].max() <= least:
            continue
        if k - begin == 1:  # open where the motion starts, closed at the end of the first step
            if _was_chosen(data, float(h[1])):
                continue
            speed = float(gap[0] / h[1])
            yield FlightEnd(j, 1, speed, speed / float(h[1]), speed)
            continue
        first = max(k - SPEEDS - 1, begin)
        lasts = h[first + 1 : k]
        rates = -np.diff(gap[first:k]) / lasts
        growth = 2 * rates[-1] / lasts[-1]  # from rest
        if len(rates) > 1:  # the least of several: impacts of others change the speed at once
            each = 2 * np.diff(rates) / (lasts[1:] + lasts[:-1])
            growth = each[np.argmin(np.abs(each))]
        elif begin == 0:
            growth = min(growth, _growth_at_first(data, j))
        speed = rates[-1] + growth * lasts[-1] / 2
        if speed <= 0:
            continue
        root = np.sqrt(max(speed**2 + 2 * growth * gap[k - 1], 0.0))
        late = abs(h[k] - 2 * gap[k - 1] / (speed + root))
        if data.attrs["scheme_name"] == "PaperStep":  # where speeds at the end give the positions
            late = h[begin + 1 : k + 1].max()
        yield FlightEnd(j, k - begin, float(speed), float(abs(growth)), float(abs(growth) * late))


def _growth_at_first(data: xr.Dataset, j: int) -> float:
    """Return what the approach to a flat wall gains in the first step at most [m/s^2].

    It is that of the two bodies that gain most, where none turns; else it is not known.
    """
    v, w = "body_velocity", "body_angular_velocity"
    curved = np.isfinite(np.atleast_1d(data.attrs["clearances"])[j])
    if curved or not {v, w} <= {*data.data_vars} or np.any(data[w].values[:2]):
        return np.inf
    gains = np.linalg.norm(np.diff(data[v].values[:2], axis=0)[0], axis=-1)
    return float(np.sort(gains)[-2:].sum() / data["h"].values[1])


def _was_chosen(data: xr.Dataset, h: float) -> bool:
    """Return whether step control chose a step within its bounds, so that it ends at an impact."""
    a = data.attrs
    within = float(a["h_min"]) * (1 + EVEN) < h < float(a["h_max"]) * (1 - EVEN)
    return bool(within and a["scheme_name"] != "PaperStep")


def least_force(data: xr.Dataset) -> float:
    """Return what a force that lasts is at least [N]: less is the rounding of impulses."""
    largest = [np.nanmax(x, initial=0.0) for _, x in blocks(data["impulse"])]
    return ROUNDING * max(largest) / float(np.nanmean(data["h"].values)) if max(largest) else 0.0


def largest_of(block: tuple[int, Array]) -> tuple[float, int, int]:
    """Return the largest force of a block, its row less than zero, and its contact.

    So that of equal forces the first is the largest.
    """
    begin, x = block
    squared = np.nan_to_num(np.einsum("kji,kji->kj", x, x))
    k, j = np.unravel_index(int(np.argmax(squared)), squared.shape)
    return float(np.sqrt(squared[k, j])), -(begin + int(k)), int(j)


def rise_above_steps_beside(data: xr.Dataset, k: int, contacts: list[int]) -> float:
    """Return by what part of itself a force that lasts is above that of the steps beside it.

    Of the sum of contacts at the time k, over those where they press; zero where none does, and
    where steps were left out or are those of an optimum.
    """
    if "objective" in data.attrs or data.attrs["store_every"] > 1 or data.attrs["output_times"]:
        return 0.0
    rows = slice(max(k - 1, 0), k + 2)
    summed = np.nansum(data["lasting_force"][rows, contacts].values, axis=1)
    force = np.linalg.norm(summed, axis=-1)
    t, own = data["time"].values[rows], min(k, 1)
    beside = force > 0
    beside[own] = False
    if not beside.any():
        return 0.0
    return float(1 - np.interp(t[own], t[beside], force[beside]) / force[own])


def spans(on: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return begin and end of each stretch of what is true, (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
