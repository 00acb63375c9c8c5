"""
Bennett's linkage
=================

Four hinges in space, none parallel to another, closed to a loop: counting gives -2 freedoms. If
opposite links are equal, and the sine of the twist of each link is to its length as that of its
neighbour, the loop moves all the same (Bennett, 1903). `mobility` finds that from the joint screws,
traces the motion, and names the rows of the joints that are redundant.
"""

import numpy as np

from nsopt import plots
from nsopt.mobility import linkage, mobility

LENGTHS, FIRST, ANGLE = (0.4, 0.7), 0.6, 1.1  # m, rad, rad
twists = FIRST, np.arcsin(LENGTHS[1] * np.sin(FIRST) / LENGTHS[0])
far = np.sin(sum(twists) / 2) / np.sin((twists[1] - twists[0]) / 2) / np.tan(ANGLE / 2)
turns = (ANGLE, 2 * np.arctan(far), -ANGLE)


def rotation(axis, angle):
    """Return the rotation about an axis of the world."""
    c, s, (i, j) = np.cos(angle), np.sin(angle), ((1, 2), (2, 0), (0, 1))[axis]
    A = np.eye(3)
    A[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return A


point, axes = np.zeros(3), np.eye(3)
screws = [(*axes[:, 2], *np.cross(point, axes[:, 2]))]
for k, turn in enumerate(turns):
    turned = axes @ rotation(2, turn)
    point = point + turned[:, 0] * LENGTHS[k % 2]
    axes = turned @ rotation(0, twists[k % 2])
    screws.append((*axes[:, 2], *np.cross(point, axes[:, 2])))

found = mobility(linkage(screws, [f"hinge {k}" for k in (1, 2, 3, 4)]))
print(f"freedom by counting {found.gruebler}, in truth {found.local_freedom}")
plots.mobility(found)
