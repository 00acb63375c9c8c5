"""Modes of joints with contacts over a run."""

from __future__ import annotations

from collections.abc import Mapping

from nsopt.contact_modes import ModeStatistics, statistics_of_modes
from nsopt.result import Result


def mode_statistics(result: Result) -> Mapping[str, ModeStatistics]:
    """Return how each joint with contacts spent a run, by name.

    Raises
    ------
    KeyError
        If modes or impulses were not recorded.
    """
    for name in ("contact_mode", "impact_impulse"):
        result[name]  # the error of a result says how to record it
    return statistics_of_modes(result.data)
