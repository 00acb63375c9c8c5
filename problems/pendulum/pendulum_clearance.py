"""A pendulum in a hinge with clearance, to be compared with the ideal one.

[NLP-clearance 2024, section 5.4], clearance 0.1 mm.
"""

from _pendulum import GRAVITY, bushing, pendulum, pin

from nsopt import Mechanism, Parameter, Problem, RevoluteClearance, StepBounds, assemble

hinge = RevoluteClearance(
    "hinge",
    pin,
    bushing,
    length=0.06,
    clearance=Parameter("clearance", 1e-4),
    axial_clearance=1e-4,
    radius=0.01,
)
dynamics = assemble(Mechanism([pendulum]), [hinge], gravity=GRAVITY)
problem = Problem(dynamics, duration=2.0, steps=StepBounds(2e-4, 1e-3))
