"""
A ball joint with clearance, on a circle
========================================

A weight hangs on a ball joint with 1 mm of clearance and runs round a cone of 30 degrees. The ball
touches its socket at one point that goes round with the weight, and the force between them is that
of an ideal joint, m g / cos 30° = 11.33 N, throughout: what the clearance changes is the place
where the socket wears.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import GROUND, Body, Frame, Mechanism, SphericalClearance, StepBounds, assemble, simulate

CLEARANCE, LENGTH, TILT = 1e-3, 0.5, np.radians(30)  # m, m, rad
down = np.array([np.sin(TILT), 0.0, -np.cos(TILT)])
place = (LENGTH + CLEARANCE) * down  # of the weight, the ball against the wall of its socket
rate = np.sqrt(9.81 / ((LENGTH + CLEARANCE) * np.cos(TILT)))  # rad/s

weight = Body(
    "weight",
    mass=1.0,
    inertia=(0.01, 0.01, 0.01),
    position=place,
    velocity=(0.0, rate * place[0], 0.0),
    angular_velocity=(0.0, 0.0, rate),
)
ends = Frame(GROUND), Frame.at(weight, CLEARANCE * down)
joint = SphericalClearance("ball joint", *ends, clearance=CLEARANCE)
dynamics = assemble(Mechanism([weight]), [joint], gravity=(0.0, 0.0, -9.81))

result = simulate(dynamics, duration=2 * np.pi / rate, steps=StepBounds(1e-6, 1e-3))
force = np.linalg.norm(result["lasting_force"].values[:, 0], axis=1)  # N
print(f"the joint force is {force.min():.3f} to {force.max():.3f} N")

figure, ax = plt.subplots(figsize=(5, 5), layout="constrained", subplot_kw={"projection": "3d"})
centre = result["body_position"].values[:, 0]
ax.plot(*centre.T, label="way of the weight")
for k in np.linspace(0, len(centre) - 1, 9).astype(int)[:-1]:
    ax.plot(*np.column_stack([np.zeros(3), centre[k]]), "o-", color="grey", markersize=4)
ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", box_aspect=(1, 1, 0.8))
ax.legend()
