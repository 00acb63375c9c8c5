"""A triangular slider in a triangular guide with clearance, tilted and driven by one force.

The set-up of [NLP-clearance 2024, section 4.2] with clearance and step bounds of the paper. All
other numbers are chosen here; the paper's table is not available.
"""

import numpy as np

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Frame,
    Mechanism,
    Parameter,
    PrismaticClearance,
    Problem,
    StepBounds,
    assemble,
)

EDGE = 0.05  # m, of the equilateral section
corners = np.deg2rad([90.0, 210.0, 330.0])
section = EDGE / np.sqrt(3) * np.column_stack([np.cos(corners), np.sin(corners)])

slider = Body(
    "slider",
    mass=Parameter("mass", 0.5),
    inertia=(4.7e-4, 4.5e-4, 1.0e-4),
)
joint = PrismaticClearance(
    "joint",
    Frame(GROUND, (0.0, 0.0, 0.0)),
    Frame(slider),
    polygon=section,
    length=0.1,
    clearance=Parameter("clearance", 3e-4),
)
# Off the axis both ways: one end is pushed into the upper corner, the other into a lower one.
force = AppliedForce("force", Frame(slider, (0.15, 0.4, 0.0)), (0.0, 0.0, Parameter("force", 1.0)))
dynamics = assemble(Mechanism([slider]), [joint, force], gravity=(0.0, -9.81, 0.0))
problem = Problem(dynamics, duration=2.0, steps=StepBounds(1e-3, 1e-2))
