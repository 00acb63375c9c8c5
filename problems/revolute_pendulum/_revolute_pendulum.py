"""The pendulum of [NLP-clearance 2024, section 4.3], shared by both of its hinges.

Numbers chosen here; the paper's table is not available.
"""

from nsopt import GROUND, Body, Frame, Parameter

GRAVITY = (0.0, -9.81, 0.0)
# An arm of 0.4 kg, 0.4 m long and 10 mm in radius, from the hinge along x; at its end a bob of
# 0.6 kg, a rod along z, 0.2 m long and 20 mm in radius, its middle 0.08 m off the arm's plane.
COM = (0.32, 0.0, 0.048)
INERTIA = (
    (3.616e-3, 0.0, -3.840e-3),
    (0.0, 1.854e-2, 0.0),
    (-3.840e-3, 0.0, 1.506e-2),
)
pendulum = Body("pendulum", mass=Parameter("mass", 1.0), inertia=INERTIA, position=COM)
pin = Frame(GROUND, (0.0, 0.0, 0.0))
bushing = Frame.at(pendulum, (0.0, 0.0, 0.0))
