"""Costs of a motion: terms of the objective, each reported separately."""

from nsopt.trajectory.costs.base import Cost, Sum, flattened
from nsopt.trajectory.costs.drives import Effort, Energy, InputEffort, Power
from nsopt.trajectory.costs.joint_load import JointLoad
from nsopt.trajectory.costs.joints import (
    BaseReaction,
    JointResistance,
    RestrictingEnergy,
    RestrictingMoment,
)
from nsopt.trajectory.costs.motion import (
    ContactForce,
    Duration,
    EvenSteps,
    ImpactEnergy,
    Jerk,
    Smoothness,
)
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
    "JointLoad",
    "JointResistance",
    "Power",
    "RestrictingEnergy",
    "RestrictingMoment",
    "Smoothness",
    "Sum",
    "TaskTracking",
    "Tracking",
    "flattened",
]
