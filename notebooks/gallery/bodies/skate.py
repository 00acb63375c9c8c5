"""
A spinning skate on a slope
===========================

A skate slides along its blade and never across it. Let go on a slope of 20 degrees, pointing down
but spinning, it does not go down: it follows a cycloid across the slope and is back at its height
after each half turn. A constraint on velocities alone, which takes no posture from it, does that.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import GROUND, Body, Frame, KnifeEdge, Mechanism, Planar, StepBounds, assemble, simulate

SLOPE, SPIN = np.radians(20), 1.5  # rad, rad/s
pull = 9.81 * np.sin(SLOPE)  # m/s^2 along -y, down the slope
down = (np.sqrt(0.5), 0.0, 0.0, -np.sqrt(0.5))  # Euler parameters of a quarter turn
spin = (0.0, 0.0, SPIN)
skate = Body("skate", 1.0, (0.1, 0.1, 0.1), orientation=down, angular_velocity=spin)
plane = Planar("slope", Frame(GROUND), Frame(skate, axes=np.eye(3)))
blade = KnifeEdge("blade", Frame(GROUND), Frame(skate))
mechanism = Mechanism([skate], [plane], "relative")
dynamics = assemble(mechanism, [blade], gravity=(0.0, -pull, 0.0))

result = simulate(dynamics, duration=3 * np.pi / SPIN, steps=StepBounds(2e-3, 2e-3), title="skate")
x, y = result["body_position"].values[:, 0, :2].T
depth = y.max() - y.min()  # m
print(f"it goes down by {depth:.3f} m and comes up again")

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.plot(x, y)
angle = result["q"].values[:, 2]
for k in np.linspace(0, len(x) - 1, 25).astype(int):
    c, s = 0.12 * np.cos(angle[k]), 0.12 * np.sin(angle[k])
    ax.plot([x[k] - c, x[k] + c], [y[k] - s, y[k] + s], color="black", linewidth=2)
ax.set(xlabel="across the slope [m]", ylabel="up the slope [m]", aspect="equal")
