"""
A wing nut that turns over and over
===================================

A free body spun about its middle axis does not keep turning about it: it turns over, again and
again, as cosmonaut Dzhanibekov saw a wing nut do. Kinetic energy and angular momentum stay what
they were; how often it turns over is an elliptic integral of its three inertias.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import Body, Mechanism, StepBounds, assemble, simulate

INERTIA, SPIN, NUDGE = (0.2, 0.3, 0.4), 5.0, 0.01  # kg m^2, rad/s, rad/s
nut = Body("nut", 1.0, INERTIA, angular_velocity=(NUDGE, SPIN, 0.0))
dynamics = assemble(Mechanism([nut]))
result = simulate(dynamics, duration=20.0, steps=StepBounds(2e-3, 2e-3), title="wing nut")

time = result["time"].values
rate = result["v"].values[:, 3:6]  # rad/s, in the axes of the body
turns = time[np.nonzero(np.diff(np.sign(rate[:, 1])))[0]]
period = 2 * np.diff(turns).mean()  # s
print(f"it turns over every {period / 2:.2f} s")

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for k, name in enumerate(("smallest", "middle", "largest")):
    ax.plot(time, rate[:, k], label=f"about the axis of {name} inertia")
ax.set(xlabel="time [s]", ylabel="angular velocity [rad/s]")
ax.legend(loc="lower right", fontsize=8)
