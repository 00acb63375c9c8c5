"""Caveats of a result: what its reader must know before using its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsopt.caveats import (
    closing,
    closing_speed,
    compliant,
    contacts,
    energy,
    forces,
    impacts,
    motion,
    optima,
    steps,
)
from nsopt.caveats.closing_speed import find_unresolved_closing, tell_unresolved_closing
from nsopt.caveats.contacts import tell_slip
from nsopt.caveats.energy import dissipates, forces_dissipate, turns_directions
from nsopt.caveats.sizes import measure_exchange
from nsopt.caveats.steps import by_other_schemes

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "by_other_schemes",
    "caveats",
    "dissipates",
    "find_unresolved_closing",
    "forces_dissipate",
    "measure_exchange",
    "tell_slip",
    "tell_unresolved_closing",
    "turns_directions",
]


def caveats(data: xr.Dataset) -> tuple[str, ...]:
    """Return the caveats of the dataset of a Result, each with a remedy; none if all is well."""
    if data.sizes["time"] < 2:
        return ()
    parts = (
        optima,
        steps,
        motion,
        closing,
        contacts,
        compliant,
        impacts,
        closing_speed,
        forces,
        energy,
    )
    checks = [check for part in parts for check in part.CHECKS]
    return tuple(text for check in checks for text in check(data))
