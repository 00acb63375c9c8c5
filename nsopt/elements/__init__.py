"""Joints, contacts and forces: each one class, each written on frames alone."""

from nsopt.elements import clearance, compliant, range_of_motion
from nsopt.elements.clearance import *
from nsopt.elements.compliant import *
from nsopt.elements.contacts import BoxContact, CylinderContact, PlaneContact, SphereContact
from nsopt.elements.drives import Driven, JointDrives, Slide, Turn
from nsopt.elements.friction.friction_laws import FrictionLaw, LuGreLaw, StribeckLaw, ViscousLaw
from nsopt.elements.friction.joint_friction import SlideFriction, TurnFriction
from nsopt.elements.joints import (
    Bend,
    Cylindrical,
    Distance,
    Fixed,
    PinInSlot,
    Planar,
    PointOnCurve,
    PointOnLine,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)
from nsopt.elements.limits import SlideRange, TurnRange
from nsopt.elements.loads import AppliedForce, AppliedTorque
from nsopt.elements.lubricated.journal import JournalBearing, LongBearing, OilFilm, ShortBearing
from nsopt.elements.outlines import box_outline, capsule_outline, link_outline
from nsopt.elements.paths import AnyPath as AnyPath  # for statements of others, not for users
from nsopt.elements.paths import (
    ArcPath,
    CornerPath,
    PointPath,
    SplinePath,
)
from nsopt.elements.paths import check_path as check_path
from nsopt.elements.paths import path_at as path_at
from nsopt.elements.programmed import Corridor, Programmed
from nsopt.elements.range_of_motion import *
from nsopt.elements.rolling import (
    KnifeEdge,
    MecanumWheel,
    PrescribedSpeed,
    Rolling,
    RollingDisc,
    Wheel,
)
from nsopt.elements.springs import Bushing, ExtensionSpring, SpringDamper, TorsionSpringDamper
from nsopt.elements.tracker import Tracker

__all__ = [
    "AppliedForce",
    "AppliedTorque",
    "ArcPath",
    "Bend",
    "BoxContact",
    "Bushing",
    "CornerPath",
    "Corridor",
    "CylinderContact",
    "Cylindrical",
    "Distance",
    "Driven",
    "ExtensionSpring",
    "Fixed",
    "FrictionLaw",
    "JointDrives",
    "JournalBearing",
    "KnifeEdge",
    "LongBearing",
    "LuGreLaw",
    "MecanumWheel",
    "OilFilm",
    "PinInSlot",
    "Planar",
    "PlaneContact",
    "PointOnCurve",
    "PointOnLine",
    "PointPath",
    "PrescribedSpeed",
    "Prismatic",
    "Programmed",
    "Revolute",
    "Rolling",
    "RollingDisc",
    "Screw",
    "ShortBearing",
    "Slide",
    "SlideFriction",
    "SlideRange",
    "SphereContact",
    "Spherical",
    "SplinePath",
    "SpringDamper",
    "StribeckLaw",
    "TorsionSpringDamper",
    "Tracker",
    "Turn",
    "TurnFriction",
    "TurnRange",
    "Universal",
    "ViscousLaw",
    "Wheel",
    "box_outline",
    "capsule_outline",
    "link_outline",
]
__all__ += clearance.__all__
__all__ += compliant.__all__
__all__ += range_of_motion.__all__
