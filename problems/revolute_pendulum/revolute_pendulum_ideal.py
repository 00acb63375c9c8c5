"""A pendulum with an out-of-plane bob on an ideal hinge, the twin of the one with clearance.

[NLP-clearance 2024, section 5.3], Figs. 25 to 28.
"""

from _revolute_pendulum import GRAVITY, bushing, pendulum, pin

from nsopt import Mechanism, Problem, Revolute, StepBounds, assemble

hinge = Revolute("hinge", pin, bushing)
dynamics = assemble(Mechanism([pendulum], [hinge], "absolute"), gravity=GRAVITY)
problem = Problem(dynamics, duration=2.0, steps=StepBounds(1e-3, 2e-3))
