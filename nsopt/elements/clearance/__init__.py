"""Joints with clearance, as sets of gaps that stay open [NLP-clearance 2024, section 3]."""

from nsopt.elements.clearance.gaps import gap_in_bore
from nsopt.elements.clearance.planar import PlanarPrismaticClearance, PlanarRevoluteClearance
from nsopt.elements.clearance.prismatic import PrismaticClearance
from nsopt.elements.clearance.revolute import (
    CylindricalClearance,
    RevoluteClearance,
    SphericalClearance,
)

__all__ = [
    "CylindricalClearance",
    "PlanarPrismaticClearance",
    "PlanarRevoluteClearance",
    "PrismaticClearance",
    "RevoluteClearance",
    "SphericalClearance",
    "gap_in_bore",
]
