"""A wheel carrier on a suspension's ball joint with clearance, shaken against its stop.

The joint has 0.05 mm of clearance and leans by at most 25 deg along the road, 18 across.
"""

import numpy as np

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Cone,
    CubicLaw,
    Frame,
    Mechanism,
    Parameter,
    Problem,
    RangeOfMotion,
    SphericalClearance,
    StepBounds,
    assemble,
)

CENTRE = 0.12  # m, of the carrier above the joint

carrier = Body("carrier", mass=8.0, inertia=(0.06, 0.05, 0.04), position=(0.0, 0.0, CENTRE))
below, ball = Frame(GROUND), Frame(carrier, (0.0, 0.0, -CENTRE))
elements = [
    SphericalClearance(
        "ball",
        below,
        ball,
        clearance=Parameter("clearance", 5e-5),
        radius=0.012,
    ),
    RangeOfMotion(
        "stop",
        below,
        ball,
        Cone(np.radians([0, 90, 180, 270, 360]), np.radians([25, 18, 25, 18, 25])),
        CubicLaw(Parameter("peak", 400.0), np.radians(6)),
        damping=Parameter("damping", 0.5),
    ),
    AppliedForce(
        "road",
        Frame(carrier),
        lambda t: (60 * np.sin(9 * t), 25 * np.cos(7 * t), -120.0),
    ),
]
dynamics = assemble(Mechanism([carrier]), elements, gravity=(0.0, 0.0, -9.81))
problem = Problem(dynamics, duration=2.0, steps=StepBounds(1e-6, 2.5e-4))
