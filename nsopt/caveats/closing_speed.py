"""Caveats of contacts that close after flights too short for steps to resolve how fast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nsopt.caveats.sizes import has_steps_with
from nsopt.contact_modes import FREE, OPEN, SHUT, contacts_of_joints, count_rigid, spans

if TYPE_CHECKING:
    import xarray as xr

TOLERATED = 0.03
"""Error of the speed at which a contact closes, over the largest such speed in its joint, up to
which nothing is said."""

WARNED = 0.2  # error, likewise, from which there is a warning

LATENESS = 1.5
"""Steps by which schemes place impacts late at most: one that judges in the middle of a step if a
contact closes places an impact just after that at the end of the next."""

BEFORE = 4  # steps before a contact closes whose gaps tell its speed and acceleration

SLOW = 0.01
"""Largest speed at which contacts of a joint close, over that of all joints, from which its impacts
matter."""

EVEN = 1e-6
"""Difference of a step from a bound of h, over the bound, up to which it is at the bound."""


class FlightEnd(NamedTuple):
    """How a contact closes after a flight."""

    contact: int
    steps: int  # of the flight, with the one in which it closes
    speed: float  # [m/s] at which it closes
    acceleration: float  # [m/s^2] of the gap, its size
    error: float  # [m/s] of the speed, as the impact is late by part of its step


class UnresolvedClosing(NamedTuple):
    """A contact that closes at a speed that steps do not resolve."""

    end: FlightEnd
    error: float  # of its speed, over the largest one in its joint; at most one
    h: float  # [s] of steps that resolve it

    @property
    def warns(self) -> bool:
        """Whether it is a warning; else it is told beside the impacts."""
        return self.error > WARNED


def find_unresolved_closing(data: xr.Dataset) -> UnresolvedClosing | None:
    """Return the closing with the largest error; None if all are resolved, or none is on record.

    Impacts at the end of their steps are late by up to a step in which forces change the speed: of
    a flight of n steps from rest by 1 / n of it. Errors are compared with the largest speed in the
    joint: chatter after impacts that are resolved does not count, however short its flights.
    Optima, runs of which not all steps are stored, and compliant contacts are left out.
    """
    rigid = count_rigid(data)
    if not rigid or not has_steps_with(data, "gap", "contact_mode", "h"):
        return None
    joints = [[k for k in ks if k < rigid] for ks in contacts_of_joints(data).values()]
    closings = [[x for k in ks for x in _find_closings(data, k)] for ks in joints]
    least = SLOW * max((x.speed for each in closings for x in each), default=0.0)
    unresolved = []
    for each in closings:
        fastest = max((x.speed for x in each), default=0.0)
        if fastest > least:
            worst = max(each, key=lambda x: min(x.error, x.speed))
            error = min(worst.error, worst.speed) / fastest
            if error > TOLERATED:
                h = TOLERATED / LATENESS * fastest / worst.acceleration
                unresolved.append(UnresolvedClosing(worst, error, h))
    return max(unresolved, key=lambda x: x.error, default=None)


def tell_unresolved_closing(data: xr.Dataset, found: UnresolvedClosing) -> str:
    """Return in words what steps do not resolve, with the remedy."""
    where, steps = data["contact"].values[found.end.contact], found.end.steps
    flight = "one step" if steps == 1 else f"{steps} steps"
    known = f"may be off by {100 * found.error:.0f} %" if found.error < 1 else "are not known"
    # Cut to its first digit, as rounded up it might not do; against round-off, 1e-9 more.
    digit = 10.0 ** np.floor(np.log10(found.h))
    h = np.floor(found.h / digit * (1 + 1e-9)) * digit
    return (
        f"contact {str(where)!r} closes after a flight of {flight}: its speed, and with it "
        f"impulses and the forces after that, {known}; h of {h:.1g} s or less"
    )


def _find_closings(data: xr.Dataset, j: int) -> Iterator[FlightEnd]:
    """Yield the closings of a contact that was open before."""
    gap, h = data["gap"][:, j].values, data["h"].values
    mode = np.nan_to_num(data["contact_mode"][:, j].values)
    opening = float(np.atleast_1d(data.attrs["gap_scales"])[j])
    least, a = max(OPEN * gap.max(), SHUT * opening), data.attrs
    # A first step within its bounds ends at an impact, where step control chose it.
    chosen = float(a["h_min"]) * (1 + EVEN) < float(h[1]) < float(a["h_max"]) * (1 - EVEN)
    ends_at_impact = chosen and a["scheme_name"] != "PaperStep"
    for first, end in spans(mode == FREE):
        begin = max(first - 1, 0)
        if end == len(mode) or gap[begin:end].max() <= least:  # still open, or it hardly was
            continue
        if end - begin > 1:
            yield from _find_closing_of_flight(data, j, begin, end)
        elif not ends_at_impact:  # closed after the first step: nothing is known before
            speed = float(gap[0] / h[1])
            yield FlightEnd(j, 1, speed, speed / float(h[1]), speed)


def _find_closing_of_flight(data: xr.Dataset, j: int, begin: int, end: int) -> Iterator[FlightEnd]:
    """Yield how the flight of a contact over some times ends, unless it is opening by then."""
    gap, h = data["gap"][:, j].values, data["h"].values
    first = max(end - BEFORE - 1, begin)
    sizes = h[first + 1 : end]
    rates = -np.diff(gap[first:end]) / sizes
    acceleration = 2 * rates[-1] / sizes[-1]  # from rest
    if len(rates) > 1:  # the least of several: impacts of others change the speed at once
        several = 2 * np.diff(rates) / (sizes[1:] + sizes[:-1])
        acceleration = several[np.argmin(np.abs(several))]
    elif begin == 0:
        acceleration = min(acceleration, _find_first_acceleration(data, j))
    speed = rates[-1] + acceleration * sizes[-1] / 2
    if speed <= 0:
        return
    if data.attrs["scheme_name"] == "PaperStep":  # its positions follow from speeds at the end
        late = h[begin + 1 : end + 1].max()
    else:
        # The wall is met within the step at whose end the impact is.
        left = gap[end - 1]
        meets_after = 2 * left / (speed + np.sqrt(max(speed**2 + 2 * acceleration * left, 0.0)))
        late = abs(h[end] - meets_after)
    size = float(abs(acceleration))
    yield FlightEnd(j, end - begin, float(speed), size, size * float(late))


def _find_first_acceleration(data: xr.Dataset, j: int) -> float:
    """Return the largest possible acceleration towards a flat wall in the first step [m/s^2].

    The sum of the two largest of bodies, where none turns; else it is not known: infinity.
    """
    v, w = "body_velocity", "body_angular_velocity"
    curved = np.isfinite(np.atleast_1d(data.attrs["clearances"])[j])  # a bore has a clearance
    if curved or not {v, w} <= {*data.data_vars} or np.any(data[w].values[:2]):
        return np.inf
    changes = np.linalg.norm(np.diff(data[v].values[:2], axis=0)[0], axis=-1)
    return float(np.sort(changes)[-2:].sum() / data["h"].values[1])


def _tell_unresolved_closings(data: xr.Dataset) -> Iterator[str]:
    found = find_unresolved_closing(data)
    if found is not None and found.warns:
        yield tell_unresolved_closing(data, found)


RULES = (_tell_unresolved_closings,)
