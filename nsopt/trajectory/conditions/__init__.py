"""Conditions on a motion: at its start, at its end, along it, or for a part of it."""

from nsopt.mpcc import Bound
from nsopt.trajectory.conditions.base import Condition, Span, ends_at_rest
from nsopt.trajectory.conditions.contact import Apart, During, FrictionMargin, Touching
from nsopt.trajectory.conditions.drives import (
    AccelerationLimits,
    ActuatorLimits,
    DriveWithin,
    JerkLimits,
    JointLoadWithin,
    PowerLimits,
)
from nsopt.trajectory.conditions.obstacles import ClearOf, LinksApart
from nsopt.trajectory.conditions.shapes import (
    Box,
    Capsule,
    ConvexHull,
    HalfSpace,
    Shape,
    Sphere,
    link_capsule,
)
from nsopt.trajectory.conditions.states import EndAt, Periodic, StartAt, Within
from nsopt.trajectory.conditions.task import InCorridor, OnPath, Orient, Reach

__all__ = [
    "AccelerationLimits",
    "ActuatorLimits",
    "Apart",
    "Bound",
    "Box",
    "Capsule",
    "ClearOf",
    "Condition",
    "ConvexHull",
    "DriveWithin",
    "During",
    "EndAt",
    "FrictionMargin",
    "HalfSpace",
    "InCorridor",
    "JerkLimits",
    "JointLoadWithin",
    "LinksApart",
    "OnPath",
    "Orient",
    "Periodic",
    "PowerLimits",
    "Reach",
    "Shape",
    "Span",
    "Sphere",
    "StartAt",
    "Touching",
    "Within",
    "ends_at_rest",
    "link_capsule",
]
