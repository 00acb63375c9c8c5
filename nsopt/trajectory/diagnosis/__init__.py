"""What is wrong with a program: found before it is solved, and told after it failed."""

from nsopt.trajectory.diagnosis.failure import Ending, explain
from nsopt.trajectory.diagnosis.feasibility import check_feasible
from nsopt.trajectory.diagnosis.scaling import Scaling, scaling
from nsopt.trajectory.diagnosis.statement import Statement

__all__ = ["Ending", "Scaling", "Statement", "check_feasible", "explain", "scaling"]
