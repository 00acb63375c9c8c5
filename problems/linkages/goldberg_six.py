"""Goldberg's six-bar, of three Bennett linkages, where its rank drops though its motion is regular.

The angles are those at which the fifth singular value of its screws vanishes, found by search.
"""

import numpy as np
from _bennett import Link, beside, hinges, partner, screw

from nsopt.mobility import linkage

SHARED = Link(0.4, 0.3)  # m, rad
OTHERS = [partner(SHARED, length) for length in (0.7, 0.55, 0.5)]
ANGLES = 2.8863208741036814, -1.5935394866883357, 2.4099901718713714  # rad

first = hinges(SHARED, OTHERS[0], ANGLES[0], np.zeros(3), np.eye(3))
second = beside((first[3], first[2]), SHARED, OTHERS[1], ANGLES[1])
third = beside((second[2], second[3]), SHARED, OTHERS[2], ANGLES[2])
screws = [screw(*hinge) for hinge in (*first[:3], third[3], third[2], second[3])]
mechanism = linkage(screws, [f"hinge {k}" for k in range(1, 7)])
