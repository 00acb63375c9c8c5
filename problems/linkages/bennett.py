"""Bennett's linkage: four hinges in space that move, though by counting they have -2 freedoms."""

import numpy as np
from _bennett import Link, hinges, partner, screw

from nsopt.mobility import linkage

FIRST = Link(0.4, 0.6)  # m, rad
SECOND = partner(FIRST, 0.7)
ANGLE = 1.1  # rad, between the ground and the first link

screws = [screw(*hinge) for hinge in hinges(FIRST, SECOND, ANGLE, np.zeros(3), np.eye(3))]
mechanism = linkage(screws, ["hinge 1", "hinge 2", "hinge 3", "hinge 4"])
