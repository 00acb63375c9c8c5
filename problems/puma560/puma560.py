"""A Puma 560 that falls from its nominal posture, its motors off, damped by their viscous friction.

The published table, see `_robot`.
"""

import numpy as np
from _robot import NOMINAL, puma560

from nsopt import Problem, Start, StepBounds, assemble
from nsopt.elements import TurnFriction, ViscousLaw
