"""Parameters by gradient-based search: `fit` to measured motions, `design` for least cost."""

from nsopt.trajectory.identification.design import Design, Limit, design
from nsopt.trajectory.identification.fit import Fit, FitOutcome, fit
from nsopt.trajectory.identification.given import FullWindow, GrowingWindow, Measured, Unknown

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
