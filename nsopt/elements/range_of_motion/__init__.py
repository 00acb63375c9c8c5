"""The range of motion of joints that turn, as a smooth force beyond it [RoM 2023].

`Cone` is the data, its edge a `Curve`; `nearest` finds the point of the edge that a pointer is
closest to; an `Excess` measures by how much the pointer is outside, a `Law` turns that into a
moment; `RangeOfMotion` is the force between two frames.
"""

from nsopt.elements.range_of_motion.cone import Cone
from nsopt.elements.range_of_motion.laws import (
    Chord,
    CubicLaw,
    Excess,
    ExponentialLaw,
    Law,
    MeasuredLaw,
    PrintedExcess,
    SphericalAngle,
)
from nsopt.elements.range_of_motion.restriction import RangeOfMotion

__all__ = [
    "Chord",
    "Cone",
    "CubicLaw",
    "Excess",
    "ExponentialLaw",
    "Law",
    "MeasuredLaw",
    "PrintedExcess",
    "RangeOfMotion",
    "SphericalAngle",
]
