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
from nsopt.elements.compliant import (
    STEEL,
    AmbrosioFriction,
    CompliantContact,
    CompliantFriction,
    CompliantLaw,
    Flores,
    Gonthier,
    HerbertMcWhannell,
    Hertz,
    HuntCrossley,
    Hysteresis,
    KelvinVoigt,
    LankaraniNikravesh,
    LeeWang,
    Material,
    Press,
    SmoothCoulomb,
    Stiffness,
    hertz_stiffness,
    pin_stiffness,
)
from nsopt.elements.contacts import CylinderContact, PlaneContact, SphereContact
from nsopt.elements.corridor import Corridor
from nsopt.elements.distance import Distance
from nsopt.elements.driven import Driven
from nsopt.elements.drives import JointDrives, Slide, Turn
from nsopt.elements.extension_spring import ExtensionSpring
from nsopt.elements.friction.friction_laws import FrictionLaw, StribeckLaw, ViscousLaw
from nsopt.elements.friction.joint_friction import SlideFriction, TurnFriction
from nsopt.elements.friction.lugre import LuGreLaw
from nsopt.elements.joints import (
    Bend,
    Cylindrical,
    Fixed,
    PinInSlot,
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
from nsopt.elements.lubricated.films import LongBearing, OilFilm, ShortBearing
from nsopt.elements.lubricated.journal import JournalBearing
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
from nsopt.elements.point_on_curve import PointOnCurve
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
    "STEEL",
    "AmbrosioFriction",
    "AppliedForce",
    "AppliedTorque",
    "ArcPath",
    "Bend",
    "Bushing",
    "Chord",
    "CompliantContact",
    "CompliantFriction",
    "CompliantLaw",
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
    "Flores",
    "FrictionLaw",
    "Gonthier",
    "HerbertMcWhannell",
    "Hertz",
    "HuntCrossley",
    "Hysteresis",
    "JointDrives",
    "JournalBearing",
    "KelvinVoigt",
    "KnifeEdge",
    "LankaraniNikravesh",
    "Law",
    "LeeWang",
    "LongBearing",
    "LuGreLaw",
    "Material",
    "MeasuredLaw",
    "MecanumWheel",
    "OilFilm",
    "PinInSlot",
    "Planar",
    "PlanarPrismaticClearance",
    "PlanarRevoluteClearance",
    "PlaneContact",
    "PointOnCurve",
    "PointOnLine",
    "PointPath",
    "PrescribedSpeed",
    "Press",
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
    "ShortBearing",
    "Slide",
    "SlideFriction",
    "SlideRange",
    "SmoothCoulomb",
    "SphereContact",
    "Spherical",
    "SphericalAngle",
    "SphericalClearance",
    "SplinePath",
    "SpringDamper",
    "Stiffness",
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
    "hertz_stiffness",
    "link_outline",
    "pin_stiffness",
]
