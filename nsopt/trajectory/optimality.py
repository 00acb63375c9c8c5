"""What kind of point an optimum is, in words."""

from __future__ import annotations

from nsopt.mpcc import Settings, Solution
from nsopt.trajectory.transcription.base import Transcription
from nsopt.trajectory.transcription.kinds import as_steps


def describe_stationarity(
    transcription: Transcription, settings: Settings, solution: Solution
) -> str:
    """Return in one line what kind of stationary point a motion is; empty if it is no solution."""
    found = solution.stationarity
    if found is not None:
        if solution.ok:
            pairs = f", {found.biactive} pairs with both halves zero" if found.biactive else ""
            return f"B-stationary: no direction lowers the cost to first order{pairs}"
        return solution.status.reason
    if not solution.ok:
        return ""
    if transcription.friction_modes is not None:
        return "stationary while joints rest and slide when they do (friction_modes)"
    if not transcription.is_complementary:
        return "stationary: no direction lowers the cost to first order"
    if is_relaxed_in_space(transcription):
        return "not found out: friction in space is relaxed"
    if not settings.relaxation.states_halves:
        name = type(settings.relaxation).__name__
        return (
            f"not found out: contacts are equations by {name}; go on by Scholtes from this motion"
        )
    return "not found out: phase II is off"


def is_relaxed_in_space(transcription: Transcription) -> bool:
    """Return whether friction in space is relaxed: then branches of pairs do not decide it."""
    x = as_steps(transcription)
    return x is not None and x.inner.has_discs
