"""A pendulum with an out-of-plane bob in a hinge with radial and axial clearance.

The set-up of [NLP-clearance 2024, section 4.3] with the step bounds of the paper. All other numbers
are chosen here; the paper's table is not available.
"""

from _revolute_pendulum import GRAVITY, bushing, pendulum, pin

from nsopt import Mechanism, Parameter, Problem, RevoluteClearance, StepBounds, assemble

hinge = RevoluteClearance(
    "hinge",
    pin,
    bushing,
    length=0.1,
    clearance=Parameter("clearance", 5e-4),
    axial_clearance=Parameter("axial_clearance", 5e-4),
    radius=0.01,
)
dynamics = assemble(Mechanism([pendulum]), [hinge], gravity=GRAVITY)
problem = Problem(dynamics, duration=2.0, steps=StepBounds(1e-3, 2e-3))
