"""A leg on a hip that stops, stiffens and dissipates, swung up sideways.

The cone is anatomical: flexion forward, extension backward, abduction and adduction sideways; the
internal rotation has ends of its own.
"""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Cone,
    CubicLaw,
    ExponentialLaw,
    Frame,
    Mechanism,
    Parameter,
    Problem,
    RangeOfMotion,
    Spherical,
    StepBounds,
    TurnRange,
    assemble,
)

LENGTH = 0.4  # m, from the hip to the centre of mass of the whole leg
# Columns: forward, to the left, down the leg; the cone's axis is the leg hanging.
CONE_AXES = np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]])
LONGITUDES = np.radians([0, 45, 90, 135, 180, 225, 270, 315, 360])
LATITUDES = np.radians([110, 80, 45, 30, 20, 20, 30, 60, 110])

leg = Body(
    "leg",
    mass=11.0,
    inertia=(0.75, 0.75, 0.06),
    position=(0.0, 0.0, -LENGTH),
    velocity=(1.6, -1.0, 0.0),
    angular_velocity=(-2.5, -4.0, 1.5),
)
pelvis = Frame(GROUND, axes=CONE_AXES)
thigh = Frame.at(leg, (0.0, 0.0, 0.0), axes=CONE_AXES)
hip = Spherical("hip", pelvis, thigh)
elements = [
    RangeOfMotion(
        "cone",
        pelvis,
        thigh,
        Cone(LONGITUDES, LATITUDES),
        CubicLaw(Parameter("peak", 200.0), Parameter("compliance", np.radians(15))),
        damping=Parameter("damping", 0.6),
    ),
    TurnRange(
        "rotation",
        pelvis,
        thigh,
        lower=np.radians(-45),
        upper=np.radians(35),
        law=ExponentialLaw(2.0, 12.0),
        damping=0.2,
    ),
]
dynamics = assemble(Mechanism([leg], [hip]), elements, gravity=(0.0, 0.0, -9.81))
problem = Problem(dynamics, duration=3.0, steps=StepBounds(1e-4, 1e-3))
