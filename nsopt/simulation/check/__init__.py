"""The errors of a run, told by the same run in steps of other sizes.

From the outside in::

    accuracy      runs in shorter and shorter steps, until the error is small enough
    check         which other sizes, and what comes of the runs
    beyond        statistics, where the motion is not predictable any more
    repetition    the same run in steps of a part of the size
    comparison    errors of what is compared, by the order that is seen in three sizes of steps
    figures       what is compared of it beside states: forces that last, impacts, losses
    distances     how far the motions of two runs are from each other
"""

from nsopt.simulation.check.accuracy import Accuracy
from nsopt.simulation.check.check import Check, estimate_in_halves, explain_missing
from nsopt.simulation.check.distances import find_gyration_radii, measure_distance, measure_size
from nsopt.simulation.check.repetition import CheckedRun

__all__ = [
    "Accuracy",
    "Check",
    "CheckedRun",
    "estimate_in_halves",
    "explain_missing",
    "find_gyration_radii",
    "measure_distance",
    "measure_size",
]
