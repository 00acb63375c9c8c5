"""Caveats of optima: friction, ends, and what happens when they are simulated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsopt.caveats.sizes import STILL, TINY, smaller

if TYPE_CHECKING:
    import xarray as xr

CREPT = 0.3
"""Of a cost by the exact sign of dry friction, what an objective may leave out without a word."""

DEPARTED = 0.05
"""Of the largest change of a coordinate, the distance from an optimum at which its simulation has
departed from it."""


def _reversals(data: xr.Dataset) -> Iterator[str]:
    count = data.attrs.get("reversal_times", 0)
    if count:
        a = data.attrs
        yield (
            f"dry friction of contact {a['reversal_contact']!r} turns round within a step "
            f"(t = {a['reversal_time']:.4g} s, {count} in all): the optimum may be none, for "
            "derivatives miss that the time of it moves; smooth it by "
            f"{a['scheme_name']}(slip_creep={_rounded_up(a['reversal_change']):g}) or more, which "
            "may be less as steps are shorter; at up to about this speed [m/s] contacts then slide "
            "that friction should hold, and a WARNING tells where they get far"
        )


def _crossed_bores(data: xr.Dataset) -> Iterator[str]:
    count = data.attrs.get("crossed_steps", 0)
    if count:
        a = data.attrs
        yield (
            f"the pin of contact {a['crossed_contact']!r} crosses its bore and presses within a "
            f"step (t = {a['crossed_time']:.4g} s, {count} of {a['steps']} in all): its force has "
            "any direction there, and normal_force no meaning; state where the pin starts, at the "
            "wall that it presses, take more steps, or normal_implicitness=1"
        )


def _rounded_up(x: float) -> float:
    """Return x in one digit, not below it."""
    unit = 10.0 ** np.floor(np.log10(max(x, TINY)))
    return float(np.ceil(x / unit * (1 - 1e-9)) * unit)


def _smoothed_friction(data: xr.Dataset) -> Iterator[str]:
    if "exact_cost" not in data.attrs:
        return
    exact, stated = (json.loads(data.attrs[x]) for x in ("exact_cost", "detailed_cost"))
    whole = sum(exact.values())
    part = (whole - sum(stated[name] for name in exact)) / max(abs(whole), TINY)
    if part > CREPT:
        yield (
            f"with the exact sign of dry friction, {100 * part:.2g} % of the cost are not in the "
            "objective, where it is smoothed: joints creep that could rest, and a motion that "
            "rests may cost less; give the times of rest as phases (optimize_phases)"
        )


def _closing(data: xr.Dataset) -> Iterator[str]:
    if contact := data.attrs.get("closing_contact"):
        yield (
            f"at the end {contact} is closed and moves into its wall at "
            f"{data.attrs['closing_speed']:.2g} m/s, for no step follows that would stop it: give "
            "the velocity there, such as EndAt(v=...)"
        )


def _departs(data: xr.Dataset) -> Iterator[str]:
    if "resimulated" not in data:
        return
    q = data["q"].values
    off = np.abs(data["resimulated"].values - q).max(axis=1)
    far = max(STILL, DEPARTED * float(np.ptp(q, axis=0).max()))
    departed = np.flatnonzero(off > far)
    if departed.size:
        a, t = data.attrs, float(data["time"].values[departed[0]])
        yield (
            "simulated under its inputs and drives alone, the motion departs at "
            f"t = {t:.4g} s, by {a['resimulated_defect']:.2g} (m, rad) until "
            f"{a['resimulated_until']:.4g} s: as it is, it needs a controller; {smaller(data)}"
        )


CHECKS = (_departs, _closing, _reversals, _crossed_bores, _smoothed_friction)
