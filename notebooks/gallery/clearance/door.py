"""
A door on two worn hinges
=========================

A door hangs on two pins of 80 mm with 0.5 mm of radial clearance, and is pushed open. Its weight
pulls the upper bushing away from the frame of the door and presses the lower one towards it: the
outermost ends of the bushings touch, and that is how far the door leans. Together with the axial
clearance of 1 mm its centre sags by 1.304 mm.
"""

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Frame,
    Mechanism,
    RevoluteClearance,
    StepBounds,
    assemble,
    simulate,
)
from nsopt.plots import contact_paths

CLEARANCE, AXIAL, LENGTH = 5e-4, 1e-3, 0.08  # m

door = Body("door", mass=20.0, inertia=(6.7, 8.0, 1.4), position=(0.45, 0.0, 1.0))
hinges = [
    RevoluteClearance(
        name,
        Frame(GROUND, (0.0, 0.0, height)),  # the pin, along z
        Frame.at(door, (0.0, 0.0, height)),  # the bushing
        length=LENGTH,
        clearance=CLEARANCE,
        axial_clearance=AXIAL,
    )
    for name, height in [("lower", 0.3), ("upper", 1.7)]
]
push = AppliedForce("push", Frame.at(door, (0.8, 0.1, 1.0)), (0.0, 5.0, 0.0))
dynamics = assemble(Mechanism([door]), [*hinges, push], gravity=(0.0, 0.0, -9.81))

result = simulate(dynamics, duration=1.5, steps=StepBounds(1e-6, 5e-4), title="door")
sag = 1.0 - result["body_position"].sel(body="door", axis="z").values.min()  # m
print(f"the centre of the door sags by {1e3 * sag:.3f} mm")
contact_paths(result)
