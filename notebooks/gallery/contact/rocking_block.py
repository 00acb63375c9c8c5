"""
A block that rocks
==================

A slender block, tilted and let go, rocks from one edge of its base to the other. At each change an
impact takes speed, by Housner's ratio 1 - 3/2 sin²(alpha), alpha the angle of the diagonal: the
angular momentum about the new edge is kept. No number of restitution is stated anywhere; it follows
from two rough contacts that do not rebound.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Planar,
    PlaneContact,
    StepBounds,
    assemble,
    box_outline,
    simulate,
)

WIDE, HIGH, TILT = 0.2, 1.0, np.radians(6)  # m, m, rad
M = 100.0
J = M * (WIDE**2 + HIGH**2) / 12
c, s = np.cos(TILT), np.sin(TILT)
centre = (c * WIDE / 2 - s * HIGH / 2, s * WIDE / 2 + c * HIGH / 2, 0.0)  # on its left edge
turned = (np.cos(TILT / 2), 0.0, 0.0, np.sin(TILT / 2))
block = Body("block", M, (J, J, J), centre, turned, outline=box_outline(WIDE, HIGH))
plane = Planar("plane", Frame(GROUND), Frame(block, axes=np.eye(3)))
up, law = Frame(GROUND, axes=(0, 1, 0)), ContactLaw(friction=1.0)
edges = [
    PlaneContact(name, up, Frame(block, (x, -HIGH / 2, 0)), law=law, planar=True)
    for name, x in [("left", -WIDE / 2), ("right", WIDE / 2)]
]
dynamics = assemble(Mechanism([block], [plane], "relative"), edges, (0.0, -9.81, 0.0))

result = simulate(dynamics, duration=4.0, steps=StepBounds(1e-6, 1e-3), title="block")
time, (angle, rate) = result["time"].values, (result[x].values[:, 2] for x in "qv")
hit = np.argmax(np.abs(np.diff(rate)))  # the first impact is the hardest
ratio = rate[hit + 1] / rate[hit]
print(f"an impact leaves {ratio:.4f} of the rate")

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(time, np.degrees(angle))
ax.set(xlabel="time [s]", ylabel="tilt [deg]")
