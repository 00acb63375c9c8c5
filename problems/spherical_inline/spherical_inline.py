"""Three hinges that meet in a point, and a point on a line: it moves like a spherical linkage.

Example 5 of [mobility 2016], with the frames of its corrected form.
"""

import numpy as np

from nsopt import GROUND, Body, Frame, Mechanism, PointOnLine, Relative, Revolute
from nsopt.mechanics import Constraint

L = 1.0  # m
AXES = np.array([(1, 1, 1), (-1, 1, 1), (1, -1, 1)]) / np.sqrt(3)
POINTS = L / 6 * np.array([(-1, 2, -1), (-3, 0, -3), (-1, -2, -1)])
"""Of the hinges, those nearest to the origin [m]."""
CENTRE = L * np.array([-0.5, 0, -0.5])


def model(inline: bool = True) -> Mechanism:
    """Return the mechanism, or with a fourth hinge through the same point."""
    first = Body("link 1", 0.0)
    second = Body("link 2", 0.0, position=(-L, 0, 0))
    third = Body("link 3", 0.0, position=(-L / 2, -L / 2, 0))
    pairs = [(GROUND, first), (first, second), (GROUND, third)]
    joints: list[Constraint] = [
        Revolute(f"joint {k + 1}", Frame.at(a, POINTS[k], AXES[k]), Frame.at(b, POINTS[k], AXES[k]))
        for k, (a, b) in enumerate(pairs)
    ]
    place = np.array([-L, -L / 2, 0])
    if inline:
        line = Frame.at(second, place, np.array([(0, 0, 1), (1, 0, 0), (0, 1, 0)]).T)
        joints.append(PointOnLine("joint 4", line, Frame.at(third, place)))
    else:
        e = place - CENTRE
        joints.append(Revolute("joint 4", Frame.at(second, place, e), Frame.at(third, place, e)))
    return Mechanism([first, second, third], joints, Relative(["joint 4"]))


mechanism = model()
