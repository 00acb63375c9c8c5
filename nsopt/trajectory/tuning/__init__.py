"""Parameters found by gradient: those that were measured, and those that are best."""

from nsopt.trajectory.tuning.design import Design, Limit, design
from nsopt.trajectory.tuning.fit import Fit, FitOutcome, FullWindow, GrowingWindow, Measured, fit
from nsopt.trajectory.tuning.unknowns import Unknown

__all__ = [
    "Design",
    "Fit",
    "FitOutcome",
    "FullWindow",
    "GrowingWindow",
    "Limit",
    "Measured",
    "Unknown",
    "design",
    "fit",
]
