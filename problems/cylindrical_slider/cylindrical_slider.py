"""A slider on a rod with radial clearance, tilted and driven by one force.

The set-up of [NLP-clearance 2024, section 4.1] with clearance and step bounds of the paper. All
other numbers are chosen here; the paper's table is not available.
"""

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    CylindricalClearance,
    Frame,
    Mechanism,
    Parameter,
    Problem,
    StepBounds,
    assemble,
)

slider = Body(
    "slider",
    mass=Parameter("mass", 0.5),
    inertia=(4.0e-4, 3.0e-4, 2.0e-4),
)
joint = CylindricalClearance(
    "joint",
    Frame(GROUND, (0.0, 0.0, 0.0)),
    Frame(slider),
    length=0.06,
    pin_length=10.0,
    clearance=Parameter("clearance", 1e-4),
    radius=0.01,
)
# Along the rod, but off its axis: its moment tilts the slider until both ends touch.
force = AppliedForce(
    "force", Frame(slider, (0.002, 0.25, 0.0)), (0.0, 0.0, Parameter("force", 1.0))
)
dynamics = assemble(Mechanism([slider]), [joint, force], gravity=(0.0, -9.81, 0.0))
problem = Problem(dynamics, duration=2.0, steps=StepBounds(1e-3, 1e-2))
