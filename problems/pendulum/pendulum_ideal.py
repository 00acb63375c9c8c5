"""A pendulum on an ideal hinge, to be compared with the one with clearance.

[NLP-clearance 2024, section 5.4], NLP (31).
"""

from _pendulum import GRAVITY, bushing, pendulum, pin

from nsopt import Mechanism, Problem, Revolute, StepBounds, assemble

hinge = Revolute("hinge", pin, bushing)
dynamics = assemble(Mechanism([pendulum], [hinge], "absolute"), gravity=GRAVITY)
problem = Problem(dynamics, duration=2.0, steps=StepBounds(2e-4, 1e-3))
