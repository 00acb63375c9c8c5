"""Parameters found by gradient: those that were measured, and those that are best."""

from nsopt.trajectory.tuning.design import Design, Limit, design
from nsopt.trajectory.tuning.fit import Fit, FitOutcome, FullWindow, GrowingWindow, fit
from nsopt.trajectory.tuning.measured import Measured
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
