"""A pendulum on a ball joint, kept in a cone, with dissipation.

[RoM 2023, section 4]; numbers of the body chosen here.
"""

from _rom_pendulum import pendulum

from nsopt import Problem, StepBounds

dynamics = pendulum(restricted=True, damping=3.39)
problem = Problem(dynamics, duration=5.0, steps=StepBounds(1e-4, 1e-3))
