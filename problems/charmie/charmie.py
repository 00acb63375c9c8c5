"""CHARMIE, a mobile manipulator with two arms and 21 degrees of freedom, its motors off.

[CHARMIE 2023]; topology as we read section 3.1 and Fig. 3, numbers chosen here.
"""

from _robot import CUTS, charmie

from nsopt import Problem, StepBounds, assemble
from nsopt.mechanics import Relative

robot = charmie(Relative(CUTS))
dynamics = assemble(robot.mechanism, robot.elements, gravity=(0.0, 0.0, -9.81))
problem = Problem(dynamics, duration=0.1, steps=StepBounds(1e-3, 2e-3))
