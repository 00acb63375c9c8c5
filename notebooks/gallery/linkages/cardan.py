"""
A universal joint does not turn evenly
======================================

Two shafts at an angle of 40 degrees, joined by a universal joint (Cardan, Hooke). The first turns
evenly; the second hurries and lags twice a turn, between cos(40°) and 1 / cos(40°) of its speed.
That is why cars have two of them, or better joints.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Driven,
    Frame,
    Mechanism,
    Revolute,
    Start,
    StepBounds,
    assemble,
    consistent,
    simulate,
)

ANGLE, SPEED = np.radians(40), 10.0  # rad, rad/s
ALONG = (1.0, 0.0, 0.0)
bent = np.array([np.cos(ANGLE), np.sin(ANGLE), 0.0])
one = Body("driving", 1.0, (0.01, 0.1, 0.1), position=(-0.5, 0.0, 0.0))
two = Body("driven", 1.0, (0.05, 0.05, 0.05), position=0.5 * bent)
cross = Body("cross", 0.1, (1e-3, 1e-3, 1e-3))
bearing = Revolute("bearing", Frame(GROUND, (-1, 0, 0), ALONG), Frame.at(one, (-1, 0, 0), ALONG))
side, up = (0.0, 0.0, 1.0), np.array([-np.sin(ANGLE), np.cos(ANGLE), 0.0])
joints = [
    bearing,
    Revolute("fork 1", Frame.at(one, (0, 0, 0), side), Frame(cross, axes=side)),
    Revolute("fork 2", Frame(cross, axes=up), Frame.at(two, (0, 0, 0), up)),
    Revolute("far bearing", Frame(GROUND, bent, bent), Frame.at(two, bent, bent)),
    Driven("motor", bearing, SPEED),
]
dynamics = assemble(Mechanism([one, cross, two], joints, "relative"))

start = consistent(dynamics, Start.named(dynamics, {}, {"bearing": SPEED}))
result = simulate(dynamics, start, 2 * np.pi / SPEED, steps=StepBounds(1e-3, 1e-3), title="cardan")
rate = result["body_angular_velocity"].sel(body="driven").values @ bent  # rad/s
print(f"the second shaft turns at {rate.min():.3f} to {rate.max():.3f} rad/s")

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(np.degrees(SPEED * result["time"].values), rate, label="driven shaft")
ax.axhline(SPEED, color="grey", linestyle="--", label="driving shaft")
ax.set(xlabel="angle of the driving shaft [deg]", ylabel="speed [rad/s]", xticks=range(0, 361, 90))
ax.legend()
