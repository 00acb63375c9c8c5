"""
An arm that loads its joints least
==================================

An arm of seven joints, read from its URDF file, goes from posture to posture in 2 s, three tasks.
Least is what its joints carry: drives, friction, the forces and bending moments of bearings, each
as a part of its rating. Bars compare that with the usual polynomial of fifth degree between the
same postures. Most is saved where the arm need not be lifted through a stretched posture.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import assemble
from nsopt.problem import problem_folder
from nsopt.robots import load_urdf, resistances
from nsopt.trajectory import (
    ActuatorLimits,
    EndAt,
    Horizon,
    JointLoad,
    Quintic,
    Smoothness,
    StartAt,
    optimize,
)

arm = load_urdf(problem_folder() / "arm_7dof" / "arm_7dof.urdf")
dynamics = assemble(arm, resistances(arm), gravity=(0.0, 0.0, -9.81))
rest = np.zeros(7)
postures = [
    (0.3, 0.6, -0.2, -1.4, 0.1, 0.9, 0.0),
    (-1.1, 1.2, 0.5, -0.7, 0.9, -0.3, 0.6),
    (1.2, -0.4, 0.3, -1.8, -0.5, 1.2, 0.0),
]
tasks = [(0, 1), (1, 2), (2, 0)]


def best(a, b):
    """Return the motion of least load between two postures at rest."""
    start, end = postures[a], postures[b]
    costs = [JointLoad(), Smoothness(weight=1e-4)]
    conditions = [StartAt(start, rest), EndAt(end, rest), ActuatorLimits()]
    return optimize(dynamics, Horizon(2.0, steps=20), costs, conditions, Quintic(start, end))


found = [best(*task) for task in tasks]
loads = np.array([[x.guess_cost["JointLoad"], x.detailed_cost["JointLoad"]] for x in found])
saved = 1 - loads[:, 1] / loads[:, 0]
print(f"saved: {', '.join(f'{100 * x:.0f} %' for x in saved)}")

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for k, name in enumerate(("polynomial", "best motion")):
    ax.bar(np.arange(3) + 0.4 * k, loads[:, k], 0.38, label=name)
ax.set_xticks(np.arange(3) + 0.2, [f"posture {a + 1} to {b + 1}" for a, b in tasks])
ax.set(ylabel="squared joint load over ratings [s]")
ax.legend()
