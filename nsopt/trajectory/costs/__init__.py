"""What an optimum is best in: costs of a motion, each reported by itself.

A new cost is one frozen dataclass derived from `Cost` with ``rate``, what it costs per second, or
``final``, what the end of the motion costs; an export; a row in ``tests/catalog.py``.
"""

from nsopt.trajectory.costs.base import Cost, Sum, spread
from nsopt.trajectory.costs.checks import check_frame, check_joints, wanted, whole
from nsopt.trajectory.costs.contacts import ContactForce, ImpactEnergy
from nsopt.trajectory.costs.drives import Effort, Energy, InputEffort, Power
from nsopt.trajectory.costs.joints import (
    BaseReaction,
    JointResistance,
    RestrictingEnergy,
    RestrictingMoment,
)
from nsopt.trajectory.costs.motion import Duration, EvenSteps, Jerk, Smoothness
from nsopt.trajectory.costs.tracking import FinalPose, FinalTask, TaskTracking, Tracking

__all__ = [
    "BaseReaction",
    "ContactForce",
    "Cost",
    "Duration",
    "Effort",
    "Energy",
    "EvenSteps",
    "FinalPose",
    "FinalTask",
    "ImpactEnergy",
    "InputEffort",
    "Jerk",
    "JointResistance",
    "Power",
    "RestrictingEnergy",
    "RestrictingMoment",
    "Smoothness",
    "Sum",
    "TaskTracking",
    "Tracking",
    "check_frame",
    "check_joints",
    "spread",
    "wanted",
    "whole",
]
