"""Case A: a pendulum released at rest, centred in its clearance hinge.

The numbers are those of the reference case; an event-driven solution of the plane motion has one
impact, at t = 0.014278431 s, that loses 2.59676e-3 J, then permanent contact.
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

pendulum = Body(
    "pendulum",
    mass=1.0,
    inertia=(0.01, 0.09, 0.09),
    position=(0.5, 0.0, 0.0),
)
hinge = RevoluteClearance(
    "hinge",
    Frame(GROUND, (0.0, 0.0, 0.0)),
    Frame.at(pendulum, (0.0, 0.0, 0.0)),
    length=0.1,
    clearance=Parameter("clearance", 1e-3),
    axial_clearance=1e-3,
    radius=0.01,
)
dynamics = assemble(Mechanism([pendulum]), [hinge], gravity=(0.0, -9.81, 0.0))
problem = Problem(dynamics, duration=2.0, steps=StepBounds(1e-3, 2e-3))
