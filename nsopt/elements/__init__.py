"""Joints, contacts and forces: each one class, each written on frames alone."""

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
from nsopt.elements.joints import (
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
from nsopt.elements.loads import AppliedForce, AppliedTorque
from nsopt.elements.springs import SpringDamper, TorsionSpringDamper

__all__ = [
    "AppliedForce",
    "AppliedTorque",
    "CompliantContact",
    "CylinderContact",
    "Cylindrical",
    "CylindricalClearance",
    "Fixed",
    "Planar",
    "PlanarPrismaticClearance",
    "PlanarRevoluteClearance",
    "PlaneContact",
    "PointOnLine",
    "Prismatic",
    "PrismaticClearance",
    "Revolute",
    "RevoluteClearance",
    "Screw",
    "SphereContact",
    "Spherical",
    "SphericalClearance",
    "SpringDamper",
    "TorsionSpringDamper",
    "Universal",
]
