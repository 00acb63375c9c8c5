"""Trajectory optimization: the best motion of a mechanism."""

from nsopt.trajectory.conditions import (
    ActuatorLimits,
    Bound,
    ClearOf,
    Condition,
    EndAt,
    Reach,
    StartAt,
    Within,
)
from nsopt.trajectory.costs import (
    BaseReaction,
    Cost,
    Duration,
    Effort,
    InputEffort,
    JointResistance,
    Smoothness,
    TaskTracking,
    Tracking,
)
from nsopt.trajectory.guesses import Course, Earlier, Guess, Quintic, Straight
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.moment import Moment
from nsopt.trajectory.optimize import HorizonSolver, optimize
from nsopt.trajectory.task import Optimization

__all__ = [
    "ActuatorLimits",
    "BaseReaction",
    "Bound",
    "ClearOf",
    "Condition",
    "Cost",
    "Course",
    "Duration",
    "Earlier",
    "Effort",
    "EndAt",
    "Guess",
    "Horizon",
    "HorizonSolver",
    "InputEffort",
    "JointResistance",
    "Moment",
    "Optimization",
    "Quintic",
    "Reach",
    "Smoothness",
    "StartAt",
    "Straight",
    "TaskTracking",
    "Tracking",
    "Within",
    "optimize",
]
