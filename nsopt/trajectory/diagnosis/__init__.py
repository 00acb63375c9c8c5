"""Diagnosis of an optimization: refusals before the solve, explanations after a failure."""

from nsopt.trajectory.diagnosis.arguments import (
    check_arguments,
    check_costs,
    check_no_new_nan,
    find_dependence,
    warn_outside_bores,
)
from nsopt.trajectory.diagnosis.failure import Ending, explain
from nsopt.trajectory.diagnosis.feasibility import check_feasible
from nsopt.trajectory.diagnosis.least_violation import LeastViolation, least_violation
from nsopt.trajectory.diagnosis.scaling import Scaling, scaling
from nsopt.trajectory.diagnosis.statement import (
    ALONG,
    END,
    PARTLY,
    START,
    Occasion,
    Row,
    Stated,
    Statement,
    find_row,
)

__all__ = [
    "ALONG",
    "END",
    "PARTLY",
    "START",
    "Ending",
    "LeastViolation",
    "Occasion",
    "Row",
    "Scaling",
    "Stated",
    "Statement",
    "check_arguments",
    "check_costs",
    "check_feasible",
    "check_no_new_nan",
    "explain",
    "find_dependence",
    "find_row",
    "least_violation",
    "scaling",
    "warn_outside_bores",
]
