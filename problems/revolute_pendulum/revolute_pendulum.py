"""A pendulum with an out-of-plane bob in a hinge with radial and axial clearance.

The set-up of [NLP-clearance 2024, section 4.3] with the step bounds of the paper. All other numbers
are chosen here; the paper's table is not available.
"""

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    Parameter,
    Problem,
    RevoluteClearance,
    StepBounds,
    assemble,
)

# An arm of 0.4 kg, 0.4 m long and 10 mm in radius, from the hinge along x; at its end a bob of
# 0.6 kg, a rod along z, 0.2 m long and 20 mm in radius, its middle 0.08 m off the arm's plane.
COM = (0.32, 0.0, 0.048)
INERTIA = (
    (3.616e-3, 0.0, -3.840e-3),
    (0.0, 1.854e-2, 0.0),
    (-3.840e-3, 0.0, 1.506e-2),
)
pendulum = Body("pendulum", mass=Parameter("mass", 1.0), inertia=INERTIA, position=COM)
hinge = RevoluteClearance(
    "hinge",
    Frame(GROUND, (0.0, 0.0, 0.0)),
    Frame.at(pendulum, (0.0, 0.0, 0.0)),
    length=0.1,
    clearance=Parameter("clearance", 5e-4),
    axial_clearance=Parameter("axial_clearance", 5e-4),
    radius=0.01,
)
dynamics = assemble(Mechanism([pendulum]), [hinge], gravity=(0.0, -9.81, 0.0))
problem = Problem(dynamics, duration=2.0, steps=StepBounds(1e-3, 2e-3))
