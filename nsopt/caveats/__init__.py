"""Caveats of a result: what its reader must know before using its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsopt.caveats import (
    closing,
    closing_speed,
    compliant,
    contacts,
    energy,
    errors,
    forces,
    impacts,
    motion,
    optima,
    steps,
)
from nsopt.caveats.closing_speed import find_unresolved_closing, tell_unresolved_closing
from nsopt.caveats.contacts import tell_slip
from nsopt.caveats.energy import dissipates, forces_dissipate, turns_directions
from nsopt.caveats.errors import (
    ACCURATE,
    FORCES,
    LargestError,
    cover_all,
    cut_to_two_digits,
    find_error_of_energy,
    find_error_of_figure,
    find_error_of_force,
    find_error_of_motion,
    find_error_of_reactions,
    find_predictable_time,
    has_errors,
    suggest_steps,
    tell_error_of_motion,
    tell_percent,
)
from nsopt.caveats.optima import (
    cap_exact_cost,
    find_error_of_objective,
    measure_alternation,
)
from nsopt.caveats.sizes import measure_exchange
from nsopt.caveats.steps import tell_share_of_other_schemes

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "ACCURATE",
    "FORCES",
    "LargestError",
    "cap_exact_cost",
    "caveats",
    "cover_all",
    "cut_to_two_digits",
    "dissipates",
    "find_error_of_energy",
    "find_error_of_figure",
    "find_error_of_force",
    "find_error_of_motion",
    "find_error_of_objective",
    "find_error_of_reactions",
    "find_predictable_time",
    "find_unresolved_closing",
    "forces_dissipate",
    "has_errors",
    "measure_alternation",
    "measure_exchange",
    "suggest_steps",
    "tell_error_of_motion",
    "tell_percent",
    "tell_share_of_other_schemes",
    "tell_slip",
    "tell_unresolved_closing",
    "turns_directions",
]

ALWAYS = (errors, optima, steps, motion, contacts, compliant)
"""Modules whose ``CHECKS`` tell what measured errors do not."""

UNMEASURED = (steps, motion, closing, contacts, impacts, closing_speed, forces, energy)
"""Modules whose ``RULES`` of thumb stand for errors that were not measured."""


def caveats(data: xr.Dataset) -> tuple[str, ...]:
    """Return the caveats of the dataset of a Result, each with a remedy; none if all is well.

    Rules of thumb are applied where errors were not measured up to the end.
    """
    if data.sizes["time"] < 2:
        return ()
    checks = [check for part in ALWAYS for check in part.CHECKS]
    if has_errors(data):
        checks += errors.ERRORS
    if not cover_all(data):
        checks += [rule for part in UNMEASURED for rule in part.RULES]
    return tuple(text for check in checks for text in check(data))
