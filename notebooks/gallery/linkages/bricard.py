"""
Bricard's linkage, which should not move
========================================

Five rods and the ground, six edges of a cube, joined by six hinges. Freedoms counted, 5 bodies with
6 each less 6 hinges that take 5 each, there are none, and yet it falls, turns inside out and comes
back: one condition of its hinges is redundant everywhere. Its energy is kept.
"""

import numpy as np

from nsopt import GROUND, Body, Frame, Mechanism, Revolute, StepBounds, assemble, simulate
from nsopt.animation import animate

corners = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]  # m
corners = np.array(corners, dtype=float)
along = np.roll(corners, -1, axis=0) - corners
rods = [
    Body(f"rod {k + 1}", 1.0, np.where(along[k], 1 / 600, 101 / 1200), corners[k] + along[k] / 2)
    for k in range(5)
]
bodies = [GROUND, *rods, GROUND]
hinges = []
for k in range(6):
    axis = np.cross(along[k - 1], along[k])
    ends = (Frame.at(body, corners[k], axis) for body in bodies[k : k + 2])
    hinges.append(Revolute(f"hinge {k + 1}", *ends))
dynamics = assemble(Mechanism(rods, hinges, "relative"), gravity=(0.0, -9.81, 0.0))

result = simulate(dynamics, duration=2.0, steps=StepBounds(1e-3, 1e-3), title="Bricard")
energy = result["total_energy"].values
drift = np.ptp(energy) / result["kinetic_energy"].values.max()
print(f"the energy varies by {drift:.1e} of the largest kinetic energy")
animate(result, "bricard.gif", fps=12, view="oblique")
