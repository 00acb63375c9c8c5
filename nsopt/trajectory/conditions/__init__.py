"""Conditions on a motion: at its start, at its end, along it, or for a part of it.

A new condition is one frozen dataclass derived from `Condition`; an export; a row in
``tests/catalog_trajectory.py``.
"""

from nsopt.mpcc import Bound
from nsopt.trajectory.conditions.base import Condition, Span
from nsopt.trajectory.conditions.contact import Apart, During, Touching
from nsopt.trajectory.conditions.drives import (
    ActuatorLimits,
    DriveWithin,
    JerkLimits,
    PowerLimits,
)
from nsopt.trajectory.conditions.obstacles import ClearOf, ClearOfCapsule, LinkClearOf
from nsopt.trajectory.conditions.states import EndAt, Periodic, StartAt, Within
from nsopt.trajectory.conditions.task import Orient, Reach

__all__ = [
    "ActuatorLimits",
    "Apart",
    "Bound",
    "ClearOf",
    "ClearOfCapsule",
    "Condition",
    "DriveWithin",
    "During",
    "EndAt",
    "JerkLimits",
    "LinkClearOf",
    "Orient",
    "Periodic",
    "PowerLimits",
    "Reach",
    "Span",
    "StartAt",
    "Touching",
    "Within",
]
