"""Goldberg's five-bar: two of Bennett's linkages that share a link, which is then left out.

Where both have their fourth hinge, two links are joined rigidly in its place.
"""

import numpy as np
from _bennett import Link, beside, hinges, partner, screw

from nsopt.mobility import linkage

SHARED = Link(0.4, 0.6)  # m, rad
ONE, OTHER = partner(SHARED, 0.7), partner(SHARED, 0.55)
ANGLES = 1.1, 2.0  # rad

first = hinges(SHARED, ONE, ANGLES[0], np.zeros(3), np.eye(3))
second = beside((first[3], first[2]), SHARED, OTHER, ANGLES[1])
screws = [screw(*hinge) for hinge in (*first[:3], second[2], second[3])]
mechanism = linkage(screws, [f"hinge {k}" for k in range(1, 6)])
