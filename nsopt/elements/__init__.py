"""Joints, contacts and forces: each one class, each written on frames alone."""

from nsopt.elements.bushing import Bushing
from nsopt.elements.clearance import (
    CylindricalClearance,
    PlanarPrismaticClearance,
    PlanarRevoluteClearance,
    PrismaticClearance,
    RevoluteClearance,
    SphericalClearance,
)
from nsopt.elements.compliant import CompliantContact
from nsopt.elements.contacts import CylinderContact, PlaneContact, SphereContact
from nsopt.elements.corridor import Corridor
from nsopt.elements.distance import Distance
from nsopt.elements.driven import Driven
from nsopt.elements.drives import JointDrives, Slide, Turn
from nsopt.elements.extension_spring import ExtensionSpring
from nsopt.elements.friction_laws import FrictionLaw, StribeckLaw, ViscousLaw
from nsopt.elements.joint_friction import SlideFriction, TurnFriction
from nsopt.elements.joints import (
    Bend,
    Cylindrical,
    Fixed,
    Planar,
    PointOnLine,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)
from nsopt.elements.limits import SlideRange, TurnRange
from nsopt.elements.loads import AppliedForce, AppliedTorque
from nsopt.elements.lugre import LuGreLaw
from nsopt.elements.paths import AnyPath as AnyPath  # for statements of others, not for users
from nsopt.elements.paths import (
    ArcPath,
    CornerPath,
    PointPath,
    SplinePath,
)
from nsopt.elements.paths import check_path as check_path
from nsopt.elements.paths import path_at as path_at
from nsopt.elements.programmed import Programmed
from nsopt.elements.range_of_motion import (
    Chord,
    Cone,
    CubicLaw,
    Excess,
    ExponentialLaw,
    Law,
    MeasuredLaw,
    PrintedExcess,
    RangeOfMotion,
    SphericalAngle,
)
from nsopt.elements.rolling import (
    KnifeEdge,
    MecanumWheel,
    PrescribedSpeed,
    Rolling,
    RollingDisc,
    Wheel,
)
from nsopt.elements.springs import SpringDamper, TorsionSpringDamper
from nsopt.elements.tracker import Tracker

__all__ = [
    "AppliedForce",
    "AppliedTorque",
    "ArcPath",
    "Bend",
    "Bushing",
    "Chord",
    "CompliantContact",
    "Cone",
    "CornerPath",
    "Corridor",
    "CubicLaw",
    "CylinderContact",
    "Cylindrical",
    "CylindricalClearance",
    "Distance",
    "Driven",
    "Excess",
    "ExponentialLaw",
    "ExtensionSpring",
    "Fixed",
    "FrictionLaw",
    "JointDrives",
    "KnifeEdge",
    "Law",
    "LuGreLaw",
    "MeasuredLaw",
    "MecanumWheel",
    "Planar",
    "PlanarPrismaticClearance",
    "PlanarRevoluteClearance",
    "PlaneContact",
    "PointOnLine",
    "PointPath",
    "PrescribedSpeed",
    "PrintedExcess",
    "Prismatic",
    "PrismaticClearance",
    "Programmed",
    "RangeOfMotion",
    "Revolute",
    "RevoluteClearance",
    "Rolling",
    "RollingDisc",
    "Screw",
    "Slide",
    "SlideFriction",
    "SlideRange",
    "SphereContact",
    "Spherical",
    "SphericalAngle",
    "SphericalClearance",
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
]
