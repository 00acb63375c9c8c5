"""
A nut runs down a screw
=======================

A nut on an upright screw, without friction, cannot fall without turning, and what falls has to spin
up its own inertia. The finer the thread, the slower: by g / (1 + J / (m p²)), p the way for each
radian. Three threads, from a leisurely 10 mm to a steep 300 mm a turn.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import GROUND, Body, Frame, Mechanism, Parameter, Screw, StepBounds, assemble, simulate

MASS, J = 1.0, 2e-4  # kg, kg m^2
nut = Body("nut", MASS, (J, J, J))
pitch = Parameter("pitch", 0.01)  # m a turn
thread = Screw("thread", Frame(GROUND), Frame(nut), pitch)
dynamics = assemble(Mechanism([nut], [thread], "relative"), gravity=(0.0, 0.0, -9.81))

pitches = np.array([0.01, 0.1, 0.3])  # m
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
fallen = []
for value in pitches:
    result = simulate(
        dynamics,
        duration=0.5,
        steps=StepBounds(1e-3, 1e-3),
        parameters={"pitch": value},
        progress=False,
    )
    way = -result["body_position"].values[:, 0, 2]  # m
    fallen.append(way[-1])
    ax.plot(result["time"].values, way, label=f"{1e3 * value:.0f} mm a turn")
print(f"in half a second the nut falls by {', '.join(f'{x:.4f}' for x in fallen)} m")
ax.plot(result["time"].values, 9.81 / 2 * result["time"].values ** 2, "--", label="free fall")
ax.set(xlabel="time [s]", ylabel="way down [m]")
ax.legend()
