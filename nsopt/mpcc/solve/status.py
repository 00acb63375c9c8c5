"""What the end of a solve is called, why, and what to do."""

from __future__ import annotations

import numpy as np

from nsopt.mpcc.solve.homotopy import Trial
from nsopt.mpcc.solve.solution import Status
from nsopt.mpcc.solve.stationarity import Stationarity
from nsopt.mpcc.statement.layout import Kind, Layout

RUNAWAY = 1e12  # scaled unknowns this large come of a program that is unbounded below
FAR = 1e8  # the same, where the point meets the program but is not optimal

IN_WORDS = {
    "Infeasible_Problem_Detected": "near this point no direction lessens the violation",
    "Restoration_Failed": "the search for a feasible point failed",
    "Maximum_Iterations_Exceeded": "the iterations ran out",
    "Diverging_Iterates": "the iterates grow without bound",
}
"""What solvers say, in words."""


def status_of(
    name: str, layout: Layout, trial: Trial, found: Stationarity | None, *, optimized: bool
) -> Status:
    """Return the status of a program's last trial; if ``optimized`` it must be stationary.

    ``found`` is what the point is, None where that was not found out.
    """
    said = trial.outcome.status
    if trial.ok and not np.isfinite(trial.objective):
        reason = f"{name}: the objective is not a finite number at the end"
        return Status(False, reason, "check the guess and the bounds of what it depends on", said)
    missing = optimized and (found is None or not found.optimal)
    if trial.ok and not missing:
        what = "all residuals are within tolerance" if found is None else str(found)
        return Status(True, f"{name}: {what}", "", said)
    if is_far(trial, optimized=optimized):
        largest = int(np.argmax(np.abs(trial.point.x)))
        slots = layout.variables.items()
        unknown = next(of for of, slot in slots if slot.start <= largest < slot.stop)
        reason = f"{name}: {unknown!r} grows without bound, to {trial.point.x[largest]:.2g} scales"
        remedy = f"the objective may have no least value: give {unknown!r} bounds"
        return Status(False, reason, remedy, said)
    if trial.ok:
        reason = f"{name}: feasible, not optimal: {why_not_optimal(found)}"
        return Status(False, reason, "start elsewhere, or scale unknowns and objective", said)
    if trial.residuals.largest <= 1:
        reason = f"{name}: no stage of the schedule after sigma {trial.stage[0]:.1e} was reached"
        return Status(False, reason, "allow more retries or a finer schedule", said)
    worst = trial.residuals.worst()
    if not np.isfinite(worst.value):
        remedy = "the solver met numbers that are not finite: check the guess and the scales"
        return Status(False, f"{name}: {worst}", remedy, said)
    words = f"; {IN_WORDS[said]}" if said in IN_WORDS else ""
    remedy = worst.kind.value
    if optimized and worst.kind is Kind.COMPLEMENTARITY:
        remedy = "check that G or H of this pair can be zero, or give a better guess"
    return Status(False, f"{name}: {worst}{words}", remedy, said)


def is_far(trial: Trial, *, optimized: bool) -> bool:
    """Return whether an unknown is so large that the program may be unbounded below."""
    return bool(np.abs(trial.point.x).max() >= (FAR if optimized else RUNAWAY))


def why_not_optimal(found: Stationarity | None) -> str:
    """Return in words why a feasible point is not known to be optimal."""
    if found is None:
        return "interrupted before it was found out whether a direction lowers the objective"
    if np.isnan(found.descent):
        return "derivatives there are not finite numbers"
    if np.isinf(found.descent):
        return (
            "whether a direction lowers the objective is not found out: too many branches, or too "
            "little time"
        )
    return f"the objective falls by {found.descent:.2g} for each unit of some direction"
