"""The pendulum of [NLP-clearance 2024, section 5.4], shared by both of its hinges.

Numbers chosen here; the paper's table is not available.
"""

from nsopt import GROUND, Body, Frame, Parameter

GRAVITY = (0.0, -9.81, 0.0)
pendulum = Body(
    "pendulum",
    mass=Parameter("mass", 1.0),
    inertia=(2.0e-3, 2.1e-2, 2.1e-2),
    position=(0.4, 0.0, 0.0),
)
pin = Frame(GROUND, (0.0, 0.0, 0.0))
bushing = Frame.at(pendulum, (0.0, 0.0, 0.0))
